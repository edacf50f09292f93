/**
 * Writes transactions.
 *   W1  What was acknowledged is committed, once, whatever becomes of the connection meanwhile.
 *   W2  An append is sent with its COMMIT at once. When its fate is unknown it is sent again: the owner check refuses it if it was
 *       stored, and then the stored lines say so.
 *   W3  Any other transaction tells its number before its COMMIT is sent. When that is cut, PostgreSQL is asked what became of it.
 */

import { setTimeout as sleep } from "node:timers/promises";
import type { OpResult, SqlWriter } from "@millrace/store/sql";
import { away, type Fault, faultOf, isRefusal, toStoreError } from "../connect/faults.ts";
import type { Links } from "../connect/links.ts";
import type { Presence } from "../connect/presence.ts";
import { createBatches } from "./batches.ts";
import { fateOf, isStored } from "./fate.ts";
import { Cut, append as sendAppend, transact } from "./transaction.ts";
import { type Unit, unitOf } from "./unit.ts";

export interface WriterParts {
  readonly links: Links;
  readonly presence: Presence;
  /** How many transactions are at work at one time. */
  readonly max: number;
  /** How long a write waits for a database that is away. */
  readonly patienceMs: number;
  /** Called with the topics of what was committed. */
  readonly told: (topics: readonly string[]) => void;
}

/** How often a transaction is tried that loses against others. */
const MAX_TRIES = 8;
const AGAIN_MS = 5; // then twice as long each time
const FULL_MS = 1_000;
const MAX_WAITING_BYTES = 67_108_864; // more would only fill the memory

export function createWriter(parts: WriterParts): SqlWriter {
  const { links, presence, max, patienceMs, told } = parts;
  const deadline = (): number => performance.now() + patienceMs;
  const append = createBatches({
    links,
    max,
    alone: (unit, wasSent) => written(unit, { wasSent, deadline: deadline() }),
  });
  let waitingBytes = 0;

  return {
    async write(ops, { quiet = false, topics = [] } = {}) {
      const unit = unitOf(ops, { quiet });
      if (presence.condition === "store_unavailable") {
        // runs wait for their appends; new writes are refused at once
        if (!unit.isAppend || waitingBytes + unit.bytes > MAX_WAITING_BYTES) throw away();
      }
      waitingBytes += unit.bytes;
      try {
        const results = unit.isAppend
          ? await append(unit)
          : await written(unit, { wasSent: false, deadline: deadline() });
        presence.drain();
        if (topics.length > 0) told(topics);
        return quiet || results === undefined ? [] : results;
      } finally {
        waitingBytes -= unit.bytes;
      }
    },
  };

  /** Tries until it is known what became of it, or until the deadline. `wasSent`: an earlier try may have been committed. */
  async function written(
    unit: Unit,
    { wasSent: before, deadline: end }: { readonly wasSent: boolean; readonly deadline: number },
  ): Promise<readonly OpResult[]> {
    const asked = { links, presence, deadline: end };
    let wasSent = before;
    for (let tries = 1; ; tries += 1) {
      try {
        const link = await links.pick();
        return await link.exclusively((leave) =>
          unit.isAppend ? sendAppend(unit, link, leave) : transact(unit, link),
        );
      } catch (error) {
        if (error instanceof Cut && error.number !== undefined) {
          if ((await fateOf(error.number, asked)) === "committed") return error.results;
        } else if (error instanceof Cut) wasSent = true;
        else if (isRefusal(error)) {
          if (wasSent && (await isStored(unit.ops, asked))) return [];
          throw error;
        }
        await pauseAfter(error, { unit, tries, deadline: end });
        if (!(await presence.isBack(end))) throw away();
      }
    }
  }

  /** Waits until a failed transaction is to be tried again; throws when it is not. */
  async function pauseAfter(
    error: unknown,
    { unit, tries, deadline: end }: { unit: Unit; tries: number; deadline: number },
  ): Promise<void> {
    const fault: Fault = error instanceof Cut ? "cut" : faultOf(error);
    const isRepeated =
      fault === "cut" ||
      (fault === "full" && unit.isAppend) ||
      (fault === "again" && tries < MAX_TRIES);
    if (fault === "full") presence.fill();
    const ms =
      fault === "full" ? FULL_MS : AGAIN_MS * 2 ** Math.min(tries, MAX_TRIES) * Math.random();
    if (!isRepeated || performance.now() + ms > end) {
      throw error instanceof Cut ? away() : toStoreError(error, "the store cannot be written");
    }
    await sleep(ms);
  }
}
