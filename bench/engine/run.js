// Times every implementation on every workload against the hand-written floor of the same round, and writes
// results/latest.{json,md}. A ratio is the median over the rounds; its spread says how noisy the machine was.
// Usage: node run.js [--quick] [--workload <name>]…   Exits 1 when ours is past a hard bar.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { names } from "./workloads.js";

const OURS = "millrace";
const PEERS = ["effect", "p-graph"];
/** Ratio to the floor that ours must not pass. */
const HARD_BARS = {
  chain100: 3.5,
  chain1000: 3.5,
  fan1000: 3.5,
  lattice: 3.5,
  dag1000: 1.5,
  dag10000: 1.5,
  conc1000x10: 3.5,
};
const GOALS = {
  chain100: 2,
  chain1000: 2,
  fan1000: 2,
  lattice: 2,
  dag1000: 1,
  dag10000: 1,
  conc1000x10: 2,
};

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, workload: { type: "string", multiple: true } },
});
const rounds = values.quick ? 3 : 5;
const chosen = values.workload ?? names.filter((name) => name in HARD_BARS || !values.quick);
const cellFile = new URL("cell.js", import.meta.url).pathname;

function cell(implementation, workload) {
  const { stdout, status } = spawnSync(process.execPath, [cellFile, implementation, workload], {
    encoding: "utf8",
    timeout: 150_000,
  });
  return status === 0 ? JSON.parse(stdout) : { failed: `exit ${status}` };
}

const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const shuffle = (list) =>
  list
    .map((item) => [Math.random(), item])
    .sort((a, b) => a[0] - b[0])
    .map(([, item]) => item);

const results = [];
for (const workload of chosen) {
  const ratios = Object.fromEntries([OURS, ...PEERS].map((name) => [name, []]));
  const floors = [];
  const ours = [];
  for (let round = 0; round < rounds; round++) {
    const times = {};
    for (const name of shuffle(["floor", OURS, ...PEERS])) times[name] = cell(name, workload);
    floors.push(times.floor.ms);
    ours.push(times[OURS].ms);
    for (const name of Object.keys(ratios))
      ratios[name].push(times[name].failed ?? times[name].ms / times.floor.ms);
  }
  const row = {
    workload,
    floorMs: median(floors),
    oursMs: median(ours),
    noise: Math.max(...floors) / Math.min(...floors),
    ratios: {},
  };
  for (const [name, list] of Object.entries(ratios)) {
    const failed = list.find((item) => typeof item === "string");
    row.ratios[name] = failed ?? median(list);
  }
  results.push(row);
  process.stderr.write(
    `${workload}: ${Object.entries(row.ratios)
      .map(([name, r]) => `${name} ${show(r)}`)
      .join("  ")}\n`,
  );
}

function show(ratio) {
  return typeof ratio === "number" ? `${ratio.toFixed(2)}x` : "FAIL";
}

const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${rounds} rounds, ${new Date().toISOString().slice(0, 10)}`;
const lines = [
  `${machine}. Ratio to the hand-written floor of the same round, median; noise = slowest floor / fastest floor.`,
  "",
  `| workload | floor | millrace | goal / bar | ${PEERS.join(" | ")} | noise |`,
  `| --- | --: | --: | --: | ${PEERS.map(() => "--:").join(" | ")} | --: |`,
  ...results.map(({ workload, floorMs, ratios, noise }) => {
    const bar =
      HARD_BARS[workload] === undefined ? "–" : `${GOALS[workload]}x / ${HARD_BARS[workload]}x`;
    const peers = PEERS.map((name) => show(ratios[name])).join(" | ");
    return `| ${workload} | ${floorMs.toFixed(2)} ms | ${show(ratios[OURS])} | ${bar} | ${peers} | ${noise.toFixed(2)} |`;
  }),
];
const folder = new URL("results/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(new URL("latest.json", folder), `${JSON.stringify({ machine, results }, null, 2)}\n`);
writeFileSync(new URL("latest.md", folder), `${lines.join("\n")}\n`);
process.stdout.write(`${lines.join("\n")}\n`);

const past = results.filter(
  ({ workload, ratios }) => !(ratios[OURS] <= (HARD_BARS[workload] ?? Number.POSITIVE_INFINITY)),
);
for (const { workload, ratios } of past)
  process.stderr.write(`past the bar: ${workload} ${show(ratios[OURS])}\n`);
process.exitCode = past.length > 0 ? 1 : 0;
