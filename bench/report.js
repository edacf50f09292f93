// What every bench does with its numbers: the machine, tables, results/latest.{json,md}, and the exit code of what is past a bar.
import { mkdirSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { slowness } from "./machine.js";

export function median(list) {
  const sorted = [...list].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const times = (ratio) => (Number.isFinite(ratio) ? `${ratio.toFixed(2)}x` : "FAIL");
/** Seconds since a moment of `performance.now`, as text. */
export const secondsSince = (begun) => ((performance.now() - begun) / 1_000).toFixed(1);
export const note = (text) => process.stderr.write(`${text}\n`);

export function time(ms) {
  if (!Number.isFinite(ms)) return "FAIL";
  if (ms >= 1) return `${ms.toFixed(1)} ms`;
  return ms >= 0.001 ? `${(ms * 1e3).toFixed(2)} µs` : `${(ms * 1e6).toFixed(0)} ns`;
}

/** What stands behind a bar of this machine where another one was stated. */
export const statedOf = (bar, stated, shown = String) =>
  bar === stated ? "" : ` (${shown(stated)} on the reference)`;

/** Lines of a Markdown table; `left` columns are texts. */
export function table(head, rows, left = 1) {
  const rule = head.map((_, i) => (i < left ? "---" : "--:"));
  return [head, rule, ...rows].map((row) => `| ${row.join(" | ")} |`);
}

/** Writes and prints what was found. `base`: URL of the bench's program; `how`: how to read the tables; `lines`: the tables. */
export function report({ base, how, rounds, lines, results, past }) {
  const date = new Date().toISOString().slice(0, 10);
  const counted = rounds === undefined ? "" : `, ${rounds} rounds`;
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${availableParallelism()} cores, ${slowness()}x the time of the reference${counted}, ${date}`;
  const text = `${[`${machine}. ${how}`, ...lines.map((part) => part.join("\n"))].join("\n\n")}\n`;
  const folder = new URL("results/", base);
  mkdirSync(folder, { recursive: true });
  const latest = JSON.stringify({ machine, results, past }, null, 2);
  writeFileSync(new URL("latest.json", folder), `${latest}\n`);
  writeFileSync(new URL("latest.md", folder), text);
  process.stdout.write(text);
  judge(past);
}

/** Says what is past a bar or was not measured, and fails the program for it. */
export function judge(past) {
  for (const line of past) note(`past the bar: ${line}`);
  process.exitCode = past.length > 0 ? 1 : 0;
}
