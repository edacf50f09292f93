// Times extensions and the wires of desktop channels beside what they are made of, and writes results/latest.{json,md}.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { runCases } from "../rounds.js";
import { cases } from "./cases.js";

runCases({ base: import.meta.url, cases });
