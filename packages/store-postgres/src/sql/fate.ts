/** Finds out whether a transaction was committed whose connection was cut. */
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { StoreError } from "@millrace/store";
import type { Op, SqlRow, SqlValue } from "@millrace/store/sql";
import { faultOf, toStoreError } from "../connect/faults.ts";
import type { Links } from "../connect/links.ts";
import type { Presence } from "../connect/presence.ts";
import { type Prepared, prepared } from "./statements.ts";

/** Where to ask, and until when (by `performance.now()`). */
export interface Asked {
  readonly links: Links;
  readonly presence: Presence;
  readonly deadline: number;
}

const FATE = prepared("SELECT pg_xact_status(?::xid8) AS fate");
const STORED = prepared(
  "SELECT count(*) AS lines FROM unnest(?::bigint[], ?::text[]) AS e(seq, digest) " +
    "JOIN journal j ON j.run = ? AND j.seq = e.seq AND encode(sha256(j.line), 'hex') = e.digest",
);
const PAUSE_MS = 100;

/** Asks PostgreSQL, until it knows: the session that was cut may still be at work. Throws `store_unavailable` at the deadline. */
export async function fateOf(number: string, asked: Asked): Promise<"committed" | "aborted"> {
  for (;;) {
    const fate = (await rowOf(FATE, [number], asked))?.["fate"];
    if (fate === "committed") return fate;
    if (fate !== "in progress") return "aborted";
    if (performance.now() > asked.deadline) throw unknown();
    await sleep(PAUSE_MS);
  }
}

/** Whether all lines of a transaction are in the log as they were sent. */
export async function isStored(ops: readonly Op[], asked: Asked): Promise<boolean> {
  for (const { lines } of ops) {
    if (lines === undefined) continue;
    const { run, events } = lines;
    const seqs = `{${events.map(({ seq }) => seq).join(",")}}`;
    const hashes = events.map(({ line }) => createHash("sha256").update(line).digest("hex"));
    const digests = `{${hashes.join(",")}}`;
    const row = await rowOf(STORED, [seqs, digests, run], asked);
    if (row?.["lines"] !== events.length) return false;
  }
  return true;
}

/** A row, through connections that are cut. */
async function rowOf(
  statement: Prepared,
  values: readonly SqlValue[],
  { links, presence, deadline }: Asked,
): Promise<SqlRow | undefined> {
  while (await presence.isBack(deadline)) {
    try {
      const link = await links.pick();
      return (await link.use(() => link.send(statement, values))).rows[0];
    } catch (error) {
      if (faultOf(error) !== "cut") throw toStoreError(error, "the store cannot be read");
      await sleep(PAUSE_MS);
    }
    if (performance.now() > deadline) break;
  }
  throw unknown();
}

function unknown(): StoreError {
  return new StoreError(
    "store_unavailable",
    "the database is away; whether the last change was stored is not known",
  );
}
