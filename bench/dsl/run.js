// Times the flow language against baselines and peers of the same round, asks of hostile texts what twice the text takes,
// and writes results/latest.{json,md}. A ratio is the median over the rounds.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a hard bar, or a contender fails. `growth`, `heap`
// and `size` are cases too. `--quick`: contenders without a bar are timed in one round, and so are flows of 100,000 nodes; cases without a bar are not.
// `--smoke`: each contender once, on a small flow, and only what fails counts.
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { here } from "../machine.js";
import { shuffle } from "../random.js";
import {
  judge,
  median,
  note,
  report,
  secondsSince,
  statedOf,
  table,
  time,
  times,
} from "../report.js";
import { sized, smoke } from "../size.js";
import { createCorpus } from "./corpus.js";
import { expressionCases } from "./expression-cases.js";
import { heapRows } from "./heap.js";
import { hostile } from "./hostile.js";
import { sizeRows } from "./size.js";
import { corpusFolder, textCases } from "./text-cases.js";

const OURS = "millrace";
const SLOWEST = "yaml"; // takes more than a hundred times as long as the baseline: a second each time, so not with `--quick`
const { values } = parseArgs({
  options: {
    quick: { type: "boolean" },
    smoke: { type: "boolean" },
    workload: { type: "string", multiple: true },
  },
});
const { quick = smoke } = values;
const rounds = smoke ? 1 : quick ? 3 : 5;
const wanted = (name, long) => values.workload?.includes(name) ?? !(quick && long);
const past = [];

/** Runs a program of this folder; the JSON of each line that it prints. Throws when it fails. */
function cell(file, ...args) {
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL(file, import.meta.url)), ...args],
    { encoding: "utf8", timeout: 600_000 },
  );
  if (status !== 0) throw new Error(`${file} ${args.join(" ")}: exit ${status}\n${stderr}`);
  return stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** The graphs in every format, once: writing YAML takes longer than all that is timed. */
async function writeCorpus(name) {
  const { graph, flow } = createCorpus(name);
  const texts = { flow, json: JSON.stringify(graph) };
  if (name === "mixed") {
    texts.toml = (await import("smol-toml")).stringify(graph);
    texts.yaml = (await import("yaml")).stringify(graph);
  }
  mkdirSync(corpusFolder, { recursive: true });
  for (const [format, text] of Object.entries(texts))
    writeFileSync(new URL(`${name}.${format}`, corpusFolder), text);
}

/** Milliseconds of contenders in one process; without end when one fails. */
function timesOf(name, ...whos) {
  try {
    return cell("cell.js", name, ...whos).map(({ ms }) => ms);
  } catch (error) {
    past.push(`${name}: not measured: ${error.message}`);
    return whos.map(() => Number.POSITIVE_INFINITY);
  }
}

/** One case: each contender a process of its own, in random order, the baseline and those with a bar in every round. */
function measure(name, { contenders, bars, size }) {
  const begun = performance.now();
  const [baseline] = Object.keys(contenders);
  const isAsked = (who) => smoke || !quick || who !== SLOWEST;
  const asked = Object.keys(contenders).filter(isAsked);
  const all = Object.fromEntries(asked.map((who) => [who, []]));
  if (smoke) return timesOf(name, ...asked);
  for (let round = 0; round < (quick && size === "wide" ? 1 : rounds); round++) {
    const isTimed = (who) => !quick || round === 0 || [baseline, OURS].includes(who) || who in bars;
    for (const who of shuffle(asked.filter(isTimed))) all[who].push(...timesOf(name, who));
  }
  const against = (who, base) => median(all[who].map((ms, round) => ms / all[base][round]));
  const ms = Object.fromEntries(asked.map((who) => [who, median(all[who])]));
  const ratios = Object.fromEntries(asked.map((who) => [who, against(who, baseline)]));
  const noise = Math.max(...all[baseline]) / Math.min(...all[baseline]);
  const { workMs, goal, ...others } = bars;
  const mostMs = workMs && here(workMs, 1);
  const most = workMs === undefined ? [] : [`${time(mostMs)}${statedOf(mostMs, workMs, time)}`];
  if (ms[OURS] >= mostMs) past.push(`${name}: ${time(ms[OURS])}, bar ${most}`);
  for (const [base, bar] of Object.entries(others))
    if (against(OURS, base) > bar)
      past.push(`${name}: ${times(against(OURS, base))} of ${base}, bar ${bar}x`);
  const limits = [
    ...(goal ? [`goal ${goal}x`] : []),
    ...Object.entries(others).map(
      ([base, bar]) => `${bar}x${base === baseline ? "" : ` of ${base}`}`,
    ),
    ...most,
  ];
  const found = Object.entries(ratios).map(([who, ratio]) => `${who} ${times(ratio)}`);
  note(`${name}: ${found.join("  ")}  (${secondsSince(begun)} s)`);
  return { name, baseline, ms, ratios, limits, noise };
}

function caseTable(cases) {
  const rows = Object.entries(cases)
    .filter(([name, { long }]) => wanted(name, long))
    .map(([name, one]) => measure(name, one));
  if (rows.length === 0 || smoke) return [];
  const peers = [...new Set(rows.flatMap(({ ratios }) => Object.keys(ratios)))].filter(
    (who) => who !== OURS && who !== rows[0].baseline,
  );
  results.push(...rows);
  const head = ["case", rows[0].baseline, OURS, "ratio", "bar", ...peers, "noise"];
  return table(
    head,
    rows.map(({ name, baseline, ms, ratios, limits, noise }) => [
      name,
      time(ms[baseline]),
      time(ms[OURS]),
      times(ratios[OURS]),
      limits.join(", ") || "–",
      ...peers.map((who) => (who in ratios ? times(ratios[who]) : "–")),
      noise.toFixed(2),
    ]),
  );
}

/** Every family of hostile texts; shown are the slowest and those past a bar. */
function growthTable() {
  const begun = performance.now();
  const units = quick ? sized(250_000, 500) : 10_000_000;
  const families = Object.keys(hostile);
  const rows = [];
  for (const together of quick ? [families] : families.map((family) => [family])) {
    try {
      rows.push(...cell("growth.js", String(units), ...together));
    } catch (error) {
      past.push(`growth: ${error.message}`);
    }
  }
  note(`growth: ${families.length} families of texts  (${secondsSince(begun)} s)`);
  const over = ({ ms, growth, bars }) =>
    growth > bars.growth || (bars.workMs !== undefined && ms > here(bars.workMs, 1));
  for (const row of rows.filter(over))
    past.push(
      `growth: \`${row.family}\` in ${row.place}, ${row.operation}: ${time(row.ms)}, ${times(row.growth)}`,
    );
  results.push(...rows);
  const worst = rows
    .sort((a, b) => b.ms - a.ms)
    .filter((row, i) => i < 12 || row.growth > row.bars.growth);
  return [
    `${rows.length} texts and operations at ${units / 1e6} MB, ${rows.filter(over).length} past a bar (twice the text: 2.6x; parsing 10 MB: 1 s). The slowest, and all past 2.6x:`,
    "",
    ...table(
      ["text", "in", "operation", "time", "twice the text"],
      worst.map((row) => [
        `\`${row.family.replaceAll("|", "\\|")}\``,
        row.place,
        row.operation,
        time(row.ms),
        times(row.growth),
      ]),
    ),
  ];
}

function heapTable() {
  const rows = [];
  for (const row of heapRows()) {
    rows.push(row);
    note(`heap ${row.name}: ${row.multiple}x`);
    if (row.multiple > row.bar) past.push(`heap: ${row.name}: ${row.multiple}x, bar ${row.bar}x`);
  }
  results.push(...rows);
  return table(
    ["heap beside the text", "multiple of its bytes", "bar"],
    rows.map((row) => [row.name, `<= ${row.multiple}x`, `${row.bar}x`]),
  );
}

function sizeTable() {
  const rows = sizeRows();
  results.push(...rows);
  const kb = (bytes) => `${(bytes / 1_000).toFixed(1)} kB`;
  return table(
    ["import", "minified", "gzip"],
    rows.map((row) => [row.name, kb(row.minified), kb(row.gzip)]),
  );
}

const results = [];
await writeCorpus("mixed");
if (!smoke) await writeCorpus("wide");
const tables = [
  caseTable(textCases),
  caseTable(expressionCases),
  ...(wanted("growth") ? [growthTable()] : []),
  ...(wanted("heap", true) ? [heapTable()] : []),
  ...(wanted("size") ? [sizeTable()] : []),
].filter((lines) => lines.length > 0);

if (smoke) judge(past);
else
  report({
    base: import.meta.url,
    how: "Columns of peers are ratios to the first column of the same round, median; noise = slowest / fastest round of the first column.",
    rounds,
    lines: tables,
    results,
    past,
  });
