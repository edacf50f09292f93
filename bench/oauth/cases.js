// All cases by name; what a case is says ../rounds.js.
import { helperCases } from "./helper-cases.js";
import { loopbackCases } from "./loopback-case.js";
import { osStoreCases } from "./os-store-case.js";
import { requestCases } from "./request-cases.js";

export const cases = { ...helperCases, ...requestCases, ...loopbackCases, ...osStoreCases };
