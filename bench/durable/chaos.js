// Kills a server on SQLite again and again and prints what is left of its promises.
// Usage: node chaos.js [--kills 100] [--runs 200] [--seed 1]   Exits 1 when anything is wrong, and says what.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { build } from "tsup";
import { createRandom } from "../random.js";

const FLOW = { steps: 20, minStepMs: 20, maxStepMs: 100 };
const WIDTH = 10; // runs at once: two cores serve them, their clients and their effects

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "100" },
    runs: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
  },
});
const kills = Number(values.kills);
const program = fileURLToPath(new URL("chaos-child.js", import.meta.url));

/** The suite is a source of the helpers of tests: it is built here, where the packages it imports are found. */
async function loadSuite() {
  const outDir = fileURLToPath(new URL("node_modules/.cache/", import.meta.url));
  const entry = { chaos: fileURLToPath(import.meta.resolve("@millrace/test-support/executor")) };
  const options = { format: "esm", target: "node20", dts: false, clean: true, silent: true };
  await build({ config: false, entry, outDir, ...options, external: [/^@millrace\//] });
  return import(pathToFileURL(join(outDir, "chaos.js")).href);
}

const { executorChaos } = await loadSuite();
const folder = mkdtempSync(join(tmpdir(), "millrace-chaos-"));
const report = await executorChaos(
  (dir) => spawn(process.execPath, [program, dir], { stdio: ["ignore", "pipe", "inherit"] }),
  {
    dir: join(folder, "data"),
    kills,
    runs: Number(values.runs),
    width: WIDTH,
    flow: FLOW,
    fetch,
    random: createRandom(Number(values.seed)), // the same choices; what they meet depends on the machine
    onKill: (count) => {
      if (count % 10 === 0) process.stderr.write(`${count} of ${kills} kills\n`);
    },
  },
);

const rows = [
  ["kills", report.kills],
  ["of them before the server served", report.earlyKills],
  ["runs accepted", report.accepted],
  ["lost runs", report.lostRuns],
  ["steps finished", report.steps],
  ["lost steps", report.lostSteps],
  ["repeated steps", report.repeated],
  ["steps in flight at a kill", report.inFlight],
  ["questions asked", report.questions],
  ["open across a kill, and answered", report.heldQuestions],
  ["withdrawn with their step in flight, and asked anew", report.withdrawnQuestions],
  ["answered twice", report.answeredTwice],
  ["fire times", report.fireTimes],
  ["fired twice", report.firedTwice],
  ["missed fire times", report.missedFires],
  ["streams read across a restart", report.brokenStreams],
  ["events read", report.events],
  ["read twice, not at all, or otherwise than kept", report.gaps],
  ["violations of the laws of logs", report.violations],
  ["slowest start", `${report.slowestStartMs} ms`],
  ["in all", `${Math.round(report.ms / 1_000)} s`],
];
const table = rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
process.stdout.write(`| SIGKILL of a server on SQLite | |\n| --- | --: |\n${table}\n`);
for (const fault of report.faults) process.stderr.write(`${fault}\n`);
if (report.faults.length > 0 || report.kills !== kills) {
  process.stderr.write(`the data is kept in ${folder}\n`);
  process.exitCode = 1;
} else rmSync(folder, { recursive: true });
