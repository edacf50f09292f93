/**
 * Moves a store from a folder into PostgreSQL.
 *   M1  The source is read and never written; nobody else writes to it meanwhile.
 *   M2  A move that was aborted, however, goes on where it ended. When the source was written to in between, it begins anew.
 *   M3  No server opens the target before every row was compared.
 */
import { StoreError } from "@millrace/store";
import { openStoreSource, type StoreSource } from "@millrace/store/sql";
import { toStoreError } from "../connect/faults.ts";
import { DIALECT } from "../dialect.ts";
import { composed } from "../sql/statements.ts";
import { type Copying, copyRows, type SourceFacts, startAnew } from "./copy.ts";
import { DigestOfRows, type RowsDigest } from "./digest.ts";
import { type Mark, readMark, writeMark } from "./mark.ts";
import { digestOf, type Side } from "./rows.ts";
import { TABLES } from "./tables.ts";
import { checkEmpty, openTarget, type Target } from "./target.ts";
import type { ComparedTable, MoveOptions, MoveReport, MoveSource, MoveTarget } from "./types.ts";

/**
 * Copies every row of a store into an empty one and compares both. Live runs go on at the new store. Rejects with `StoreError`:
 * `store_locked` (somebody uses the source, or the target), `path_exists` (the target is not empty), `store_wrong_key`,
 * `store_corrupt` (private values do not open), `store_too_new`, `store_unavailable`; `TypeError` for a bad address or key.
 */
export async function moveStore(
  { dir }: MoveSource,
  target: MoveTarget,
  { check = false, signal, progress }: MoveOptions = {},
): Promise<MoveReport> {
  const source = openStoreSource(dir);
  let open: Target | undefined;
  try {
    open = await openTarget(target, check);
    const facts = await factsOf(source);
    const sides = { source, target: open, facts };
    let copied = 0;
    if (!check) {
      copied = await copy({
        ...sides,
        now: Date.now(),
        signal,
        progress: (table, rows) => {
          copied += rows;
          progress?.(table, rows);
        },
      }).then(() => copied);
    }
    const tables = await compare(sides, signal);
    const isEqual = tables.every((each) => each.isEqual);
    if (!check) await end(open, isEqual);
    return { tables, copied, isEqual };
  } catch (error) {
    if (error instanceof TypeError || signal?.aborted === true) throw error;
    throw toStoreError(error, "the store could not be moved");
  } finally {
    source.close();
    await open?.link.close();
  }
}

interface Sides {
  readonly source: Side;
  readonly target: Target;
  readonly facts: SourceFacts;
}

/** Copies what is missing. A move that has come to its end is left alone. */
async function copy(copying: Copying): Promise<void> {
  const { target, facts } = copying;
  const { link, place } = target;
  const first: Mark = {
    ...{ source: facts.id, epoch: facts.epoch, state: "copying", table: 0, after: null },
  };
  let mark = await readMark(link);
  if (mark === undefined) {
    await checkEmpty(target);
    await writeMark(link, first);
    mark = first;
  }
  if (mark.source !== facts.id) {
    const text = `another store was moved to ${place}; choose another database or schema`;
    throw new StoreError("path_exists", text);
  }
  if (mark.state === "done") return;
  if (mark.state === "failed" || mark.epoch !== facts.epoch) {
    await startAnew(target, first);
    mark = first;
  }
  if (mark.state === "copying") await copyRows(copying, mark);
}

/** Writes down how it ended. What was done stays done, whatever servers have written since. */
async function end({ link }: Target, isEqual: boolean): Promise<void> {
  const mark = await readMark(link);
  if (mark === undefined || mark.state === "done") return;
  await writeMark(link, { ...mark, state: isEqual ? "done" : "failed" });
}

async function compare(
  { source, target, facts }: Sides,
  signal: AbortSignal | undefined,
): Promise<ComparedTable[]> {
  const { link, key } = target;
  const other: Side = {
    key,
    lastSeq: DIALECT.lastSeq,
    all: async (sql, values) => (await link.send(composed(sql), values)).rows,
  };
  const tables: ComparedTable[] = [];
  for (const table of TABLES) {
    signal?.throwIfAborted();
    const both = await Promise.all([digestOf(source, table), digestOf(other, table)]);
    tables.push(compared(table.name, ...both));
  }
  const { rows } = await link.send(
    composed("SELECT value, (SELECT pos FROM feed_head) AS pos FROM meta WHERE key = 'cursorKey'"),
  );
  const ours = digestOfMeta(facts.cursorKey, facts.lastPosition);
  const theirs = digestOfMeta(String(rows[0]?.["value"]), Number(rows[0]?.["pos"]));
  return [...tables, compared("meta", ours, theirs)];
}

function compared(table: string, source: RowsDigest, target: RowsDigest): ComparedTable {
  const isEqual = source.rows === target.rows && source.digest === target.digest;
  return { table, source, target, isEqual };
}

/** Digest of the rows that keep the positions of readers valid in the other store. */
function digestOfMeta(cursorKey: string, lastPosition: number): RowsDigest {
  const digest = new DigestOfRows();
  digest.add(["cursorKey", cursorKey]);
  digest.add(["lastPosition", lastPosition]);
  return digest.result();
}

async function factsOf(source: StoreSource): Promise<SourceFacts> {
  const meta = async (key: string): Promise<string> =>
    String((await source.get("SELECT value FROM meta WHERE key = ?", [key]))?.["value"]);
  const last = async (table: string): Promise<number> => {
    const row = await source.get("SELECT seq FROM sqlite_sequence WHERE name = ?", [table]);
    return Number(row?.["seq"] ?? 0);
  };
  return {
    id: await meta("installationId"),
    epoch: Number(await meta("epoch")),
    cursorKey: await meta("cursorKey"),
    lastRun: await last("run"),
    lastPosition: await last("feed"),
  };
}
