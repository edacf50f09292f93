// Measures the server beside node:http and frameworks, and writes results/latest.{json,md}. Every round of every contender is a
// server in a process of its own, in random order; a ratio is the median over the rounds.
// `--quick` runs less, and all but ours and the baseline once. `--smoke`: ours once in each case, the others once, and only what
// fails counts.
// Usage: node run.js [--quick] [--workload <case>]…   Exits 1 when ours is past a bar, or a case fails.
import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { shuffle } from "../random.js";
import { judge, median, note, report, secondsSince, table } from "../report.js";
import { smoke } from "../size.js";
import { cases } from "./cases.js";

const OURS = "millrace";
const UNITS = {
  cpuUs: "µs CPU",
  nextUs: "µs CPU",
  ofRun: "x of the run",
  perSecond: "/s",
  mib: "MiB",
  ms: "ms",
  kib: "KiB",
  idleMs: "ms CPU/s",
};

const { values } = parseArgs({
  options: {
    quick: { type: "boolean", default: smoke },
    smoke: { type: "boolean" },
    workload: { type: "string", multiple: true },
  },
});
const { quick } = values;
const rounds = smoke ? 1 : quick ? 3 : 5;
const CELL_MS = quick ? 20_000 : 60_000; // the slowest takes seconds on a busy machine
const past = [];
const shown = (figure, value) =>
  figure === "perSecond"
    ? `${Math.round(value / 100) / 10}k/s`
    : `${value.toFixed(1)} ${UNITS[figure]}`;

/** One round of one contender. */
async function cell(who, { source, measure }) {
  const child = fork(
    fileURLToPath(new URL("server.js", import.meta.url)),
    [who, JSON.stringify(source(quick))],
    {
      execArgv: ["--expose-gc"],
      env: { ...process.env, NODE_ENV: "production" },
    },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), CELL_MS);
  const waiting = [];
  const next = (wanted) =>
    new Promise((resolve, reject) => {
      waiting.push({ wanted, resolve });
      child.once("exit", (code) => reject(new Error(`${who} ended with ${code}`)));
    });
  child.setMaxListeners(0);
  child.on("message", (message) => {
    const at = waiting.findIndex(({ wanted }) => wanted in message);
    if (at >= 0) waiting.splice(at, 1)[0].resolve(message);
  });
  try {
    const { port } = await next("port");
    const usage = (collect = false) => {
      child.send({ collect });
      return next("cpuUs");
    };
    const cancelled = async () => (await next("cancelledAt")).cancelledAt;
    return await measure({ port, usage, cancelled, quick });
  } finally {
    clearTimeout(timer);
    child.removeAllListeners("exit").kill("SIGKILL");
  }
}

/** Contenders that the one round of `--smoke` has had. */
const smoked = new Set();

async function measureCase(name) {
  const { who, bars, what } = cases[name];
  const found = Object.fromEntries(who.map((each) => [each, []]));
  for (let round = 0; round < rounds; round += 1) {
    const isWanted = (each) =>
      each === OURS || (smoke ? !smoked.has(each) : !quick || round === 0 || each === who[0]);
    const wanted = who.filter(isWanted);
    for (const each of wanted) smoked.add(each);
    for (const each of shuffle([...wanted])) {
      found[each].push(await cell(each, cases[name]));
    }
  }
  if (smoke) return found;
  const [baseline] = who;
  const rows = who.map((each) => {
    const figures = Object.keys(found[each][0]);
    const of = (figure) => median(found[each].map((round) => round[figure]));
    const against = (figure) =>
      median(found[each].map((round, i) => round[figure] / found[baseline][i][figure]));
    return {
      who: each,
      figures: Object.fromEntries(figures.map((figure) => [figure, of(figure)])),
      ratios: Object.fromEntries(figures.map((figure) => [figure, against(figure)])),
    };
  });
  const ours = rows.find((row) => row.who === OURS);
  for (const [figure, { ratio, value, least }] of Object.entries(bars)) {
    if (least !== undefined && ours.ratios[figure] < least)
      past.push(
        `${name}: ${ours.ratios[figure].toFixed(2)}x of ${baseline} ${UNITS[figure]}, at least ${least}x`,
      );
    if (ratio !== undefined && ours.ratios[figure] > ratio)
      past.push(`${name}: ${ours.ratios[figure].toFixed(2)}x of ${baseline}, bar ${ratio}x`);
    if (value !== undefined && ours.figures[figure] > value)
      past.push(`${name}: ${shown(figure, ours.figures[figure])}, bar ${value}`);
  }
  return { name, what, baseline, bars, rows };
}

function linesOf({ name, baseline, bars, rows, failed }) {
  if (failed !== undefined) return [[name, "–", "–", `FAIL: ${failed}`, "–"]];
  return rows.map(({ who, figures, ratios }) => [
    name,
    who,
    Object.entries(figures)
      .map(([figure, value]) => shown(figure, value))
      .join(", "),
    who === baseline
      ? "1x"
      : Object.values(ratios)
          .map((ratio) => `${ratio.toFixed(2)}x`)
          .join(", "),
    who === OURS
      ? Object.entries(bars)
          .flatMap(([figure, { ratio, value, goal, least, should }]) => [
            ...(least === undefined
              ? []
              : [`at least ${least}x ${UNITS[figure]} (goal ${should}x)`]),
            ...(ratio === undefined ? [] : [`${ratio}x`]),
            ...(value === undefined ? [] : [`${value} ${UNITS[figure]}`]),
            ...(goal === undefined ? [] : [`goal ${goal} ${UNITS[figure]}`]),
          ])
          .join(", ") || "–"
      : "",
  ]);
}

const results = [];
const isWanted = (name) => smoke || !quick || !cases[name].isLong;
for (const name of values.workload ?? Object.keys(cases).filter(isWanted)) {
  const begun = performance.now();
  try {
    results.push(await measureCase(name));
  } catch (error) {
    past.push(`${name}: not measured: ${error.message}`);
    results.push({ name, what: cases[name].what, failed: error.message });
  }
  if (smoke) continue;
  for (const line of linesOf(results.at(-1))) note(line.join("  "));
  note(`${name}: ${secondsSince(begun)} s`);
}
const head = ["case", "server", "figures", "of the baseline", "bar"];
if (smoke) judge(past);
else
  report({
    base: import.meta.url,
    how: "Medians; a ratio is to the first server of the case in the same round.",
    rounds,
    lines: [
      table(head, results.flatMap(linesOf), head.length),
      results.map(({ name, what }) => `- ${name}: ${what}`),
    ],
    results,
    past,
  });
