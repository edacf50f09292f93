// Times `ai` nodes, from the socket of a model to the reader of events, against a baseline of the same round, and writes results/latest.{json,md}. Every round is a process; a ratio is the median over the rounds.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cases } from "./cases.js";

const OURS = "millrace";
const CELL_MS = 300_000; // the slowest takes a minute on a busy machine

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, workload: { type: "string", multiple: true } },
});
const rounds = values.quick ? 3 : 5;
const past = [];
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const times = (ratio) => `${ratio.toFixed(2)}x`;
const note = (text) => process.stderr.write(`${text}\n`);
function time(ms) {
  if (ms >= 1) return `${ms.toFixed(1)} ms`;
  return ms >= 0.001 ? `${(ms * 1e3).toFixed(2)} µs` : `${(ms * 1e6).toFixed(0)} ns`;
}

/** One round of a case in a process of its own; throws when it fails. */
function cell(name) {
  const program = fileURLToPath(new URL("cell.js", import.meta.url));
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, name], {
    encoding: "utf8",
    timeout: CELL_MS,
  });
  if (status !== 0) throw new Error(`exit ${status}\n${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** All rounds of one case. */
function measure(name) {
  const found = Array.from({ length: rounds }, () => cell(name));
  const { what, bars } = cases[name];
  const [baseline] = Object.keys(bars);
  const against = (who) => median(found.map(({ ms }) => ms[OURS] / ms[who]));
  const of = (who) => found.map(({ ms }) => ms[who]);
  const facts = Object.entries(found[0].facts ?? {}).map(([fact, { bar }]) => ({
    fact,
    value: Math.max(...found.map(({ facts }) => facts[fact].value)),
    bar,
  }));
  return {
    name,
    what,
    baseline,
    baselineMs: median(of(baseline)),
    oursMs: median(of(OURS)),
    ratios: Object.entries(bars).map(([who, bar]) => ({ who, ratio: against(who), bar })),
    noise: Math.max(...of(baseline)) / Math.min(...of(baseline)),
    facts,
  };
}

function judged(name) {
  try {
    const row = measure(name);
    for (const { who, ratio, bar } of row.ratios ?? [])
      if (ratio > (bar ?? Number.POSITIVE_INFINITY))
        past.push(`${name}: ${times(ratio)} of ${who}, bar ${bar}x`);
    for (const { fact, value, bar } of row.facts ?? [])
      if (value > bar) past.push(`${name}: ${fact}: ${value}, bar ${bar}`);
    return row;
  } catch (error) {
    past.push(`${name}: not measured: ${error.message}`);
    return { name, what: cases[name].what, missing: "FAIL" };
  }
}

/** The cells of a row; what could not be measured says why. */
function cellsOf({ name, baseline, baselineMs, oursMs, ratios, noise, facts, missing }) {
  if (missing !== undefined) return [name, "–", "–", "–", "–", `not measured: ${missing}`, "–"];
  const shown = ratios.map(({ who, ratio }, i) =>
    i === 0 ? times(ratio) : `${times(ratio)} of ${who}`,
  );
  const bars = ratios.map(({ bar }) => (bar === null ? "–" : `${bar}x`));
  const counted = facts.map(({ fact, value, bar }) => `${fact}: ${value}, bar ${bar}`);
  return [
    name,
    `${baseline} ${time(baselineMs)}`,
    time(oursMs),
    shown.join(", "),
    bars.join(", "),
    counted.join("; ") || "–",
    noise.toFixed(2),
  ];
}

const results = (values.workload ?? Object.keys(cases)).map((name) => {
  const row = judged(name);
  note(
    `${name}: ${row.missing ?? row.ratios.map(({ who, ratio }) => `${times(ratio)} of ${who}`).join("  ")}`,
  );
  return row;
});
const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${rounds} rounds, ${new Date().toISOString().slice(0, 10)}`;
const head = ["case", "baseline", OURS, "ratio", "bar", "counted", "noise"];
const lines = [head, head.map((_, i) => (i === 0 ? "---" : "--:")), ...results.map(cellsOf)];
const text = `${[
  `${machine}. Ratio: ours to the baseline of the same round, median; noise: slowest / fastest round of the baseline.`,
  lines.map((row) => `| ${row.join(" | ")} |`).join("\n"),
  results.map(({ name, what }) => `- ${name}: ${what}`).join("\n"),
].join("\n\n")}\n`;
const folder = new URL("results/", import.meta.url);
mkdirSync(folder, { recursive: true });
writeFileSync(
  new URL("latest.json", folder),
  `${JSON.stringify({ machine, results, past }, null, 2)}\n`,
);
writeFileSync(new URL("latest.md", folder), text);
process.stdout.write(text);
for (const line of past) note(`past the bar: ${line}`);
process.exitCode = past.length > 0 ? 1 : 0;
