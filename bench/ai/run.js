// Times `ai` nodes, from the socket of a model to the reader of events, and writes results/latest.{json,md}.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { runCases } from "../rounds.js";
import { cases } from "./cases.js";

runCases({ base: import.meta.url, cases });
