// All cases by name; what a case is says ../rounds.js.
import { importCases } from "./import-case.js";
import { manyCases } from "./many-case.js";
import { streamCases } from "./stream-cases.js";

export const cases = { ...streamCases, ...manyCases, ...importCases };
