/**
 * A lock between processes: one file for each key, created by the holder.
 *   K1  One owner at a time. An owner that slept for longer than a minute may lose it, and learns that from `held`.
 *   K2  The lock of an owner that died is free at once on its own machine, and within a minute elsewhere.
 *   K3  One thief at a time clears a stale lock, and looks again at what was moved away: a live lock is put back.
 */
import { createHash, randomInt, randomUUID } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, mkdir, open, rename, rm } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { checkNames } from "../../options.ts";
import type { Lock } from "../../types.ts";
import { credentialFailure } from "../credential-failure.ts";

/** Interval of the heartbeat of an owner: several times within `STALE_MS`, so that a busy disk does not cost the lock. */
const TOUCH_MS = 10_000;
/** Age at which a lock without a heartbeat is stale: longer than any token request, which ends after 30 s. */
const STALE_MS = 60_000;
/** Pause between two attempts to take a lock; random, so that waiting processes do not retry together. */
const RETRY_MS = { least: 10, most: 50 };

interface Owner {
  readonly pid: number;
  readonly host: string;
  readonly nonce: string;
}

/**
 * A lock for processes that share a folder. The folder is made when it is missing, readable for its owner only; a file in it
 * is named by the SHA-256 of the key. `acquire` throws `RangeError` for a `timeoutMs` that is no number from 0 up, and
 * rejects with `OAuthError` of kind `Credential`: reason `lock_timeout` when the lock was not free in time, reason
 * `unavailable` when the folder cannot be written; and with the signal's reason when it is aborted.
 */
export function fileLock(options: { dir: string }): Lock {
  checkNames("fileLock", options, ["dir"]);
  const { dir } = options;
  return {
    async acquire(key, { timeoutMs, signal }) {
      if (!(timeoutMs >= 0)) throw new RangeError("timeoutMs must be a number from 0 up");
      const path = join(dir, `${createHash("sha256").update(key).digest("hex")}.lock`);
      const giveUpAt = performance.now() + timeoutMs;
      for (;;) {
        signal?.throwIfAborted();
        const taken = await onDisk(dir, () => take(dir, path));
        if (taken) return taken;
        const leftMs = giveUpAt - performance.now();
        if (leftMs <= 0) throw timedOut(timeoutMs);
        await pause(Math.min(leftMs, randomInt(RETRY_MS.least, RETRY_MS.most)), signal);
      }
    },
  };
}

/** The lock; undefined while another process holds it. */
async function take(dir: string, path: string): Promise<Held | undefined> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const file = await create(path);
  if (file) return own(file, path);
  if (await isStale(path)) await clear(path);
  return undefined;
}

type Held = Awaited<ReturnType<Lock["acquire"]>>;

async function create(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "wx", 0o600);
  } catch (error) {
    if (isCode(error, "EEXIST")) return undefined;
    throw error;
  }
}

async function own(file: FileHandle, path: string): Promise<Held> {
  const nonce = randomUUID();
  try {
    await file.writeFile(JSON.stringify({ pid: process.pid, host: hostname(), nonce }));
  } catch (error) {
    await file.close();
    await rm(path, { force: true });
    throw error;
  }
  // Through the open file, not by name: the name may belong to a newer lock by now.
  const touch = () => file.utimes(new Date(), new Date());
  const touching = setInterval(() => void touch().catch(() => {}), TOUCH_MS).unref();
  const isOurs = async () => (await readOwner(path))?.nonce === nonce;
  let released: Promise<void> | undefined;
  return {
    async held() {
      if (released) return false;
      await touch().catch(() => {});
      return isOurs().catch(() => false);
    },
    release() {
      released ??= (async () => {
        clearInterval(touching);
        await file.close();
        if (await isOurs().catch(() => false)) await rm(path, { force: true });
      })();
      return released;
    },
  };
}

/** Whether the owner is gone. A file without a readable owner is one that is being written, or was never finished. */
async function isStale(path: string): Promise<boolean> {
  const ageMs = await ageOf(path);
  if (ageMs === undefined) return false;
  if (ageMs > STALE_MS) return true;
  const owner = await readOwner(path);
  return owner !== undefined && owner.host === hostname() && !isAlive(owner.pid);
}

/** Removes a stale lock. Thieves have a lock of their own, or the slower one would take what the quicker one just made. */
async function clear(path: string): Promise<void> {
  const guard = `${path}.thief`;
  const file = await create(guard);
  if (!file) {
    if (((await ageOf(guard)) ?? 0) > STALE_MS) await rm(guard, { force: true });
    return;
  }
  try {
    if (await isStale(path)) await moveAway(path);
  } finally {
    await file.close();
    await rm(guard, { force: true });
  }
}

async function moveAway(path: string): Promise<void> {
  const aside = `${path}.${randomUUID()}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  // Its owner may have woken up between the look and the move.
  if (!(await isStale(aside))) await link(aside, path).catch(() => {});
  await rm(aside, { force: true });
}

async function ageOf(path: string): Promise<number | undefined> {
  const stat = await withFile(path, (file) => file.stat());
  return stat && Date.now() - stat.mtimeMs;
}

async function readOwner(path: string): Promise<Owner | undefined> {
  const text = await withFile(path, (file) => file.readFile("utf8"));
  try {
    const { pid, host, nonce } = JSON.parse(text ?? "") as Partial<Owner>;
    const isOwner =
      Number.isSafeInteger(pid) && typeof host === "string" && typeof nonce === "string";
    return isOwner ? ({ pid, host, nonce } as Owner) : undefined;
  } catch {
    return undefined;
  }
}

async function withFile<T>(
  path: string,
  read: (file: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  let file: FileHandle;
  try {
    // Not blocking: opening a named pipe would wait for a writer.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (isCode(error, "ENOENT")) return undefined;
    throw error;
  }
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isCode(error, "ESRCH"); // EPERM: it lives, and is another user's
  }
}

async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(delayMs, undefined, signal ? { signal } : {});
  } catch {
    signal?.throwIfAborted();
  }
}

async function onDisk<T>(dir: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    throw credentialFailure(
      `cannot write a lock file in ${dir} (${code})`,
      "Make the folder writable.",
      {
        reason: "unavailable",
        cause,
      },
    );
  }
}

function timedOut(timeoutMs: number): Error {
  return credentialFailure(
    `the lock was not free within ${timeoutMs / 1000} s`,
    "Another process holds it; try again.",
    { reason: "lock_timeout" },
  );
}

function isCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code;
}
