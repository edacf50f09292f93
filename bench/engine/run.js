// Times every contender on every workload against the hand-written floor of the same round, asks for the goals that are no
// times, and writes results/latest.{json,md}. A ratio is the median over the rounds.
// Usage: node run.js [--quick] [--workload <name>]…   Exits 1 when ours is past a hard bar, or it or a goal cannot be measured.
//   --quick: three rounds, of the peers effect alone, in one, without the longest chain; otherwise five, and the peers of peers/, installed when missing.
//   --smoke: ours once on each workload, the others once, goals in their smallest size, and only what fails counts.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { here } from "../machine.js";
import { shuffle } from "../random.js";
import { judge, median, note, report, secondsSince, statedOf } from "../report.js";
import { smoke } from "../size.js";
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
const LONG = "chain100000"; // without a bar: nobody but the near peers is asked for it, and not with `--quick`

const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    smoke: { type: "boolean" },
    workload: { type: "string", multiple: true },
  },
});
const { quick = smoke } = values;
const ROUNDS = 5;
const rounds = smoke ? 1 : quick ? 3 : ROUNDS;
const chosen =
  values.workload ??
  names.filter((name) => !(quick && name === LONG) && !(smoke && name === "dag10000"));
const farPeers = quick ? [] : Object.keys(FAR_PEERS);
const nearPeers = quick && !smoke ? NEAR_PEERS.slice(0, 1) : NEAR_PEERS;

/** Runs a program of this folder; the JSON of each line of it, and of what it failed with after them. */
function program(file, args, { flags = [], timeout = CELL_MS } = {}) {
  const { stdout, stderr, status, error } = spawnSync(
    process.execPath,
    [...flags, fileURLToPath(new URL(file, import.meta.url)), ...args],
    { encoding: "utf8", timeout, killSignal: "SIGKILL", maxBuffer: 67_108_864 },
  );
  const lines = (stdout ?? "").split("\n").filter((line) => line.startsWith("{"));
  const found = error === undefined ? lines.map((line) => JSON.parse(line)) : [];
  if (status === 0 && found.length > 0) return found;
  const slow = error?.code === "ETIMEDOUT";
  const failed = slow ? `no answer in ${timeout / 1_000} s` : (stderr ?? "").slice(-200).trim();
  return [...found, { failed }];
}

/** Contenders that the one round of `--smoke` has had. */
const smoked = new Set();

/** What is past its bar in the few rounds of `--quick` is measured in all of them, which counts. */
function judged(workload) {
  const row = measure(workload, rounds);
  if (!quick || smoke || pastOf(row).length === 0) return row;
  note(`once more, in all rounds, because of ${pastOf(row).join("; ")}`);
  return measure(workload, ROUNDS);
}

const pastOf = ({ workload, ratios, bars }) =>
  bars !== undefined && ratios[OURS] > bars[1]
    ? [`${workload}: ${shown(ratios[OURS])}, bar ${bars[1]}x`]
    : [];

/** So many rounds of one workload. A peer that fails, or is slow, is not asked again, and none is with `--quick`. */
function measure(workload, rounds) {
  const begun = performance.now();
  const peers = workload === LONG ? nearPeers : [...nearPeers, ...farPeers];
  const contenders = [OURS, ...peers];
  const times = Object.fromEntries([FLOOR, ...contenders].map((name) => [name, []]));
  const ratios = Object.fromEntries(contenders.map((name) => [name, []]));
  const failed = {};
  for (let round = 0; round < rounds; round++) {
    const hadOne = (name) => (quick ? times[name].length > 0 : times[name][0] > SLOW_MS);
    const done = (name) =>
      failed[name] ??
      ((peers.includes(name) && hadOne(name)) || (smoked.has(name) && name !== OURS));
    const inRound = shuffle([FLOOR, ...contenders].filter((name) => !done(name)));
    if (smoke) for (const name of inRound) smoked.add(name);
    const cells = Object.fromEntries(
      inRound.map((name) => [name, program("cell.js", [fileOf(name), workload])[0]]),
    );
    for (const [name, cell] of Object.entries(cells)) {
      if (cell.failed !== undefined) failed[name] = cell.failed;
      else times[name].push(cell.ms);
      const floor = cells[FLOOR]?.ms;
      if (name !== FLOOR && cell.failed === undefined) ratios[name].push(cell.ms / floor);
    }
  }
  const row = {
    workload,
    rounds,
    floorMs: median(times[FLOOR]),
    oursMs: median(times[OURS]),
    noise: Math.max(...times[FLOOR]) / Math.min(...times[FLOOR]),
    bars: BARS[workload],
    failed,
    ratios: Object.fromEntries(
      contenders.map((name) => [name, name in failed ? null : median(ratios[name])]),
    ),
  };
  if (!smoke)
    note(
      `${workload}: ${contenders.map((name) => `${name} ${shown(row.ratios[name])}`).join("  ")}  (${secondsSince(begun)} s)`,
    );
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

/** What is found of these goals in one process. */
function goalsOf(names) {
  const found = program("goals.js", names, GOAL);
  return found.map((one, at) => ({ name: names[at], ...one }));
}

function fastGoal(rows) {
  const value = rows.find(({ workload }) => workload === "dag10000")?.oursMs;
  if (value === undefined) return [];
  const [stated, bar] = [20, here(20, 1)];
  const what = `processor time, all threads${statedOf(bar, `${stated} ms`)}`;
  return [{ name: "dag10000", value, bar, unit: "ms", what }];
}

if (farPeers.length > 0) installPeers();
const rows = chosen.map(judged);
const GOAL = { flags: ["--expose-gc"], timeout: GOAL_MS };
const others = values.workload === undefined ? goalNames : [];
const goals = [
  ...growthGoal(rows),
  ...fastGoal(rows),
  ...(smoke && others.length > 0 ? [others] : others.map((name) => [name])).flatMap(goalsOf),
];
const probes = farPeers.length > 0 ? program("peers/probes.js", []) : [];

const unmeasured = [
  ...rows.flatMap(({ workload, failed }) =>
    Object.entries(failed)
      .filter(([name]) => smoke || name === OURS || name === FLOOR)
      .map(([name, why]) => `${workload}: not measured: ${name}: ${why}`),
  ),
  ...goals
    .filter(({ failed }) => failed !== undefined)
    .map(({ name, failed }) => `${name}: not measured: ${failed}`),
];
if (smoke) judge(unmeasured);
else tell();

/** Writes and prints the tables, and fails the program for what is past its bar. */
function tell() {
  const past = [
    ...unmeasured,
    ...rows.flatMap(pastOf),
    ...goals
      .filter(({ value, bar }) => bar !== undefined && value > bar)
      .map(
        ({ name, value, bar, unit }) => `${name}: ${value.toFixed(2)} ${unit}, bar ${bar} ${unit}`,
      ),
  ];
  report({
    base: import.meta.url,
    how: "Ratio to the hand-written floor of the same round, median; noise = slowest floor / fastest floor.",
    rounds: [...new Set(rows.map((row) => row.rounds))].join(" or "),
    lines: tables({ rows, goals, probes, peers: [...nearPeers, ...farPeers] }),
    results: { rows, goals, probes },
    past,
  });
}
