/** Rows under headings and facts behind their names, aligned by what the eye sees. Text of others is made harmless here. */

import { clean, isAscii } from "./text.ts";

const GAP = "  ";

export interface TableOptions {
  /** Cells of the terminal; absent: lines are never cut. */
  readonly columns?: number | undefined;
}

/** Measures and cuts ASCII text; loading the tables for other characters takes longer than most commands. */
const NARROW: Pick<typeof import("./cells.ts"), "clip" | "pad" | "width"> = {
  width: (text) => text.length,
  pad: (text, cells) => text.padEnd(cells),
  clip: (text, cells) => (text.length <= cells ? text : `${text.slice(0, cells - 1)}…`),
};

/** Lines of a table without their line ends; the last column is not filled up. No rows: no lines, not even headings. */
export async function tableLines(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { columns }: TableOptions = {},
): Promise<string[]> {
  if (rows.length === 0) return [];
  const cells = [headings, ...rows].map((row) => row.map(clean));
  const isNarrow = cells.every((row) => row.every(isAscii));
  const { width, pad, clip } = isNarrow ? NARROW : await import("./cells.ts");
  const widths = headings.map((_, at) => Math.max(...cells.map((row) => width(row[at] ?? ""))));
  return cells.map((row) => {
    const line = row.map((text, at) => pad(text, widths[at] ?? 0)).join(GAP);
    return columns === undefined ? line.trimEnd() : clip(line.trimEnd(), columns);
  });
}

/** `name  value` lines, the names in ASCII, the values below each other; those that are undefined or empty are left out. */
export function factLines(
  facts: readonly (readonly [name: string, value: string | undefined])[],
): string[] {
  const known = facts.filter(([, value]) => value !== undefined && value !== "");
  const names = Math.max(0, ...known.map(([name]) => name.length));
  return known.map(([name, value = ""]) => `${name.padEnd(names)}${GAP}${clean(value)}`);
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** `512 B`, `2.3 GiB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= 1_024 && unit < UNITS.length - 1; unit += 1) value /= 1_024;
  return `${unit === 0 ? value : value.toFixed(1)} ${UNITS[unit]}`;
}
