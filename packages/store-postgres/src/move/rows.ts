/** Reads tables of either database in pages, and what a row is compared by. */
import { StoreError } from "@millrace/store";
import { openedRow, type SqlRow, type SqlValue } from "@millrace/store/sql";
import { DigestOfRows, type RowsDigest } from "./digest.ts";
import { columnsOf, type MovedTable } from "./tables.ts";

export interface Side {
  /** The key of its private values. */
  readonly key: Uint8Array | null;
  /** As in its dialect. */
  readonly lastSeq: string;
  all(sql: string, values: readonly SqlValue[]): Promise<readonly SqlRow[]>;
}

export interface Part {
  readonly table: MovedTable;
  /** Primary key of the row before it; null: it begins with the first. */
  readonly after: readonly SqlValue[] | null;
}

/** Pages of a table in the order of its primary key. The rows of private values have their run's id as `run_id`. */
export async function* pagesOf(
  side: Side,
  { table, after }: Part,
): AsyncGenerator<readonly SqlRow[], void> {
  const { name, key, page } = table;
  const columns = columnsOf(table).map((column) =>
    column === "last_seq" ? `${side.lastSeq} AS last_seq` : quoted(column),
  );
  if (name === "private_value") {
    columns.push("(SELECT r.id FROM run r WHERE r.no = private_value.run) AS run_id");
  }
  const names = key.map(quoted).join(", ");
  const from = `SELECT ${columns.join(", ")} FROM ${quoted(name)}`;
  const order = `ORDER BY ${names} LIMIT ${page}`;
  const beyond = key.length === 1 ? "?" : `(${key.map(() => "?").join(", ")})`;
  const left = key.length === 1 ? names : `(${names})`;
  for (let last = after; ; ) {
    const rows =
      last === null
        ? await side.all(`${from} ${order}`, [])
        : await side.all(`${from} WHERE ${left} > ${beyond} ${order}`, last);
    if (rows.length > 0) yield rows;
    if (rows.length < page) return;
    last = keyOf(table, rows.at(-1) as SqlRow);
  }
}

export function keyOf({ key }: MovedTable, row: SqlRow): readonly SqlValue[] {
  return key.map((name) => row[name] ?? null);
}

/** Digest over what both stores must have alike: of private values the values, which are sealed differently. */
export async function digestOf(side: Side, table: MovedTable): Promise<RowsDigest> {
  const digest = new DigestOfRows();
  const columns = columnsOf(table);
  const isPrivate = table.name === "private_value";
  for await (const rows of pagesOf(side, { table, after: null })) {
    for (const row of rows) {
      digest.add(
        isPrivate
          ? [...keyOf(table, row), openedText(side.key, row)]
          : columns.map((name) => row[name] ?? null),
      );
    }
  }
  return digest.result();
}

/** The text of a private value. Throws `store_corrupt`. */
export function openedText(key: Uint8Array | null, row: SqlRow): string {
  if (key !== null) return openedRow(key, String(row["run_id"]), row);
  const text = 'there are private values, and the file "key" of the data folder is missing';
  throw new StoreError("store_corrupt", text);
}

export const quoted = (name: string): string => `"${name}"`;
