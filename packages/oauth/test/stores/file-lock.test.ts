import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { OAuthError } from "@millrace/oauth";
import { fileLock } from "@millrace/oauth/store/file";
import { temporaryFolder } from "@millrace/test-support/folder";
import { afterEach, expect, test, vi } from "vitest";
import { startChild } from "./child.ts";

const NOW = { timeoutMs: 0 };
const SOON = { timeoutMs: 30_000 };

afterEach(() => vi.useRealTimers());

test("one owner has the lock; another gets it after the release", async () => {
  const lock = fileLock({ dir: temporaryFolder() });
  const first = await lock.acquire("service:a", NOW);
  let isSecond = false;
  const second = lock.acquire("service:a", SOON).then((held) => {
    isSecond = true;
    return held;
  });
  await expect(lock.acquire("service:a", NOW)).rejects.toMatchObject({ reason: "lock_timeout" });
  expect(isSecond).toBe(false);
  await first.release();
  await (await second).release();
});

test("a pipe in the place of the lock keeps nobody longer than the limit", async () => {
  const dir = temporaryFolder();
  const name = `${createHash("sha256").update("service:a").digest("hex")}.lock`;
  expect(spawnSync("mkfifo", [join(dir, name)]).status).toBe(0);
  await expect(fileLock({ dir }).acquire("service:a", { timeoutMs: 100 })).rejects.toMatchObject({
    kind: "Credential",
    reason: "lock_timeout",
  });
});

test("keys do not wait for each other", async () => {
  const lock = fileLock({ dir: temporaryFolder() });
  const a = await lock.acquire("service:a", NOW);
  const b = await lock.acquire("service:b", NOW);
  expect([await a.held(), await b.held()]).toEqual([true, true]);
  await Promise.all([a.release(), b.release()]);
});

test("the folder is made, the file is named by the hash of the key, and only its owner reads it", async () => {
  const dir = join(temporaryFolder(), "data", "locks");
  const held = await fileLock({ dir }).acquire("service:a", NOW);
  const name = `${createHash("sha256").update("service:a").digest("hex")}.lock`;
  expect(readdirSync(dir)).toEqual([name]);
  expect(statSync(join(dir, name)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(dir, name), "utf8"))).toEqual({
    pid: process.pid,
    host: hostname(),
    nonce: expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
  await held.release();
  expect(readdirSync(dir)).toEqual([]);
});

test("a lock that is not free in time is a Credential error that may be tried again", async () => {
  const lock = fileLock({ dir: temporaryFolder() });
  const held = await lock.acquire("k", NOW);
  const error = await lock.acquire("k", { timeoutMs: 60 }).catch((e: unknown) => e);
  expect(OAuthError.isInstance(error, "Credential")).toBe(true);
  expect(error).toMatchObject({ reason: "lock_timeout", retryable: true });
  expect(String(error)).toBe(
    "OAuthError: credential store: the lock was not free within 0.06 s. Another process holds it; try again.",
  );
  await held.release();
});

test("a wait that is aborted rejects with the reason and takes nothing", async () => {
  const dir = temporaryFolder();
  const lock = fileLock({ dir });
  const held = await lock.acquire("k", NOW);
  const controller = new AbortController();
  const waiting = lock.acquire("k", { ...SOON, signal: controller.signal });
  const reason = new Error("enough");
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await held.release();
  await expect(lock.acquire("k", { ...NOW, signal: controller.signal })).rejects.toBe(reason);
  expect(readdirSync(dir)).toEqual([]);
});

test.each([Number.NaN, -1])("a wait of %s ms is a mistake of the caller", async (timeoutMs) => {
  const lock = fileLock({ dir: temporaryFolder() });
  await expect(lock.acquire("k", { timeoutMs })).rejects.toBeInstanceOf(RangeError);
});

test("a folder that cannot be written is a Credential error", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  await expect(fileLock({ dir: join(file, "locks") }).acquire("k", NOW)).rejects.toMatchObject({
    kind: "Credential",
    reason: "unavailable",
  });
});

test("the lock of a process that was killed is free", async () => {
  const dir = temporaryFolder();
  const child = startChild("hold-lock.mjs", [dir, "service:a"]);
  await child.firstOutput;
  const lock = fileLock({ dir });
  await expect(lock.acquire("service:a", NOW)).rejects.toMatchObject({ reason: "lock_timeout" });
  await child.kill();
  const held = await lock.acquire("service:a", SOON);
  expect(await held.held()).toBe(true);
  await held.release();
});

test("what another machine left is free a minute after its last touch, and not before", async () => {
  const dir = temporaryFolder();
  const path = lockFile(dir, "k");
  const foreign = JSON.stringify({ pid: 2 ** 22, host: "elsewhere", nonce: "n" });
  writeFileSync(path, foreign);
  const lock = fileLock({ dir });
  touch(path, 50_000);
  await expect(lock.acquire("k", { timeoutMs: 100 })).rejects.toMatchObject({
    reason: "lock_timeout",
  });
  expect(readFileSync(path, "utf8")).toBe(foreign);
  touch(path, 61_000);
  const held = await lock.acquire("k", SOON);
  expect(await held.held()).toBe(true);
  await held.release();
});

test.each(["", "{", "[]", '{"pid":"x","host":1}'])(
  "a lock file that says %j is one that was never finished: free after a minute",
  async (text) => {
    const dir = temporaryFolder();
    const path = lockFile(dir, "k");
    writeFileSync(path, text);
    const lock = fileLock({ dir });
    await expect(lock.acquire("k", NOW)).rejects.toMatchObject({ reason: "lock_timeout" });
    touch(path, 61_000);
    await (await lock.acquire("k", SOON)).release();
    expect(readdirSync(dir)).toEqual([]);
  },
);

test("who slept for a minute loses the lock, learns it, and does not take it from the next owner", async () => {
  const dir = temporaryFolder();
  const lock = fileLock({ dir });
  const sleeper = await lock.acquire("k", NOW);
  touch(lockFile(dir, "k"), 61_000);
  const thief = await lock.acquire("k", SOON);
  expect([await sleeper.held(), await thief.held()]).toEqual([false, true]);
  await sleeper.release();
  expect(await thief.held()).toBe(true);
  await thief.release();
  expect([await thief.held(), existsSync(lockFile(dir, "k"))]).toEqual([false, false]);
});

test("many who find a stale lock at once: one of them has it", async () => {
  const dir = temporaryFolder();
  writeFileSync(lockFile(dir, "k"), "");
  touch(lockFile(dir, "k"), 61_000);
  let owners = 0;
  let most = 0;
  const work = async () => {
    const held = await fileLock({ dir }).acquire("k", { timeoutMs: 50_000 });
    most = Math.max(most, ++owners);
    expect(await held.held()).toBe(true);
    owners--;
    await held.release();
  };
  await Promise.all(Array.from({ length: 20 }, work));
  expect([owners, most]).toEqual([0, 1]);
  expect(readdirSync(dir)).toEqual([]);
});

test("a thief that died in the act delays others for a minute, not for ever", async () => {
  const dir = temporaryFolder();
  for (const name of [lockFile(dir, "k"), `${lockFile(dir, "k")}.thief`]) {
    writeFileSync(name, "");
    touch(name, 61_000);
  }
  await (await fileLock({ dir }).acquire("k", SOON)).release();
  expect(readdirSync(dir)).toEqual([]);
});

test("an owner touches its lock every ten seconds", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const dir = temporaryFolder();
  const held = await fileLock({ dir }).acquire("k", NOW);
  const path = lockFile(dir, "k");
  const ageMs = () => Date.now() - statSync(path).mtimeMs;
  touch(path, 59_000);
  vi.advanceTimersByTime(9_999);
  expect(ageMs()).toBeGreaterThan(50_000);
  vi.advanceTimersByTime(1);
  await expect.poll(ageMs).toBeLessThan(50_000);
  await held.release();
  expect(vi.getTimerCount()).toBe(0);
});

test("four processes under one lock lose nothing", async () => {
  const dir = temporaryFolder();
  const counter = join(dir, "counter");
  writeFileSync(counter, "0");
  const children = Array.from({ length: 4 }, () =>
    startChild("count-under-lock.mjs", [join(dir, "locks"), counter, "10"]),
  );
  expect(await Promise.all(children.map(({ exitCode }) => exitCode))).toEqual([0, 0, 0, 0]);
  expect(readFileSync(counter, "utf8")).toBe("40");
});

function lockFile(dir: string, key: string): string {
  return join(dir, `${createHash("sha256").update(key).digest("hex")}.lock`);
}

function touch(path: string, agoMs: number): void {
  const at = new Date(Date.now() - agoMs);
  utimesSync(path, at, at);
}
