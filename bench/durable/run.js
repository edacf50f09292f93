// Measures what durability costs against a baseline of the same round, and writes results/latest.{json,md}. Every round is a
// process with fresh files; a ratio is the median over the rounds.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cases } from "./cases.js";

const OURS = "millrace";
const CELL_MS = 180_000; // the slowest makes 100,000 runs first

const { values } = parseArgs({
  options: { quick: { type: "boolean" }, workload: { type: "string", multiple: true } },
});
const past = [];
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const times = (ratio) => `${ratio.toFixed(2)}x`;
const note = (text) => process.stderr.write(`${text}\n`);

function shown(value, isBytes) {
  if (isBytes) return `${(value / 1e6).toFixed(1)} MB`;
  return value >= 1 ? `${value.toFixed(1)} ms` : `${(value * 1e3).toFixed(0)} µs`;
}

/** One round of a case in a process of its own; throws when it fails. */
function cell(name) {
  const program = fileURLToPath(new URL("cell.js", import.meta.url));
  const options = { encoding: "utf8", timeout: CELL_MS };
  const { stdout, stderr, status } = spawnSync(process.execPath, [program, name], options);
  if (status !== 0) throw new Error(`exit ${status}\n${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}

/** All rounds of one case; quick: one. */
function measure(name) {
  const { what, bars, isBytes = false } = cases[name];
  const isLong = name.includes("100,000") || name.includes("parked");
  const rounds = values.quick ? 1 : isLong ? 3 : 5;
  const found = Array.from({ length: rounds }, () => cell(name));
  const [baseline] = Object.keys(bars);
  const of = (who) => found.map(({ value }) => value[who]);
  const facts = Object.entries(found[0].facts ?? {}).map(([fact, { bar, least }]) => ({
    fact,
    value: median(found.map(({ facts }) => facts[fact].value)),
    ...(bar === undefined ? { least } : { bar }),
  }));
  return {
    name,
    what,
    baseline,
    isBytes,
    baselineValue: median(of(baseline)),
    ours: median(of(OURS)),
    ratio: median(found.map(({ value }) => value[OURS] / value[baseline])),
    bar: bars[baseline],
    noise: Math.max(...of(baseline)) / Math.min(...of(baseline)),
    facts,
  };
}

const isPast = ({ value, bar, least }) => (bar === undefined ? value < least : value > bar);

function judged(name) {
  try {
    const row = measure(name);
    if (row.bar !== null && row.ratio > row.bar)
      past.push(`${name}: ${times(row.ratio)} of ${row.baseline}, bar ${times(row.bar)}`);
    for (const fact of row.facts)
      if (isPast(fact))
        past.push(`${name}: ${fact.fact}: ${fact.value}, bar ${fact.bar ?? fact.least}`);
    return row;
  } catch (error) {
    past.push(`${name}: not measured: ${error.message}`);
    return { name, what: cases[name].what, missing: true };
  }
}

function cellsOf({
  name,
  baseline,
  baselineValue,
  ours,
  isBytes,
  ratio,
  bar,
  noise,
  facts,
  missing,
}) {
  if (missing) return [name, "–", "–", "FAIL", "–", "–", "–"];
  const counted = facts.map(({ fact, value, bar, least }) =>
    bar === undefined ? `${fact}: ${value}, at least ${least}` : `${fact}: ${value}, bar ${bar}`,
  );
  return [
    name,
    `${baseline} ${shown(baselineValue, isBytes)}`,
    shown(ours, isBytes),
    times(ratio),
    bar === null ? "–" : times(bar),
    counted.join("; ") || "–",
    noise.toFixed(2),
  ];
}

const results = (values.workload ?? Object.keys(cases))
  .filter((name) => !values.quick || values.workload !== undefined || !cases[name].isLong)
  .map((name) => {
    const row = judged(name);
    const counted = (row.facts ?? []).map(({ fact, value }) => `${fact} ${value}`);
    note(`${name}: ${row.missing ? "FAIL" : [times(row.ratio), ...counted].join("  ")}`);
    return row;
  });
const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${new Date().toISOString().slice(0, 10)}`;
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
