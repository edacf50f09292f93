// All cases by name. `bars`: the most that ours may be to a contender, the first of which is the baseline. `prepare` gives
// `contenders`, functions that answer with the milliseconds of one sample, and perhaps `facts` (counts and their bars) and
// `close`.
import { importCases } from "./import-case.js";
import { manyCases } from "./many-case.js";
import { streamCases } from "./stream-cases.js";

export const cases = { ...streamCases, ...manyCases, ...importCases };
