/**
 * The thread that owns the only write connection. Plain JavaScript, so that it runs from the sources as well.
 *   T1  A unit is written whole or not at all; what it did is told only after its COMMIT.
 *   T2  One COMMIT takes what is queued (group commit); a unit that fails takes no other with it.
 *   T3  When the disk is full, units wait and are tried again; after any other failure of a COMMIT nothing is written any more.
 * In:  { units: [{ id, sync, bytes, records, ops: [{ sql, rows, need?, get? } | { lines }] }] } or { close: true }.
 * Out: { done: [{ id, results } | { id, code, message }] }, { condition }.
 */
import { rmSync, writeFileSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";
import { faultOf, findDriver } from "./sqlite.js";
import { createUnits } from "./units.js";

const MAX_RECORDS = 1024; // of one COMMIT: the first of them does not wait for ever
const MAX_BYTES = 1_048_576;
const RELAXED_MS = 10; // what nobody waits for is stored this late at most
const RELAXED_RECORDS = 256;
const CHECKPOINT_BYTES = 8_388_608;
const COMMIT_BYTES = 32_768; // what a COMMIT adds to the WAL besides its rows: a few pages
const IDLE_MS = 5_000;
const FULL_FIRST_MS = 1_000;
const FULL_MAX_MS = 30_000;

const { path, driver, pragmas, reserve, reserveBytes } = workerData;
const db = findDriver(driver).open(path);
db.exec(pragmas);
const { perform, performApart } = createUnits(db);
const begin = db.prepare("BEGIN IMMEDIATE");
const commitStatement = db.prepare("COMMIT");
const rollback = db.prepare("ROLLBACK");

let queue = [];
let isScheduled = false;
let relaxed;
let idle;
let retry;
let walBytes = 0;
let fullMs = 0;
let closing = false;
let isDead = false;

parentPort.on("message", (message) => {
  if (message.close) {
    closing = true;
    if (fullMs > 0) refuseAll("store_full", "the disk is full and the store is closing");
    if (queue.length === 0) end();
    else schedule();
    return;
  }
  queue.push(...message.units);
  if (isDead) {
    refuseAll("store_unavailable", "the writer has ended");
    return;
  }
  if (fullMs > 0) return;
  if (message.units.some(({ sync }) => sync) || recordsOf(queue) >= RELAXED_RECORDS) schedule();
  else relaxed ??= setTimeout(schedule, RELAXED_MS);
});

function schedule() {
  clearTimeout(relaxed);
  relaxed = undefined;
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(commit);
}

function commit() {
  isScheduled = false;
  clearTimeout(idle);
  const batch = take();
  if (batch.length === 0) return;
  let done;
  try {
    done = written(batch);
  } catch (error) {
    failed(error, batch);
    return;
  }
  if (fullMs > 0) roomAgain();
  parentPort.postMessage({ done });
  walBytes += COMMIT_BYTES + bytesOf(batch);
  if (walBytes >= CHECKPOINT_BYTES) checkpoint("PASSIVE");
  if (queue.length > 0) schedule();
  else if (closing) end();
  else idle = setTimeout(() => checkpoint("PASSIVE"), IDLE_MS);
}

/** Refusals are rare: only a batch that has one is written again, with a savepoint for each unit. */
function written(batch) {
  begin.run([]);
  const done = [];
  for (const unit of batch) {
    const answer = perform(unit);
    done.push(answer);
    if (!("code" in answer)) continue;
    rollback.run([]);
    if (batch.length === 1) return done;
    begin.run([]);
    const again = batch.map(performApart);
    commitStatement.run([]);
    return again;
  }
  commitStatement.run([]);
  return done;
}

function take() {
  let records = 0;
  let bytes = 0;
  let count = 0;
  for (const unit of queue) {
    records += unit.records;
    bytes += unit.bytes;
    if (count > 0 && (records > MAX_RECORDS || bytes > MAX_BYTES)) break;
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
  if (fault === "FULL" && !closing) {
    queue = [...batch, ...queue];
    if (fullMs === 0) {
      rmSync(reserve, { force: true }); // room for cancels and summaries
      parentPort.postMessage({ condition: "store_full" });
    }
    fullMs = Math.min(fullMs === 0 ? FULL_FIRST_MS : fullMs * 2, FULL_MAX_MS);
    retry = setTimeout(schedule, fullMs);
    return;
  }
  queue = [...batch, ...queue];
  const code =
    fault === "FULL"
      ? "store_full"
      : fault === "READONLY"
        ? "store_read_only"
        : "store_unavailable";
  isDead = true; // after a failed sync the kernel may have dropped the pages: this connection is never used again
  parentPort.postMessage({ condition: code });
  refuseAll(code, `the store cannot be written: ${error.message}`);
  if (closing) end();
}

function roomAgain() {
  fullMs = 0;
  parentPort.postMessage({ condition: "ok" });
  try {
    writeFileSync(reserve, Buffer.alloc(reserveBytes), { mode: 0o600 });
  } catch {
    rmSync(reserve, { force: true }); // half a reserve takes room and helps nobody
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
  clearTimeout(idle);
  clearTimeout(retry);
  clearTimeout(relaxed);
  if (!isDead) {
    try {
      db.exec("UPDATE meta SET value = '1' WHERE key = 'cleanShutdown'");
      checkpoint("TRUNCATE");
    } catch {
      // the next start finds an unclean end and checks the file
    }
  }
  db.close();
  parentPort.close();
}
