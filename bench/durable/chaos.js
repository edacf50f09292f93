// Kills a server on SQLite again and again, or servers of a cluster on PostgreSQL and the nodes of Restate beside them, and prints
// what is left of their promises.
// Usage: node chaos.js [--servers 1] [--kills 100] [--runs 200] [--seed 1]   Exits 1 when anything is wrong, and says what.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createRandom } from "../random.js";
import { loadHelper } from "./load-helper.js";

const FLOW = { steps: 20, minStepMs: 20, maxStepMs: 100 };
const WIDTH = 10; // runs at once: two cores serve them, their clients and their effects

const { values } = parseArgs({
  options: {
    servers: { type: "string", default: "1" },
    kills: { type: "string", default: "100" },
    runs: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
  },
});
const kills = Number(values.kills);
const servers = Number(values.servers);
const program = fileURLToPath(new URL("chaos-child.js", import.meta.url));

/** What several servers stand on, and how to read what they have stored. */
async function startGround() {
  const ground = await startClusterGround(servers);
  const { restate, postgres, key } = ground;
  const { openPostgresStore } = await import("@millrace/store-postgres");
  return {
    optionOf: ground.optionOf,
    stop: ground.stop,
    options: {
      servers,
      nodes: { count: 3, kill: (node) => restate.kill(node), start: (node) => restate.start(node) },
      openStore: () => openPostgresStore({ url: postgres.url, key: Buffer.from(key, "hex") }),
    },
  };
}

const { executorChaos, startClusterGround } = await loadHelper("executor");
const folder = mkdtempSync(join(tmpdir(), "millrace-chaos-"));
const ground = servers > 1 ? await startGround() : undefined;
const wordsOf = (dir, at) =>
  ground === undefined ? [dir] : [join(dir, String(at)), ground.optionOf(at)];
const report = await executorChaos(
  (dir, at) =>
    spawn(process.execPath, [program, ...wordsOf(dir, at)], {
      stdio: ["ignore", "pipe", "inherit"],
    }),
  {
    ...ground?.options,
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
await ground?.stop();

const title =
  ground === undefined
    ? "SIGKILL of a server on SQLite"
    : `SIGKILL of ${servers} servers on PostgreSQL and 3 nodes of Restate`;
const rows = [
  ["kills", report.kills],
  ...(ground === undefined ? [] : [["of them of nodes of Restate", report.nodeKills]]),
  ["of them before the server served", report.earlyKills],
  ["runs accepted", report.accepted],
  ["lost runs", report.lostRuns],
  ["steps finished", report.steps],
  ["lost steps", report.lostSteps],
  ["repeated steps", report.repeated],
  ["of them after a reader had seen their end", report.repeatedEnded],
  ["steps in flight at a kill", report.inFlight],
  ["questions asked", report.questions],
  ["open across a kill, and answered", report.heldQuestions],
  ["withdrawn with their step in flight, and asked anew", report.withdrawnQuestions],
  ["answered twice", report.answeredTwice],
  ["fire times", report.fireTimes],
  ["fired twice", report.firedTwice],
  ["missed fire times", report.missedFires],
  ["streams read across lives of servers", report.brokenStreams],
  ["events read", report.events],
  ["read twice, not at all, or otherwise than kept", report.gaps],
  ["violations of the laws of logs", report.violations],
  ["longest silence of a run at work", `${report.longestSilenceMs} ms`],
  ["slowest start", `${report.slowestStartMs} ms`],
  ["in all", `${Math.round(report.ms / 1_000)} s`],
];
const table = rows.map((row) => `| ${row.join(" | ")} |`).join("\n");
process.stdout.write(`| ${title} | |\n| --- | --: |\n${table}\n`);
for (const fault of report.faults) process.stderr.write(`${fault}\n`);
if (report.faults.length > 0 || report.kills !== kills) {
  process.stderr.write(`the data is kept in ${folder}\n`);
  process.exitCode = 1;
} else rmSync(folder, { recursive: true });
