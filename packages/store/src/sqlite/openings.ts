/** The rows of a file about its openings. An opening is alive while its lock is held. */
import { isOpen, sayOpening, thisProcess } from "../lock.ts";
import type { Opening } from "../sql/port.ts";
import type { Reader } from "./reader.ts";
import type { SqliteDb, SqliteDriver, SqlRow } from "./sqlite-port.ts";

/** Numbers of runs that an opening takes at once. */
export const RUN_NUMBERS = 256;

/** Takes the next numbers of runs; one row, `seq`, the last of them. */
export const TAKE_NUMBERS: string = `UPDATE sqlite_sequence SET seq = seq + ${RUN_NUMBERS} WHERE name = 'run' RETURNING seq`;

/**
 * Writes an opening to the file, in place of dead ones. `alive`: the live ones. Answers the first of its numbers of
 * runs.
 */
export function enterFile(
  db: SqliteDb,
  { id, alive }: { readonly id: string; readonly alive: readonly string[] },
): number {
  const kept = alive.map(() => "?").join(", ");
  db.prepare(`DELETE FROM opening WHERE id NOT IN (${kept})`).run(alive);
  const { pid, host, startedAt } = thisProcess();
  const opening = [id, pid, host, startedAt];
  db.prepare("INSERT INTO opening(id, pid, host, started_at) VALUES(?, ?, ?, ?)").run(opening);
  db.exec(
    "INSERT INTO sqlite_sequence(name, seq) SELECT 'run', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'run')",
  );
  return firstNumber(db.prepare(TAKE_NUMBERS).get([]));
}

export function firstNumber(row: SqlRow | undefined): number {
  return Number(row?.["seq"]) - RUN_NUMBERS + 1;
}

/** Access to the openings of a file. */
export interface OpeningsPlace {
  readonly driver: SqliteDriver;
  readonly dir: string;
  readonly reader: Reader;
}

/** The opening with a name; null: its process is gone. */
export function openingOf({ driver, dir, reader }: OpeningsPlace, id: string): Opening | null {
  const row = reader.get("SELECT * FROM opening WHERE id = ?", [id]);
  return row === undefined || !isOpen(driver, dir, id) ? null : ofRow(row);
}

/** All live openings but one, for people; "" for none. */
export function sayOthers(place: OpeningsPlace, own: string): string {
  const { driver, dir, reader } = place;
  return reader
    .all("SELECT * FROM opening WHERE id <> ?", [own])
    .filter(({ id }) => isOpen(driver, dir, String(id)))
    .map((row) => sayOpening(ofRow(row)))
    .join("; ");
}

function ofRow({ pid, host, started_at: startedAt }: SqlRow): Opening {
  return { pid: Number(pid), host: String(host), startedAt: String(startedAt) };
}
