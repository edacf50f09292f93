import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { openStore, StoreError } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { appendAll, linesOf, logOf, startRun } from "@millrace/test-support/store";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { chooseDriver } from "../src/sqlite/driver.ts";
import { MIGRATIONS } from "../src/sqlite/schema.ts";
import type { SqliteDb } from "../src/sqlite/sqlite-port.ts";
import { newStore } from "./new-store.ts";

/** Of the same library: connections of two libraries in one process see no locks of each other. */
const openRaw = (path: string): SqliteDb => chooseDriver().open(path);

function raw<T>(path: string, use: (db: SqliteDb) => T): T {
  const db = openRaw(path);
  try {
    return use(db);
  } finally {
    db.close();
  }
}

/** A thread that keeps the database to itself for half a second, as a connection does that closes or recovers. */
function holdAlone(path: string): Promise<Worker> {
  const program = `
    const { parentPort } = require("node:worker_threads");
    const db = new (require(${JSON.stringify(createRequire(import.meta.url).resolve("libsql"))}))(${JSON.stringify(path)});
    db.exec("PRAGMA locking_mode=EXCLUSIVE; BEGIN EXCLUSIVE");
    parentPort.postMessage("held");
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500);
    db.exec("ROLLBACK; PRAGMA locking_mode=NORMAL");
    db.prepare("SELECT count(*) FROM sqlite_master").get([]);
    db.close();`;
  const worker = new Worker(program, { eval: true });
  return new Promise((done) => worker.once("message", () => done(worker)));
}

test("a start waits for another connection that has the database for itself", async () => {
  const dir = temporaryFolder();
  const holder = await holdAlone(join(dir, "millrace.db"));
  const store = await newStore({ dir, driver: "libsql" });
  expect(store.condition).toBe("ok");
  await holder.terminate();
});

describe("a new folder", () => {
  test("is its owner's alone, and so is every file in it", async () => {
    const dir = join(temporaryFolder(), "deep", "data");
    await newStore({ dir, serves: true });
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(dir)) {
      expect([name, statSync(join(dir, name)).mode & 0o777]).toEqual([name, 0o600]);
    }
    expect(JSON.parse(readFileSync(join(dir, "owner.json"), "utf8"))).toMatchObject({
      pid: process.pid,
    });
  });

  test("the database has the pragmas of the design, and the log lies in the write-ahead file", async () => {
    const dir = temporaryFolder();
    const store = await newStore({ dir });
    await appendAll(store.journal, logOf(1));
    raw(join(dir, "millrace.db"), (db) => {
      const pragma = (name: string) => Object.values(db.prepare(`PRAGMA ${name}`).get([]) ?? {})[0];
      expect(pragma("journal_mode")).toBe("wal");
      expect(pragma("page_size")).toBe(8192);
      expect(pragma("auto_vacuum")).toBe(2);
      expect(pragma("application_id")).toBe(0x4d494c4c);
      expect(pragma("user_version")).toBe(MIGRATIONS.length);
      expect(pragma("integrity_check")).toBe("ok");
    });
    expect(statSync(join(dir, "millrace.db-wal")).size).toBeGreaterThan(0);
  });
});

describe("closing", () => {
  test("writes what is queued, leaves an empty write-ahead file, and the folder free", async () => {
    const dir = temporaryFolder();
    const store = await openStore({ dir });
    const { epoch } = await store.journal.create(startRun(1));
    const log = logOf(1);
    const pending = store.journal.append("r1", 0, log, { epoch, sync: false });
    await store.close();
    await pending;
    await store.close();
    expect(existsSync(join(dir, "owner.json"))).toBe(false);
    const wal = join(dir, "millrace.db-wal");
    expect(existsSync(wal) ? statSync(wal).size : 0).toBe(0);
    const again = await newStore({ dir });
    expect(await linesOf(again.journal, "r1")).toHaveLength(log.length);
  });

  test("afterwards every call is refused, and says that it may be tried again", async () => {
    const store = await openStore({ dir: temporaryFolder() });
    await store.close();
    const call = store.journal.create(startRun(1));
    await expect(call).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
    await expect(store.journal.load("r1")).rejects.toMatchObject({ code: "store_unavailable" });
    expect(StoreError.isInstance(await call.catch((error: unknown) => error))).toBe(true);
  });
});

describe("the lock", () => {
  test("a second server is refused, told who is there, and where it can be asked", async () => {
    const dir = temporaryFolder();
    const store = await newStore({ dir, serves: true });
    const refused = (help: string) => ({
      code: "store_locked",
      retryable: false,
      message: expect.stringMatching(
        new RegExp(`served by process ${process.pid} on .*; ${help}$`),
      ),
    });
    await expect(openStore({ dir, serves: true })).rejects.toMatchObject(refused("stop it first"));
    store.announce("http://127.0.0.1:6455");
    await expect(openStore({ dir, serves: true })).rejects.toMatchObject(
      refused("stop it, or talk to it with --server http://127\\.0\\.0\\.1:6455"),
    );
    await newStore({ dir });
  });

  test("a writer that waits too long is told which database it is and who has it; what a run keeps waits on", async () => {
    const dir = temporaryFolder();
    const path = join(dir, "millrace.db");
    const other = await newStore({ dir });
    const store = await newStore({ dir, busyTimeoutMs: 1 });
    const { epoch } = await store.journal.create(startRun(1));
    const db = openRaw(path);
    db.exec("BEGIN IMMEDIATE");
    const kept = [
      store.journal.append("r1", 0, logOf(1), { epoch, sync: true }),
      store.journal.putValue("r1", "k", 1),
      store.journal.putValue("r1", "large", "x".repeat(100_000)),
      store.journal.putValue("r1", "secret", 1, { private: true }),
    ];
    await expect(store.settings.set({ "ai.keepContent": false })).rejects.toMatchObject({
      code: "store_busy",
      retryable: true,
      message: expect.stringMatching(
        new RegExp(`^${path}: .*1 ms \\(process ${process.pid} on .*\\); .*busyTimeoutMs$`),
      ),
    });
    db.exec("ROLLBACK");
    db.close();
    await Promise.all(kept);
    expect(await linesOf(other.journal, "r1")).toHaveLength(logOf(1).length);
  });

  test("readers come in beside the writer, see what is stored, and write nothing", async () => {
    const dir = temporaryFolder();
    const store = await newStore({ dir });
    await appendAll(store.journal, logOf(1));
    const reader = await newStore({ dir, readonly: true });
    expect(await linesOf(reader.journal, "r1")).toEqual(await linesOf(store.journal, "r1"));
    await expect(reader.journal.create(startRun(2))).rejects.toMatchObject({
      code: "store_read_only",
    });
    await expect(reader.journal.putValue("r1", "k", 1, { private: true })).rejects.toMatchObject({
      code: "store_read_only",
    });
  });

  test("there is nothing to read in an empty folder, and nothing is made there", async () => {
    const dir = temporaryFolder();
    await expect(openStore({ dir, readonly: true })).rejects.toMatchObject({
      code: "store_unavailable",
    });
    expect(readdirSync(dir)).toEqual([]);
  });
});

describe("files that are not ours", () => {
  async function closedStore(): Promise<string> {
    const dir = temporaryFolder();
    const store = await openStore({ dir });
    await appendAll(store.journal, logOf(1));
    await store.close();
    return dir;
  }

  test("the database of another program is refused and left as it is", async () => {
    const dir = temporaryFolder();
    const path = join(dir, "millrace.db");
    raw(path, (db) => db.exec("CREATE TABLE theirs(a)"));
    await expect(openStore({ dir })).rejects.toMatchObject({ code: "store_corrupt" });
    raw(path, (db) => db.exec("PRAGMA application_id=77"));
    await expect(openStore({ dir })).rejects.toMatchObject({ code: "store_corrupt" });
    expect(raw(path, (db) => db.prepare("SELECT name FROM sqlite_master").all([]))).toEqual([
      { name: "theirs" },
    ]);
  });

  test("what is no database is refused, and so is its reading", async () => {
    const dir = temporaryFolder();
    writeFileSync(join(dir, "millrace.db"), "x".repeat(20_000));
    for (const n of [9, 10]) writeFileSync(join(dir, `millrace.db.bak-${n}`), "");
    await expect(openStore({ dir })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining(`the newest backup is ${join(dir, "millrace.db.bak-10")}`),
    });
    await expect(openStore({ dir, readonly: true })).rejects.toMatchObject({
      code: "store_corrupt",
    });
    expect(readFileSync(join(dir, "millrace.db"), "utf8")).toBe("x".repeat(20_000));
  });

  test("the file of a newer program is refused, and the folder is free again", async () => {
    const dir = await closedStore();
    const path = join(dir, "millrace.db");
    raw(path, (db) => db.exec("PRAGMA user_version=99"));
    for (const readonly of [false, true]) {
      await expect(openStore({ dir, readonly })).rejects.toMatchObject({
        code: "store_too_new",
        message: expect.stringContaining("version 99"),
      });
    }
    raw(path, (db) => db.exec(`PRAGMA user_version=${MIGRATIONS.length}`));
    const store = await newStore({ dir });
    expect(await linesOf(store.journal, "r1")).toHaveLength(logOf(1).length);
  });

  test("after an unclean end a damaged file is found, named and left as it is", async () => {
    const whole = join(await closedStore(), "millrace.db");
    raw(whole, (db) => {
      db.exec("UPDATE meta SET value = '0' WHERE key = 'cleanShutdown'");
      db.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get([]);
    });
    const bytes = readFileSync(whole).fill(0xa5, 8192 * 3, 8192 * 20);
    const dir = temporaryFolder();
    const path = join(dir, "millrace.db");
    writeFileSync(path, bytes);
    await expect(openStore({ dir })).rejects.toMatchObject({
      code: "store_corrupt",
      message: expect.stringContaining(path),
    });
    expect(readFileSync(path).equals(bytes)).toBe(true);
  });

  test("a write-ahead file that was cut loses its tail and nothing else", async () => {
    const dir = temporaryFolder();
    const store = await openStore({ dir });
    const log = logOf(1);
    const { epoch } = await store.journal.create(startRun(1));
    for (const [index, event] of log.entries()) {
      await store.journal.append("r1", index, [event], { epoch, sync: true });
    }
    // what a crash leaves: the files as they are while the writer lives
    const crashed = temporaryFolder();
    for (const name of ["millrace.db", "millrace.db-wal", "key"]) {
      writeFileSync(join(crashed, name), readFileSync(join(dir, name)));
    }
    await store.close();
    const wal = join(crashed, "millrace.db-wal");
    truncateSync(wal, statSync(wal).size - 5_000);
    const again = await newStore({ dir: crashed });
    const lines = await linesOf(again.journal, "r1");
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThan(log.length);
    expect(lines).toEqual(
      log.slice(0, lines.length).map(({ line }) => new TextDecoder().decode(line)),
    );
    const lease = await again.journal.lease("r1", "b", 1_000);
    await again.journal.append("r1", lines.length, log.slice(lines.length), {
      epoch: lease?.epoch ?? 0,
      sync: true,
    });
  });
});

test("a folder that cannot be written is refused with store_read_only", async () => {
  const dir = temporaryFolder();
  await (await openStore({ dir })).close();
  if (process.getuid?.() !== 0) {
    chmodSync(dir, 0o500);
    onTestFinished(() => chmodSync(dir, 0o700));
    await expect(openStore({ dir })).rejects.toMatchObject({ code: "store_read_only" });
    return;
  }
  // permissions do not stop root; a file in the place of the folder stops everybody
  const file = join(dir, "a-file");
  writeFileSync(file, "");
  await expect(openStore({ dir: join(file, "data") })).rejects.toMatchObject({
    code: expect.stringMatching(/^store_(read_only|unavailable)$/),
  });
});

describe("the driver", () => {
  test("MILLRACE_SQLITE names it; another name is refused", async () => {
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("MILLRACE_SQLITE", "libsql");
    await newStore();
    vi.stubEnv("MILLRACE_SQLITE", "oracle");
    await expect(openStore({ dir: temporaryFolder() })).rejects.toMatchObject({
      code: "store_unavailable",
      message: expect.stringContaining("oracle"),
    });
  });
});

test("an owner of an earlier opening is fenced off; a run that it held is free at once", async () => {
  const dir = temporaryFolder();
  const first = await openStore({ dir });
  const { epoch } = await first.journal.create(startRun(1));
  await first.close();
  const store = await newStore({ dir });
  const lease = await store.journal.lease("r1", "b", 30_000);
  expect(lease?.epoch).toBeGreaterThan(epoch);
  const append = store.journal.append("r1", 0, logOf(1), { epoch, sync: true });
  await expect(append).rejects.toMatchObject({ code: "lease_lost", retryable: false });
  expect(await linesOf(store.journal, "r1")).toEqual([]);
});

test("a store that is disposed is closed: another may have its folder", async () => {
  const dir = temporaryFolder();
  const store = await openStore({ dir });
  await store[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  const other = await openStore({ dir });
  await other.close();
});
