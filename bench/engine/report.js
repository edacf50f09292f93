// The tables of a run, as Markdown.
import { table } from "../report.js";
import { OURS } from "./contenders.js";

/** A ratio as it is read; FAIL for a workload that was not done. */
export function shown(ratio) {
  if (!Number.isFinite(ratio)) return "FAIL";
  return ratio >= 100 ? `${Math.round(ratio)}x` : `${ratio.toFixed(2)}x`;
}

/** Everything that a run found out, as tables and lists. */
export function tables({ rows, goals, probes, peers }) {
  const failures = rows.flatMap(({ workload, failed }) =>
    Object.entries(failed).map(([name, why]) => `- ${name}, ${workload}: ${why || "no answer"}`),
  );
  return [
    table(
      ["workload", "floor", OURS, "goal / bar", ...peers, "noise"],
      rows.map((row) => timeRow(row, peers)),
    ),
    ...(goals.length > 0
      ? [table(["goal", "found", "goal / bar", "what"], goals.map(goalRow))]
      : []),
    ...(failures.length > 0 ? [["FAIL:", "", ...failures]] : []),
    ...(probes.length > 0 ? [["Probes:", "", ...probes.map(probeLine)]] : []),
  ];
}

function timeRow({ workload, floorMs, ratios, bars, noise }, peers) {
  return [
    workload,
    `${floorMs.toFixed(2)} ms`,
    shown(ratios[OURS]),
    bars === undefined ? "–" : `${bars[0]}x / ${bars[1]}x`,
    ...peers.map((name) => (name in ratios ? shown(ratios[name]) : "–")),
    noise.toFixed(2),
  ];
}

function goalRow({ name, value, goal, bar, unit, what, failed }) {
  if (failed !== undefined) return [name, "FAIL", "", failed.replaceAll("\n", " ")];
  const digits = Number.isInteger(value) ? 0 : 2;
  return [
    name,
    `${value.toFixed(digits)} ${unit}`,
    `${[goal, bar].filter((one) => one !== undefined).join(" / ")} ${unit}`,
    what,
  ];
}

function probeLine({ peer, text, failed }) {
  return failed === undefined ? `- ${peer}: ${text}.` : `- not run: ${failed}`;
}
