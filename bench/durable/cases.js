// All cases by name. `bars`: the most that ours may be to a contender, the first of which is the baseline. `prepare` gives
// `contenders`, functions that answer with one sample, milliseconds or bytes, and perhaps `facts` and `close`. A fact has a
// `bar`, the most it may be, or `least`.
import { appendCases } from "./append-cases.js";
import { historyCases } from "./history-cases.js";
import { runCases } from "./run-cases.js";

export const cases = { ...appendCases, ...runCases, ...historyCases };
