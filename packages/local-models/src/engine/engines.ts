/** The program that runs models: one that is installed beside this package, else one that was fetched. */
import { existsSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FetchLike, ModelEngine } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import type { ResolvedEngine } from "../runners.ts";
import { type EngineFetchOptions, fetchEngineFiles, STAGING } from "./fetch.ts";
import type { EngineLock } from "./lock.ts";

/** The one engine of this version. */
export const ENGINE_ID = "llama-cpp";

const MODULE = "node-llama-cpp";

export interface EnginesOptions {
  readonly enginesDir: string;
  readonly lock: EngineLock;
  readonly platform: string;
  readonly registryUrl: string | undefined;
  readonly fetch: FetchLike;
  readonly now: () => number;
  /** The engine that is installed beside this package; null: none. */
  readonly peer: () => ResolvedEngine | null;
}

export interface Engines {
  /** `fetching`: whether a job fetches it now. */
  list(fetching: boolean): readonly ModelEngine[];
  /** Throws `engine_missing`. */
  resolve(): ResolvedEngine;
  has(): boolean;
  /** Fetches what this release names; does nothing when it is there. */
  fetch(options: Pick<EngineFetchOptions, "signal" | "told">): Promise<void>;
  /** Removes what fetches left behind. */
  cleanUp(): Promise<void>;
  /** Removes versions that this release does not use. */
  prune(): Promise<void>;
}

/** Engines below a folder. */
export function createEngines(options: EnginesOptions): Engines {
  const { enginesDir, lock, platform } = options;
  const versions = join(enginesDir, ENGINE_ID);
  const target = join(versions, lock.version, platform);
  const entry = join(target, "node_modules", MODULE, "dist", "index.js");
  const isFetched = (): boolean => existsSync(join(target, "engine.json")) && existsSync(entry);
  const fetched = (): ResolvedEngine | null =>
    isFetched()
      ? { version: lock.version, source: "fetched", entry: pathToFileURL(entry).href }
      : null;
  const find = (): ResolvedEngine | null => options.peer() ?? fetched();
  return {
    list(fetching) {
      const found = find();
      const engine = { id: ENGINE_ID, platform };
      if (found !== null) {
        return [{ ...engine, version: found.version, state: "ready", source: found.source }];
      }
      if (fetching) return [{ ...engine, version: lock.version, state: "fetching", source: null }];
      if (existsSync(target)) {
        return [{ ...engine, version: lock.version, state: "invalid", source: "fetched" }];
      }
      return [{ ...engine, version: null, state: "absent", source: null }];
    },
    resolve() {
      const found = find();
      if (found !== null) return found;
      throw new ModelError(
        "engine_missing",
        "no engine to run models with; fetch it by: millrace models engine fetch",
      );
    },
    has: () => find() !== null,
    async fetch(job) {
      if (!isFetched()) await fetchEngineFiles({ ...options, ...job, target });
    },
    async cleanUp() {
      for (const name of await names(enginesDir)) {
        if (name.startsWith(STAGING))
          await rm(join(enginesDir, name), { recursive: true, force: true });
      }
    },
    async prune() {
      for (const version of await names(versions)) {
        if (version !== lock.version)
          await rm(join(versions, version), { recursive: true, force: true });
      }
    },
  };
}

async function names(folder: string): Promise<readonly string[]> {
  return readdir(folder).catch(() => []);
}

/** `node-llama-cpp` as Node finds it from here. It is not loaded. */
export function peerEngine(): ResolvedEngine | null {
  try {
    const path = createRequire(import.meta.url).resolve(MODULE);
    const manifest = readFileSync(join(dirname(path), "..", "package.json"), "utf8");
    const { version } = JSON.parse(manifest) as { version: string };
    return { version, source: "peer", entry: pathToFileURL(path).href };
  } catch {
    return null;
  }
}

/** `linux-x64`; the name alone says nothing of whether there is an engine for it. */
export function platformOf({ platform, arch, musl }: Machine = thisMachine()): string {
  if (platform === "darwin") return arch === "arm64" ? "mac-arm64-metal" : `mac-${arch}`;
  if (platform === "win32") return `win-${arch}`;
  return musl ? `${platform}-${arch}-musl` : `${platform}-${arch}`;
}

/** What decides which native code can run. */
interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** A C library that the engine was not built for. */
  readonly musl: boolean;
}

function thisMachine(): Machine {
  const { platform, arch } = process;
  return { platform, arch, musl: platform === "linux" && !hasGlibc() };
}

function hasGlibc(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return report.header?.glibcVersionRuntime !== undefined;
}
