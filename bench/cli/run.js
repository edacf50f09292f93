// Times how the command starts, beside an empty script of Node, and what its tree costs; writes results/latest.{json,md}.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { runCases } from "../rounds.js";
import { cases } from "./cases.js";

runCases({ base: import.meta.url, cases });
