/** Rows under headings and facts behind their names, aligned by what the eye sees. Text of others is made harmless here. */

import { clip, pad, width } from "./cells.ts";
import { clean } from "./text.ts";

const GAP = "  ";

/** How a table is drawn. */
export interface TableOptions {
  /** Cells of the terminal; absent: lines are never cut. */
  readonly columns?: number | undefined;
}

/** Lines of a table without their line ends; the last column is not filled up. No rows: no lines, not even headings. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns }: TableOptions = {},
): string[] {
  if (rows.length === 0) return [];
  const cells = [headings, ...rows].map((row) => row.map(clean));
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => width(row[at] ?? ""))));
  return cells.map((row) => {
    const line = row.map((text, at) => pad(text, widths[at] ?? 0)).join(GAP);
    return columns === undefined ? line.trimEnd() : clip(line.trimEnd(), columns);
  });
}

/** `name  value` lines, the values below each other; those that are undefined or empty are left out. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | undefined])[],
): string[] {
  const known = facts.filter(([, value]) => value !== undefined && value !== "");
  const names = Math.max(0, ...known.map(([name]) => width(name)));
  return known.map(([name, value = ""]) => `${pad(name, names)}${GAP}${clean(value)}`);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `512 B`, `2.3 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1_024 && unit < UNITS.length - 1; unit += 1) value /= 1_024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
