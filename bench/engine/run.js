// Times every contender on every workload against the hand-written floor of the same round, asks for the goals that are no
// times, and writes results/latest.{json,md}. A ratio is the median over the rounds.
// Usage: node run.js [--quick] [--workload <name>]…   Exits 1 when ours is past a hard bar, or a goal cannot be measured.
//   --quick: three rounds, the peers of the workspace only; otherwise five, and the peers of peers/, installed when missing.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { FAR_PEERS, FLOOR, fileOf, installPeers, NEAR_PEERS, OURS } from "./contenders.js";
import { goalNames } from "./goals.js";
import { shown, tables } from "./report.js";
import { names } from "./workloads.js";

/** Goal and hard bar of each workload, as ratios to the floor. */
const BARS = {
  chain100: [1.5, 1.8],
  chain1000: [1.5, 1.8],
  fan1000: [1.5, 1.8],
  lattice: [1.5, 1.8],
  dag1000: [1, 1.5],
  dag10000: [1, 1.5],
  conc1000x10: [1.3, 1.6],
};
const CELL_MS = 30_000; // a contender that has not answered by then has failed the workload
const GOAL_MS = 120_000; // a goal collects garbage hundreds of times, and hashes a gigabyte
const SLOW_MS = 1_000; // one round tells enough of a peer that takes this long
const LONG = "chain100000"; // nobody but the near peers is asked for it

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, workload: { type: "string", multiple: true } },
});
const rounds = values.quick ? 3 : 5;
const chosen = values.workload ?? names;
const farPeers = values.quick ? [] : Object.keys(FAR_PEERS);
const note = (text) => process.stderr.write(`${text}\n`);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const shuffle = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort((a, b) => a[0] - b[0])
    .map(([, item]) => item);

/** Runs a program of this folder; the JSON of each line of it. */
function program(file, args, { flags = [], timeout = CELL_MS } = {}) {
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [...flags, fileURLToPath(new URL(file, import.meta.url)), ...args],
    { encoding: "utf8", timeout, killSignal: "SIGKILL", maxBuffer: 67_108_864 },
  );
  const lines = (stdout ?? "").split("\n").filter((line) => line.startsWith("{"));
  if (lines.length > 0 && error === undefined) return lines.map((line) => JSON.parse(line));
  const slow = error?.code === "ETIMEDOUT";
  return [
    { failed: slow ? `no answer in ${timeout / 1_000} s` : (stderr ?? "").slice(-200).trim() },
  ];
}

/** All rounds of one workload. A peer that fails, or is slow, is not asked again. */
function measure(workload) {
  const peers = workload === LONG ? NEAR_PEERS : [...NEAR_PEERS, ...farPeers];
  const contenders = [OURS, ...peers];
  const times = Object.fromEntries([FLOOR, ...contenders].map((name) => [name, []]));
  const ratios = Object.fromEntries(contenders.map((name) => [name, []]));
  const failed = {};
  for (let round = 0; round < rounds; round++) {
    const done = (name) => failed[name] ?? (times[name][0] > SLOW_MS && peers.includes(name));
    const inRound = shuffle([FLOOR, ...contenders].filter((name) => !done(name)));
    const cells = Object.fromEntries(
      inRound.map((name) => [name, program("cell.js", [fileOf(name), workload])[0]]),
    );
    for (const [name, cell] of Object.entries(cells)) {
      if (cell.failed !== undefined) failed[name] = cell.failed;
      else times[name].push(cell.ms);
      if (name !== FLOOR && cell.failed === undefined) ratios[name].push(cell.ms / cells[FLOOR].ms);
    }
  }
  const row = {
    workload,
    floorMs: median(times[FLOOR]),
    oursMs: median(times[OURS]),
    noise: Math.max(...times[FLOOR]) / Math.min(...times[FLOOR]),
    bars: BARS[workload],
    failed,
    ratios: Object.fromEntries(
      contenders.map((name) => [name, name in failed ? null : median(ratios[name])]),
    ),
  };
  note(`${workload}: ${contenders.map((name) => `${name} ${shown(row.ratios[name])}`).join("  ")}`);
  return row;
}

/** Time of a node in a chain of 100,000 over that in one of 1,000. */
function growthGoal(rows) {
  const perNode = (name, nodes) => rows.find(({ workload }) => workload === name)?.oursMs / nodes;
  const value = perNode(LONG, 100_000) / perNode("chain1000", 1_000);
  if (Number.isNaN(value)) return [];
  const floors = (name) => rows.find(({ workload }) => workload === name).floorMs;
  const floor = floors(LONG) / 100 / floors("chain1000");
  const what = `a node of ${LONG} to one of chain1000; the floor's own is ${floor.toFixed(2)}x`;
  return [{ name: "growth", value, goal: 1.5, unit: "x", what }];
}

function fastGoal(rows) {
  const value = rows.find(({ workload }) => workload === "dag10000")?.oursMs;
  return value === undefined ? [] : [{ name: "dag10000", value, bar: 20, unit: "ms", what: "" }];
}

if (farPeers.length > 0) installPeers();
const rows = chosen.map(measure);
const GOAL = { flags: ["--expose-gc"], timeout: GOAL_MS };
const others = values.workload === undefined ? goalNames : [];
const goals = [
  ...growthGoal(rows),
  ...fastGoal(rows),
  ...others.map((name) => ({ name, ...program("goals.js", [name], GOAL)[0] })),
];
const probes = farPeers.length > 0 ? program("peers/probes.js", []) : [];

const date = new Date().toISOString().slice(0, 10);
const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${rounds} rounds, ${date}`;
const report = tables({ machine, rows, goals, probes, peers: [...NEAR_PEERS, ...farPeers] });
const folder = new URL("results/", import.meta.url);
mkdirSync(folder, { recursive: true });
const json = JSON.stringify({ machine, rows, goals, probes }, null, 2);
writeFileSync(new URL("latest.json", folder), `${json}\n`);
writeFileSync(new URL("latest.md", folder), report);
process.stdout.write(report);

for (const { workload, ratios, bars } of rows) {
  if (bars === undefined || ratios[OURS] <= bars[1]) continue;
  note(`past the bar: ${workload} ${shown(ratios[OURS])}`);
  process.exitCode = 1;
}
for (const { name, value, bar, unit, failed } of goals) {
  if (failed === undefined && (bar === undefined || value <= bar)) continue;
  note(
    failed === undefined
      ? `past the bar: ${name} ${value} ${unit}`
      : `not measured: ${name}: ${failed}`,
  );
  process.exitCode = 1;
}
