/** Copies the rows, each page in one transaction with the mark that says how far it came. */
import { resealedRow, type SqlRow, type SqlValue } from "@millrace/store/sql";
import type { Link } from "../connect/link.ts";
import { composed, type Prepared } from "../sql/statements.ts";
import { type Mark, writeMark } from "./mark.ts";
import { keyOf, openedText, pagesOf, quoted, type Side } from "./rows.ts";
import { columnsOf, type MovedTable, TABLES } from "./tables.ts";
import type { Target } from "./target.ts";

/** Data of the source besides its tables. */
export interface SourceFacts {
  readonly id: string;
  readonly epoch: number;
  readonly cursorKey: string;
  /** The highest number that any run ever had. */
  readonly lastRun: number;
  /** The highest position that any entry of the feed ever had. */
  readonly lastPosition: number;
}

export interface Copying {
  readonly source: Side;
  readonly target: Target;
  readonly facts: SourceFacts;
  /** Epoch milliseconds, for the bells of live runs. */
  readonly now: number;
  readonly signal: AbortSignal | undefined;
  readonly progress: (table: string, rows: number) => void;
}

const FREE = 0; // end of a lease without an owner

/** Empties the tables of a move that is not to be continued. */
export async function startAnew({ link }: Target, mark: Mark): Promise<void> {
  const names = TABLES.map(({ name }) => quoted(name)).join(", ");
  await transaction(link, [
    () => link.send(composed(`TRUNCATE ${names}`)),
    () => writeMark(link, mark),
  ]);
}

/** Copies all that follows the mark; the mark of the end. */
export async function copyRows(copying: Copying, begun: Mark): Promise<Mark> {
  const { source, target, signal, progress } = copying;
  const { link } = target;
  let mark = begun;
  for (let at = begun.table; at < TABLES.length; at += 1) {
    const table = TABLES[at] as MovedTable;
    const after = at === begun.table ? begun.after : null;
    for await (const rows of pagesOf(source, { table, after })) {
      signal?.throwIfAborted();
      mark = { ...mark, table: at, after: keyOf(table, rows.at(-1) as SqlRow) };
      const next = mark;
      const { statement, values } = insertion(table, rows, copying);
      await transaction(link, [() => link.send(statement, values), () => writeMark(link, next)]);
      progress(table.name, rows.length);
    }
  }
  return finish(copying, { ...mark, state: "copied", table: TABLES.length, after: null });
}

/** Numbers that go on where those of the source ended, and the key of its cursors. */
async function finish({ target: { link }, facts }: Copying, mark: Mark): Promise<Mark> {
  const setval = "SELECT setval(?::regclass, greatest(?::bigint, 1))";
  await transaction(link, [
    () =>
      link.send(composed("UPDATE meta SET value = ? WHERE key = 'cursorKey'"), [facts.cursorKey]),
    () => link.send(composed("UPDATE meta SET value = ? WHERE key = 'installationId'"), [facts.id]),
    () => link.send(composed("UPDATE feed_head SET pos = ?"), [facts.lastPosition]),
    () => link.send(composed(setval), ["epoch", facts.epoch]),
    () => link.send(composed(setval), ["run_no", facts.lastRun]),
    () => writeMark(link, mark),
  ]);
  return mark;
}

function insertion(
  table: MovedTable,
  rows: readonly SqlRow[],
  { source, target, now }: Copying,
): { readonly statement: Prepared; readonly values: readonly SqlValue[] } {
  const columns = columnsOf(table);
  const isRun = table.name === "run";
  const isPrivate = table.name === "private_value";
  const names = isRun ? [...columns, "lease_until", "bell_at"] : columns;
  const marks = `(${names.map(() => "?").join(", ")})`;
  const values = rows.flatMap((row) => {
    const known = isPrivate ? resealed(row, source.key, target.key) : row;
    const own = columns.map((name) => known[name] ?? null);
    if (!isRun) return own;
    const isLive = row["ended_at"] === null;
    return [...own, isLive ? FREE : null, isLive ? now : null];
  });
  const into = `INSERT INTO ${quoted(table.name)}(${names.map(quoted).join(", ")})`;
  return {
    statement: composed(`${into} VALUES ${rows.map(() => marks).join(", ")}`),
    values,
  };
}

function resealed(row: SqlRow, from: Uint8Array | null, to: Uint8Array): SqlRow {
  const text = openedText(from, row);
  return { ...row, ...resealedRow(to, String(row["run_id"]), { row, text }) };
}

/** Sends all at once; the first error is that of the transaction. */
async function transaction(link: Link, steps: readonly (() => Promise<unknown>)[]): Promise<void> {
  const sent = [link.run("BEGIN"), ...steps.map((step) => step())];
  try {
    for (const answer of sent) await answer;
  } catch (error) {
    if (link.isOpen) void link.run("ROLLBACK");
    throw error;
  }
  await link.run("COMMIT");
}
