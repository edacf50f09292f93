// Measures cases, each against a baseline of the same round: a round is a process of its own, a ratio the median over the rounds.
// A case is data: `what` it is; `bars`, the most that ours may be to a contender, the first of which is the baseline, or none; `goals`, the
// most that it should be, which fail nothing; `added`, with a `bar` and perhaps a `goal`: the milliseconds of the processor that ours may take beside a
// baseline that waits for a disk; `samples`; and `prepare`, which gives `contenders` (functions that answer with one sample, in milliseconds or, with `isBytes`, in bytes),
// perhaps `facts` (counts, with a `bar` each, the most it may be, and perhaps a `goal`, or with `least`, or with none; `work`: the share of its bar that is
// work of the processor, see machine.js) and `close`. `warmMs`: how long it runs on the reference before it
// is measured, or `warmTurns`: how often each contender does; `session`: in which surroundings; `isLong`: only when asked for or without `--quick`;
// `isTwin`: another one shows with `--smoke` that it works.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { here, slowness } from "./machine.js";
import { median, note, report, secondsSince, statedOf, table, time, times } from "./report.js";
import { smoke } from "./size.js";

const OURS = "millrace";
const CELL = fileURLToPath(new URL("cell.js", import.meta.url));
const CELL_MS = 300_000; // the slowest takes minutes on a busy machine

/**
 * Runs the `cases` of `cases.js` in the folder `base`, all or those of `--workload <case>`, also written `--only`; exits 1 when ours is past a bar, or a case
 * fails. `--smoke`: every case but the long ones once, and only what fails counts. `roundsOf`: rounds of a case, by default five, two with `--quick`.
 */
export function runCases({ base, cases, roundsOf = (_, quick) => (quick ? 2 : 5) }) {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      smoke: { type: "boolean" },
      workload: { type: "string", multiple: true },
      only: { type: "string", multiple: true },
    },
  });
  const { quick = smoke, only, workload = only } = values;
  const names =
    workload ??
    Object.keys(cases).filter(
      (name) => !(quick && cases[name].isLong) && !(smoke && cases[name].isTwin),
    );
  const unknown = names.find((name) => !Object.hasOwn(cases, name));
  if (unknown !== undefined) {
    throw new Error(`unknown case "${unknown}"; known: ${Object.keys(cases).join(", ")}`);
  }
  if (smoke) return smokeOf(names);
  slowness(); // cells inherit it
  const past = [];
  const results = names.map((name) => {
    const begun = performance.now();
    const row = judged(name);
    const counted = (row.facts ?? []).map(({ fact, value }) => `${fact} ${value}`);
    const found = row.missing ?? [...row.ratios.map(ofWhom), ...counted].join("  ");
    note(`${name}: ${found}  (${secondsSince(begun)} s)`);
    return row;
  });
  const head = ["case", "baseline", OURS, "ratio", "bar", "counted", "noise"];
  const how =
    "Ratio: ours to the baseline of the same round, median; noise: slowest / fastest round of the baseline.";
  const legend = results.map(({ name, what }) => `- ${name}: ${what}`);
  report({ base, how, lines: [table(head, results.map(cellsOf)), legend], results, past });

  /** One round of cases in a process of their own: what it told of each until one failed, and why it did; `missing`: why there is none. */
  function cells(...names) {
    const plain = [process.execPath, CELL, new URL("cases.js", base).href, ...names];
    const surroundings = cases[names[0]].session?.(plain) ?? { command: plain, env: process.env };
    const { missing, command, env, end } = surroundings;
    if (missing !== undefined) return { found: names.map(() => ({ missing })) };
    const [first, ...args] = command;
    const { stdout, stderr, status } = spawnSync(first, args, {
      encoding: "utf8",
      env,
      timeout: CELL_MS,
    });
    end?.();
    const lines = stdout.split("\n").filter((line) => line.startsWith("{"));
    const found = lines.map((line) => JSON.parse(line));
    const wrong = found.findIndex((one) => !areNumbers(one));
    if (wrong >= 0) return { found: found.slice(0, wrong), error: `no number in ${lines[wrong]}` };
    return status === 0 ? { found } : { found, error: `exit ${status}\n${stderr}` };
  }

  /** One round of a case; throws when it fails. */
  function cell(name) {
    const { found, error } = cells(name);
    if (error !== undefined) throw new Error(error);
    return found[0];
  }

  /** Every case of these once, those that need no surroundings in one process; after one that failed the others in another. */
  function smokeOf(names) {
    const left = new Set(names);
    while (left.size > 0) {
      const [next] = left;
      const alone = [...left].filter((name) => cases[name].session === undefined);
      const together = cases[next].session === undefined ? alone : [next];
      const { found, error } = cells(...together);
      const done = together.slice(0, found.length + (error === undefined ? 0 : 1));
      for (const name of done) left.delete(name);
      for (const [at, { missing }] of found.entries())
        if (missing !== undefined) note(`${together[at]}: not measured: ${missing}`);
      if (error === undefined) continue;
      note(`FAIL ${done.at(-1)}: ${error}`);
      process.exitCode = 1;
    }
    note(`${names.length} cases of ${base.pathname.split("/").at(-2)}`);
  }

  /** So many rounds of one case. */
  function measure(name, rounds) {
    const { what, bars, goals = {}, added, isBytes = false } = cases[name];
    const found = Array.from({ length: rounds }, () => cell(name));
    const [{ missing }] = found;
    if (missing !== undefined) return { name, what, missing: `not measured: ${missing}` };
    const [baseline] = Object.keys(bars);
    const of = (who) => found.map(({ values }) => values[who]);
    const against = (who) => median(found.map(({ values }) => values[OURS] / values[who]));
    const counted = found.map(({ values, facts }) => ({
      ...(added && {
        [`ms beyond ${baseline}`]: {
          value: rounded(values[OURS] - values[baseline]),
          ...added,
          work: 1,
        },
      }),
      ...facts,
    }));
    const facts = Object.entries(counted[0]).map(([fact, { bar, least, goal, work }]) => ({
      fact,
      value: median(counted.map((round) => round[fact].value)),
      ...(bar !== undefined && { bar: here(bar, work), stated: bar }),
      ...(goal !== undefined && { goal: here(goal, work) }),
      least,
    }));
    return {
      name,
      what,
      baseline,
      isBytes,
      baselineValue: median(of(baseline)),
      ours: median(of(OURS)),
      ratios: Object.entries(bars).map(([who, bar]) => ({
        who,
        ratio: against(who),
        bar,
        goal: goals[who],
      })),
      noise: Math.max(...of(baseline ?? OURS)) / Math.min(...of(baseline ?? OURS)),
      facts,
    };
  }

  /** What is past its bar in the few rounds of `--quick` is measured in all of them, which counts. */
  function judged(name) {
    try {
      const rounds = roundsOf(name, quick);
      const all = roundsOf(name, false);
      let row = measure(name, rounds);
      if (rounds < all && pastOf(row).length > 0) {
        note(`${name}: once more, in all rounds, because of ${pastOf(row).join("; ")}`);
        row = measure(name, all);
      }
      past.push(...pastOf(row).map((what) => `${name}: ${what}`));
      return row;
    } catch (error) {
      past.push(`${name}: not measured: ${error.message}`);
      return { name, what: cases[name].what, missing: "FAIL" };
    }
  }
}

/** No number is written as null, and would be past no bar. */
const areNumbers = ({ values, facts = {} }) =>
  [...Object.values(values), ...Object.values(facts).map(({ value }) => value)].every(
    Number.isFinite,
  );
const isPast = ({ value, bar, least }) => (bar === undefined ? value < least : value > bar);
const pastOf = ({ ratios = [], facts = [] }) => [
  ...ratios
    .filter(({ ratio, bar }) => ratio > (bar ?? Number.POSITIVE_INFINITY))
    .map(({ who, ratio, bar }) => `${times(ratio)} of ${who}, bar ${times(bar)}`),
  ...facts.filter(isPast).map((fact) => `${fact.fact}: ${fact.value}, ${limitOf(fact)}`),
];
const rounded = (value) => Math.round(value * 100) / 100;
const limitOf = ({ bar, least, stated }) =>
  bar === undefined ? `at least ${least}` : `bar ${bar}${statedOf(bar, stated)}`;
const goalOf = (goal) => (goal === undefined ? "" : ` (goal ${goal})`);
const ofWhom = ({ who, ratio }) => `${times(ratio)} of ${who}`;

/** The cells of a row; what could not be measured says why. */
function cellsOf(row) {
  const { name, baseline, baselineValue, ours, isBytes, ratios, noise, facts, missing } = row;
  if (missing !== undefined) return [name, "–", "–", missing, "–", "–", "–"];
  const shown = (value) => (isBytes ? `${(value / 1e6).toFixed(1)} MB` : time(value));
  const counted = facts.map(({ fact, value, ...limits }) => {
    const { bar, least, goal } = limits;
    const limit = (bar ?? least) === undefined ? "" : `, ${limitOf(limits)}`;
    return `${fact}: ${value}${limit}${goalOf(goal)}`;
  });
  return [
    name,
    baseline === undefined ? "–" : `${baseline} ${shown(baselineValue)}`,
    shown(ours),
    ratios.map((each, i) => (i === 0 ? times(each.ratio) : ofWhom(each))).join(", ") || "–",
    ratios.map(({ bar, goal }) => (bar === null ? "–" : times(bar) + goalOf(goal))).join(", ") ||
      "–",
    counted.join("; ") || "–",
    noise.toFixed(2),
  ];
}
