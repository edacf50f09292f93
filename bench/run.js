// Runs the cases of one bench and writes its results/latest.{json,md}.
// Usage: node run.js <bench> [--quick] [--workload | --only <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { runCases } from "./rounds.js";

const [name] = process.argv.splice(2, 1);
const base = new URL(`${name}/`, import.meta.url);
const { cases, roundsOf } = await import(new URL("cases.js", base).href);
runCases({ base, cases, roundsOf });
