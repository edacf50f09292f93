// All cases by name. `bars`: the most that ours may be to a contender, the first of which is the baseline. `prepare` gives
// `contenders`, functions that answer with the milliseconds of one sample, and perhaps `facts` (counts and their bars) and
// `close`. `session`, where there is one, says in which surroundings the cell runs.
import { helperCases } from "./helper-cases.js";
import { loopbackCases } from "./loopback-case.js";
import { osStoreCases } from "./os-store-case.js";
import { requestCases } from "./request-cases.js";

export const cases = { ...helperCases, ...requestCases, ...loopbackCases, ...osStoreCases };
