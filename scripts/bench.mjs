// Runs the benches, all or the named one, on what is built. Words after the name go to the bench.
// Usage: node scripts/bench.mjs [engine | dsl | fix | editor | oauth | durable | ai | models | server | cli | extensions | studio] [--quick | --smoke] …   Exits 1 when one is past a
// hard bar, or a case fails. `--quick`: fewer rounds, without the long cases. `--smoke`: every case but the long ones once in its smallest size, nothing is judged.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { slowness } from "../bench/machine.js";

const BENCHES = [
  "engine",
  "dsl",
  "fix",
  "editor",
  "oauth",
  "durable",
  "ai",
  "models",
  "server",
  "cli",
  "extensions",
  "studio",
];
const words = process.argv.slice(2);
const chosen = BENCHES.includes(words[0]) ? [words.shift()] : BENCHES;
const isJudged = !words.includes("--smoke");
const machine = isJudged ? `; ${slowness()}x the time of the reference` : ""; // benches inherit it
const seconds = chosen.map((name) => {
  const own = fileURLToPath(new URL(`../bench/${name}/run.js`, import.meta.url));
  const shared = fileURLToPath(new URL("../bench/run.js", import.meta.url));
  const program = existsSync(own) ? [own] : [shared, name];
  const begun = performance.now();
  const { status } = spawnSync(process.execPath, [...program, ...words], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
  return (performance.now() - begun) / 1_000;
});
const parts = chosen.map((name, at) => `${name} ${Math.round(seconds[at])}`);
const all = seconds.reduce((sum, one) => sum + one, 0);
process.stderr.write(`seconds: ${parts.join(", ")}; in all ${Math.round(all)}${machine}\n`);
