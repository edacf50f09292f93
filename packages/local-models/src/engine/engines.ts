/** The program that runs models: one that is installed beside this package, else one that was fetched. */
import { existsSync, readFileSync } from "node:fs";
import { readdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { FetchLike, ModelEngine } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import { type EngineFetchOptions, fetchEngineFiles, STAGING } from "./fetch.ts";
import type { EngineLock } from "./lock.ts";

export const ENGINE_ID = "llama-cpp";

const MODULE = "node-llama-cpp";

export interface ResolvedEngine {
  readonly version: string;
  readonly source: "peer" | "fetched";
  /** `file:` URL of the main module of `node-llama-cpp`. */
  readonly entry: string;
}

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

export type Engines = ReturnType<typeof createEngines>;

export function createEngines(options: EnginesOptions) {
  const { enginesDir, lock, platform, peer } = options;
  const versions = join(enginesDir, ENGINE_ID);
  const target = join(versions, lock.version, platform);
  const entry = join(target, "node_modules", MODULE, "dist", "index.js");
  const fetched = (): ResolvedEngine | null =>
    existsSync(join(target, "engine.json")) && existsSync(entry)
      ? { version: lock.version, source: "fetched", entry: pathToFileURL(entry).href }
      : null;
  const find = (): ResolvedEngine | null => peer() ?? fetched();
  return {
    /** `fetching`: whether a job fetches it now. */
    list(fetching: boolean): readonly ModelEngine[] {
      const { version } = lock;
      const engine = { id: ENGINE_ID, platform };
      const found = find();
      if (found !== null) {
        return [{ ...engine, version: found.version, state: "ready", source: found.source }];
      }
      if (fetching) return [{ ...engine, version, state: "fetching", source: null }];
      if (existsSync(target)) return [{ ...engine, version, state: "invalid", source: "fetched" }];
      return [{ ...engine, version: null, state: "absent", source: null }];
    },
    resolve(): ResolvedEngine {
      const found = find();
      if (found !== null) return found;
      throw new ModelError(
        "engine_missing",
        "no engine to run models with; fetch it by: millrace models engine fetch",
      );
    },
    has: (): boolean => find() !== null,
    /** Fetches what this release names; does nothing when it is there. */
    async fetch(job: Pick<EngineFetchOptions, "signal" | "told">): Promise<void> {
      if (fetched() === null) await fetchEngineFiles({ ...options, ...job, target });
    },
    cleanUp: () => removeBelow(enginesDir, (name) => name.startsWith(STAGING)),
    /** Removes versions that this release does not use. */
    prune: () => removeBelow(versions, (name) => name !== lock.version),
  };
}

async function removeBelow(folder: string, isOld: (name: string) => boolean): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (isOld(name)) await rm(join(folder, name), { recursive: true, force: true });
  }
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

/** `linux-x64`; the name alone says nothing of whether there is an engine for it. `musl`: a C library that the engine was not built for. */
export function platformOf({ platform, arch, musl } = thisMachine()): string {
  if (platform === "darwin") return arch === "arm64" ? "mac-arm64-metal" : `mac-${arch}`;
  if (platform === "win32") return `win-${arch}`;
  return musl ? `${platform}-${arch}-musl` : `${platform}-${arch}`;
}

function thisMachine(): { platform: string; arch: string; musl: boolean } {
  const { platform, arch } = process;
  return { platform, arch, musl: platform === "linux" && !hasGlibc() };
}

/** Of this process, which keeps its C library; undefined: not looked yet. */
let isGlibc: boolean | undefined;

function hasGlibc(): boolean {
  if (isGlibc !== undefined) return isGlibc;
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const { excludeNetwork = false } = report;
  report.excludeNetwork = true; // or each peer of a socket is looked up in DNS, which may take seconds
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } };
  report.excludeNetwork = excludeNetwork;
  isGlibc = header?.glibcVersionRuntime !== undefined;
  return isGlibc;
}
