/**
 * Fetches the engine: tarballs of npm packages, checked by digests of our own, unpacked, moved to their place.
 *   W1  Nothing is unpacked before its SHA-512 is right.
 *   W2  No script of any package is run.
 *   W3  The engine is there whole or not at all: `engine.json` is written last. Whatever ends it removes the rest.
 */
import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type FetchLike, NodeError } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import { FILE_MODE, FOLDER_MODE } from "../folders.ts";
import { mapLimited } from "../map-limited.ts";
import { syncFolder, writeWhole } from "../write-whole.ts";
import type { EngineLock, LockedPackage } from "./lock.ts";
import { type Budget, unpack } from "./tar.ts";

const AT_ONCE = 4;
const MAX_TARBALL = 209_715_200; // six times the largest of today
const MAX_FILES = 20_000;
const MAX_UNPACKED = 1_073_741_824;
const DEFAULT_REGISTRY = "https://registry.npmjs.org";

/** Names of unfinished fetches begin with it. */
export const STAGING = ".tmp-";

export interface EngineFetchOptions {
  readonly enginesDir: string;
  /** Where the engine belongs. */
  readonly target: string;
  readonly lock: EngineLock;
  readonly platform: string;
  readonly registryUrl: string | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
  readonly signal: AbortSignal;
  /** Told of each stage and each step, in bytes over all packages. */
  readonly told: (
    stage: "download" | "verify" | "register",
    current: number,
    total: number,
  ) => void;
}

/** Resolves when the engine is in its place. Rejects with `ModelError` or the reason of `signal`. */
export async function fetchEngineFiles(options: EngineFetchOptions): Promise<void> {
  const { enginesDir, lock, platform, target, now, told, signal } = options;
  const native = lock.platforms[platform];
  if (native === undefined) {
    throw new ModelError(
      "engine_unsupported",
      `there is no engine to fetch for ${platform}; node-llama-cpp installed beside is used where it runs`,
    );
  }
  const packages = [...lock.packages, native];
  const total = packages.reduce((sum, { bytes }) => sum + bytes, 0);
  const staging = join(enginesDir, `${STAGING}${randomBytes(8).toString("hex")}`);
  const tarballOf = (index: number): string => join(staging, `${index}.tgz`);
  await mkdir(staging, { recursive: true, mode: FOLDER_MODE });
  try {
    const failed = new AbortController(); // the first failure ends the others
    const either = { ...options, signal: AbortSignal.any([signal, failed.signal]) };
    let fetched = 0;
    told("download", 0, total);
    await mapLimited(packages, AT_ONCE, async (one, i) => {
      const got = (bytes: number): void => {
        fetched += bytes;
        told("download", fetched, total);
      };
      await fetchOne(one, tarballOf(i), { ...either, got }).catch((error: unknown) => {
        failed.abort(error);
        signal.throwIfAborted();
        throw error;
      });
    });
    const budget: Budget = { files: MAX_FILES, bytes: MAX_UNPACKED };
    let unpacked = 0;
    told("verify", 0, total);
    for (const [i, { path, bytes }] of packages.entries()) {
      await unpack(tarballOf(i), join(staging, "engine", path), { budget, signal });
      await rm(tarballOf(i));
      unpacked += bytes;
      told("verify", unpacked, total);
    }
    told("register", 0, 1);
    await mkdir(dirname(target), { recursive: true, mode: FOLDER_MODE });
    await rm(target, { recursive: true, force: true });
    await rename(join(staging, "engine"), target);
    await syncFolder(dirname(target));
    const about = { version: lock.version, platform, fetchedAt: new Date(now()).toISOString() };
    await writeWhole(join(target, "engine.json"), `${JSON.stringify(about)}\n`);
    told("register", 1, 1);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function fetchOne(
  { name, version, integrity, bytes }: LockedPackage,
  path: string,
  options: EngineFetchOptions & { readonly got: (bytes: number) => void },
): Promise<void> {
  const { registryUrl = DEFAULT_REGISTRY, fetch, signal, got } = options;
  const base = registryUrl.replace(/\/+$/, "");
  const url = `${base}/${name}/-/${name.split("/").at(-1)}-${version}.tgz`;
  const hash = createHash("sha512");
  let length = 0;
  const file = await open(path, "wx", FILE_MODE);
  try {
    const headers = { "accept-encoding": "identity" };
    const answer = await fetch(url, { headers, signal }).catch(offline);
    if (answer.status !== 200) throw refusal(name, answer.status);
    for await (const chunk of answer.body ?? []) {
      length += chunk.length;
      if (length > Math.min(bytes, MAX_TARBALL)) throw wrong(name);
      hash.update(chunk);
      await file.writeFile(chunk);
      got(chunk.length);
    }
  } catch (error) {
    signal.throwIfAborted();
    return offline(error);
  } finally {
    await file.close();
  }
  if (`sha512-${hash.digest("base64")}` !== integrity) throw wrong(name);
}

function wrong(name: string): ModelError {
  return new ModelError(
    "engine_digest_mismatch",
    `the registry gives another ${name} than this release was made with; nothing of it was unpacked`,
  );
}

function refusal(name: string, status: number): ModelError {
  if (status === 401 || status === 403) {
    return new ModelError("download_denied", `the registry refuses ${name} (${status})`);
  }
  if (status === 404 || status === 410) {
    return new ModelError("download_not_found", `the registry does not have ${name} (${status})`);
  }
  return new ModelError("engine_offline", `the registry answers ${status} for ${name}`);
}

/** Rethrows; network failures as `engine_offline`. */
function offline(error: unknown): never {
  if (ModelError.isInstance(error)) throw error;
  // Faults of the file system have a call; those of the network come as errors of the egress client.
  if (!NodeError.isInstance(error) && (error as NodeJS.ErrnoException).syscall !== undefined) {
    throw error;
  }
  const message = NodeError.isInstance(error) ? error.message : "the connection failed";
  throw new ModelError("engine_offline", `the registry cannot be reached: ${message}`, {
    cause: error,
  });
}
