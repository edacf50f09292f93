/**
 * The thread that owns the only write connection. Plain JavaScript, so that it runs from the sources as well.
 *   T1  A unit is written whole or not at all; its result is sent only after its COMMIT.
 *   T2  One COMMIT writes all queued units (group commit), and the parts of one turn of the main thread that come faster than a COMMIT
 *       is done; a failed unit does not affect the others.
 *   T3  When the disk is full, the reserve is deleted to make room for what is at work, and units wait and are tried again. The
 *       store is full until there is room for the reserve again.
 *   T4  While another process writes, units wait for `busy_timeout` of the pragmas. Then what a live run keeps waits on, its events and
 *       its values, because a run that loses them fails; anything else is refused.
 *   T5  After any other failure of a COMMIT nothing is written any more.
 * In:  the units of `packed-units.ts` with `more`: others of the same turn follow, and `partMs`: milliseconds since the part before, null for
 *      the first one of a turn; or { close: true }.
 * Out: { ready: true } once the file is open, with { condition } where the disk is full already; then { done: [id | { id, results } | { id, code, message }] }, { condition }, and
 *      { changed: true } when another process has written.
 */
import { existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { faultOf, findDriver } from "../sqlite/sqlite.js";
import { createUnits, createUnpacker } from "./units.js";

const MAX_RECORDS = 1024; // of one COMMIT: the first of them does not wait for ever
const MAX_BYTES = 1_048_576;
const RELAXED_MS = 10; // longest delay of a write that is not awaited
const RELAXED_RECORDS = 256;
const SLOW_MS = 0.6; // a COMMIT that takes so long is worth waiting for what follows at once
const FOLLOWS_MS = 1; // longest wait for the rest of a turn
const ANSWERED_AT_ONCE = 32; // units: what goes on comes back and is written while the others go on
const CHECKPOINT_BYTES = 8_388_608;
const COMMIT_BYTES = 32_768; // what a COMMIT adds to the WAL besides its rows: a few pages
const IDLE_MS = 5_000;
const FULL_FIRST_MS = 1_000;
const FULL_MAX_MS = 30_000;
const LOOK_MS = 250; // between two looks for what others have written
const SPARE_BYTES = 1_048_576; // free beside the reserve, or the next COMMIT would take it away again

/** Where no other process has the file open. */
const CLEAN_END =
  "UPDATE meta SET value = '1' WHERE key = 'cleanShutdown' AND NOT EXISTS (SELECT 1 FROM opening)";

/** All that a unit has which keeps a value of a live run; the creation of a run with private inputs has more, and its caller is told. */
const KEEPS = /^INSERT INTO (?:step_value|private_value|blob|run_blob)\(/;

const { path, driver, pragmas, reserve, reserveBytes, opening } = workerData;
const db = opened();
const { performTogether, performApart } = createUnits(db, { bindsSlowly: driver === "libsql" });
const unpack = createUnpacker();
const begin = db.prepare("BEGIN IMMEDIATE");
const commitStatement = db.prepare("COMMIT");
const rollback = db.prepare("ROLLBACK");
const version = db.prepare("PRAGMA data_version");

let queue = [];
const units = []; // of the open transaction
let answers = []; // to them
let follows = false; // the rest of a turn is on its way
let isScheduled = false;
let relaxed;
let idle;
let retry;
let refill;
let commitMs = 0; // of the last one
let partMs = 0; // that the main thread takes from one part of a turn to the next
let walBytes = 0;
let isFull = workerData.isFull;
let waitMs = 0; // until what could not be written is tried again; 0: nothing waits
let refillMs = FULL_FIRST_MS;
let closing = false;
let isDead = false;
let seen = versionNow();
const looks = setInterval(look, LOOK_MS);
looks.unref();

parentPort.on("message", (message) => {
  if (message.close) {
    closing = true;
    if (waitMs > 0) refuseAll("store_full", "the disk is full and the store is closing");
    if (queue.length + units.length === 0) end();
    else schedule();
    return;
  }
  follows = message.more;
  partMs = message.partMs ?? partMs;
  const fresh = unpack(message);
  queue.push(...fresh);
  if (isDead) {
    refuseAll("store_unavailable", "the writer has ended");
    return;
  }
  if (waitMs > 0) return;
  const isOfTurn = follows || units.length > 0;
  if (isOfTurn || fresh.some(({ sync }) => sync) || recordsOf(queue) >= RELAXED_RECORDS) schedule();
  else if (queue.length > 0) relaxed ??= setTimeout(schedule, RELAXED_MS);
});

if (isFull) refill = setTimeout(takeReserve, refillMs);
parentPort.postMessage({ ready: true, ...(isFull && { condition: "store_full" }) });

/** The errors of libsql are no `Error` to the thread that started this one: only their text crosses. */
function opened() {
  try {
    const file = findDriver(driver).open(path);
    file.exec(pragmas);
    return file;
  } catch (error) {
    throw new Error(`${error.code ?? "error"}: ${error.message}`);
  }
}

/** It rises with each COMMIT of another connection, and not with those of this one. */
function versionNow() {
  try {
    return version.get([]).data_version;
  } catch {
    return seen; // the next look is soon
  }
}

function look() {
  const now = versionNow();
  if (now !== seen) parentPort.postMessage({ changed: true });
  seen = now;
}

function schedule() {
  clearTimeout(relaxed);
  relaxed = undefined;
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(commit);
}

/** Where a COMMIT is slow it waits for what follows at once. */
function scheduleMore() {
  if (commitMs <= SLOW_MS) return schedule();
  clearTimeout(relaxed);
  relaxed = setTimeout(schedule, FOLLOWS_MS);
}

/** Writes what is queued, and commits it unless the rest of its turn follows sooner than a COMMIT is done. */
function commit() {
  isScheduled = false;
  clearTimeout(relaxed); // what it waits for is written now, or tried again later
  relaxed = undefined;
  const batch = take();
  if (batch.length + units.length === 0) return;
  clearTimeout(idle);
  try {
    write(batch);
    if (follows && queue.length === 0 && !closing && commitMs >= partMs) {
      relaxed = setTimeout(followNoMore, FOLLOWS_MS);
      return;
    }
    const begun = performance.now();
    commitStatement.run([]);
    commitMs = performance.now() - begun;
  } catch (error) {
    failed(error, units.splice(0));
    return;
  }
  const written = units.splice(0);
  waitMs = 0;
  if (isFull) takeReserve();
  for (let at = 0; at < answers.length; at += ANSWERED_AT_ONCE) {
    parentPort.postMessage({ done: answers.slice(at, at + ANSWERED_AT_ONCE).map(shortened) });
  }
  walBytes += COMMIT_BYTES + bytesOf(written);
  if (walBytes >= CHECKPOINT_BYTES) checkpoint("PASSIVE");
  // those that have their answers may go on
  if (queue.length > 0) scheduleMore();
  else if (closing) end();
  else idle = setTimeout(() => checkpoint("PASSIVE"), IDLE_MS);
}

function followNoMore() {
  follows = false;
  schedule();
}

/** Refusals are rare: only a transaction that has one is written again, with a savepoint for each unit. */
function write(batch) {
  const isFirst = units.length === 0;
  units.push(...batch);
  if (isFirst) {
    begin.run([]);
    answers = [];
  }
  const more = performTogether(batch);
  if (more !== undefined) {
    answers.push(...more);
    return;
  }
  rollback.run([]);
  begin.run([]);
  answers = units.map(performApart);
}

/** An answer that says no more than that its unit is written is the number of the unit. */
function shortened(answer) {
  return "results" in answer || "code" in answer ? answer : answer.id;
}

function take() {
  let records = recordsOf(units);
  let bytes = bytesOf(units);
  let count = 0;
  for (const unit of queue) {
    records += unit.records;
    bytes += unit.bytes;
    if (count + units.length > 0 && (records > MAX_RECORDS || bytes > MAX_BYTES)) break;
    count += 1;
  }
  return queue.splice(0, count);
}

function failed(error, batch) {
  try {
    db.exec("ROLLBACK");
  } catch {
    // SQLite has rolled back already
  }
  const fault = faultOf(error);
  if (fault === "BUSY") {
    waitOn(batch, error);
    return;
  }
  if (fault === "FULL" && !closing) {
    queue = [...batch, ...queue];
    if (!isFull) {
      isFull = true;
      parentPort.postMessage({ condition: "store_full" });
    }
    const hadReserve = existsSync(reserve);
    rmSync(reserve, { force: true }); // room for what is at work, for cancels and summaries
    clearTimeout(refill);
    clearTimeout(retry);
    waitMs = hadReserve ? 1 : Math.min(Math.max(waitMs * 2, FULL_FIRST_MS), FULL_MAX_MS);
    retry = setTimeout(schedule, waitMs);
    return;
  }
  queue = [...batch, ...queue];
  const code =
    fault === "FULL"
      ? "store_full"
      : fault === "READONLY"
        ? "store_read_only"
        : "store_unavailable";
  clearTimeout(refill);
  isDead = true; // after a failed sync the kernel may have dropped the pages: this connection is never used again
  parentPort.postMessage({ condition: code });
  refuseAll(code, `the store cannot be written: ${error.message}`);
  if (closing) end();
}

/** Other processes have written for as long as anybody waits. */
function waitOn(batch, error) {
  const isOfRun = ({ ops }) =>
    !closing &&
    (ops.some(({ lines }) => lines !== undefined) || ops.every(({ sql = "" }) => KEEPS.test(sql)));
  const refused = batch.filter((unit) => !isOfRun(unit));
  const done = refused.map((unit) => refusal(unit, "store_busy", error.message));
  parentPort.postMessage({ done });
  queue = [...batch.filter(isOfRun), ...queue];
  if (queue.length > 0) schedule();
  else if (closing) end();
}

/** Takes the reserve back when there is room for it, which ends the full disk; else looks again later. */
function takeReserve() {
  clearTimeout(refill);
  try {
    const { bavail, bsize } = statfsSync(dirname(reserve));
    if (bavail * bsize < reserveBytes + SPARE_BYTES) throw new Error("no room");
    writeFileSync(reserve, Buffer.alloc(reserveBytes), { mode: 0o600 });
    isFull = false;
    refillMs = FULL_FIRST_MS;
    parentPort.postMessage({ condition: "ok" });
  } catch {
    rmSync(reserve, { force: true }); // half a reserve is of no use
    refill = setTimeout(takeReserve, refillMs);
    refillMs = Math.min(refillMs * 2, FULL_MAX_MS);
  }
}

function refuseAll(code, message) {
  parentPort.postMessage({ done: queue.splice(0).map((unit) => refusal(unit, code, message)) });
}

const refusal = ({ id }, code, message) => ({ id, code, message });
const recordsOf = (units) => units.reduce((sum, { records }) => sum + records, 0);
const bytesOf = (units) => units.reduce((sum, { bytes }) => sum + bytes, 0);

function checkpoint(mode) {
  walBytes = 0;
  try {
    db.prepare(`PRAGMA wal_checkpoint(${mode})`).get([]);
  } catch {
    // the WAL stays as it is, which is whole; the next COMMIT says what is wrong
  }
}

function end() {
  clearInterval(looks);
  clearTimeout(idle);
  clearTimeout(retry);
  clearTimeout(refill);
  clearTimeout(relaxed);
  if (!isDead) {
    try {
      db.prepare("DELETE FROM opening WHERE id = ?").run([opening]);
      const { changes: isLast } = db.prepare(CLEAN_END).run([]);
      checkpoint(isLast === 1 ? "TRUNCATE" : "PASSIVE");
    } catch {
      // the next start finds an unclean end and checks the file
    }
  }
  db.close();
  parentPort.close();
}
