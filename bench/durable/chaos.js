// Kills an executor on SQLite again and again and prints what is left of its promises, one table row a round of work.
// Usage: node chaos.js [--kills 100] [--seed 1]   Exits 1 when a step is lost, a fire or an answer counts twice, or a reader
// was shown what the journal does not have.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { executorChaos } from "@millrace/store/testing";

const KILLS_OF_A_ROUND = 10;
const WORK = { runs: 20, questions: 6, steps: 20, minStepMs: 20, maxStepMs: 100, fires: 10 };
const MAX_EFFECTS = 60;

const { values } = parseArgs({
  options: { kills: { type: "string", default: "100" }, seed: { type: "string", default: "1" } },
});
const wanted = Number(values.kills);
const program = fileURLToPath(new URL("chaos-child.js", import.meta.url));

/** The same kills for the same seed, as far as the machine is as fast (mulberry32). */
let state = Number(values.seed) >>> 0;
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = Math.imul(state ^ (state >>> 15), state | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
}

const spawnExecutor = (work) =>
  spawn(process.execPath, [program, JSON.stringify(work)], {
    stdio: ["ignore", "pipe", "inherit"],
  });

const SUMS = [
  "kills",
  "runs",
  "steps",
  "lost",
  "repeated",
  "interrupted",
  "duplicateFires",
  "answeredTwice",
  "unseen",
];
const total = Object.fromEntries(SUMS.map((name) => [name, 0]));
let slowestStartMs = 0;
while (total.kills < wanted) {
  const folder = mkdtempSync(join(tmpdir(), "millrace-chaos-"));
  const paths = {
    dir: join(folder, "data"),
    effects: join(folder, "effects"),
    seen: join(folder, "seen"),
    answers: join(folder, "answers"),
  };
  const kills = Math.min(KILLS_OF_A_ROUND, wanted - total.kills);
  const report = await executorChaos(spawnExecutor, {
    work: { ...WORK, ...paths },
    kills,
    maxEffects: MAX_EFFECTS,
    random,
  });
  rmSync(folder, { recursive: true });
  for (const name of SUMS) total[name] += report[name];
  slowestStartMs = Math.max(slowestStartMs, report.slowestStartMs);
  process.stderr.write(`${total.kills} of ${wanted} kills\n`);
}
const rows = [
  ["kills", total.kills],
  ["runs", total.runs],
  ["steps", total.steps],
  ["lost steps", total.lost],
  ["repeated steps", total.repeated],
  ["steps in flight at a kill", total.interrupted],
  ["fires that counted twice or never", total.duplicateFires],
  ["questions answered twice", total.answeredTwice],
  ["events shown and not kept", total.unseen],
  ["slowest start", `${slowestStartMs} ms`],
];
process.stdout.write(
  `| SIGKILL of an executor on SQLite | |\n| --- | --: |\n${rows.map((row) => `| ${row.join(" | ")} |`).join("\n")}\n`,
);
const isBroken = total.lost + total.duplicateFires + total.answeredTwice + total.unseen > 0;
process.exitCode = isBroken ? 1 : 0;
