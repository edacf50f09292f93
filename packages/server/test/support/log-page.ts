/** The lines of a server's log, as the reference lists them. */
import { codeIn, readPage, tablesOf } from "@millrace/test-support/pages";

/** Level by the text of `msg`. */
export function loggedLines(): ReadonlyMap<string, string> {
  const [table] = tablesOf(readPage("docs/reference/monitoring.md"));
  const rows = table?.rows ?? [];
  return new Map(rows.map(([line, level = ""]) => [codeIn(line)[0] ?? "", level]));
}
