/**
 * The manager of models: installed, being installed, loaded.
 *   M1  Nothing is written by a manager that does not hold the lock of its folder.
 *   M2  Ids are checked before anything else is done with them.
 *   M3  `close` leaves no timer, no process and no open file behind.
 */
import { rm, rmdir, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import type { Model, ModelManager } from "@millrace/contracts";
import { untilAborted } from "@millrace/contracts/kit";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import {
  createEngines,
  ENGINE_ID,
  peerEngine,
  platformOf,
  type ResolvedEngine,
} from "./engine/engines.ts";
import { ENGINE_LOCK, type EngineLock } from "./engine/lock.ts";
import { ModelError } from "./errors.ts";
import { isUnchanged, makeFolders } from "./folders.ts";
import { createInstalls } from "./install/installs.ts";
import { Jobs } from "./jobs.ts";
import { byOriginAndId, bytesOf, type Entry, toModel } from "./library/entry.ts";
import { checkModelId } from "./library/ids.ts";
import { createLibrary } from "./library/library.ts";
import { loadRegistry, putAside, registryText } from "./library/registry.ts";
import { scanFolders } from "./library/scan.ts";
import { takeLock } from "./lock.ts";
import { Runners } from "./runner/runners.ts";
import type { RunnableModel } from "./runner/sizing.ts";
import type { RunnersContext } from "./runner/slot.ts";
import type { ModelClock, ModelManagerOptions } from "./settings.ts";
import { writeWhole } from "./write-whole.ts";

const MAX_BYTES = 214_748_364_800; // 200 GiB: larger than any model that one machine runs
const MAX_TOLD = 200; // skipped files in one event; a folder with more of them is not one of models

const OPTIONS: OptionNames<ModelManagerOptions> = {
  ...{ dir: true, enginesDir: true, fetch: true, sink: true, settings: true, clock: true },
  ...{ credentials: true, hubModel: true, freeBytes: true, log: true },
};

/**
 * Manages the models of a folder: scans it, installs into it, and runs its models, each in a process of its own. The first scan
 * begins at once; nothing native is loaded in this process, ever. Where another process manages the folder, this manager lists
 * and loads, and refuses changes with `models_locked`. Throws the error of the file system when the folder cannot be created.
 */
export function createModelManager(options: ModelManagerOptions): ModelManager {
  checkOptions("createModelManager", options, OPTIONS);
  return composeManager(options);
}

/** Dependencies of the manager that tests replace. */
export interface ManagerParts {
  readonly createRunners?: (context: RunnersContext) => Runners;
  readonly engineLock?: EngineLock;
  readonly platform?: string;
  readonly peer?: () => ResolvedEngine | null;
}

/** Creates a manager and begins its first scan. Throws the error of the file system when its folders cannot be created. */
export function composeManager(
  options: ModelManagerOptions,
  parts: ManagerParts = {},
): ModelManager {
  const { dir, enginesDir, fetch, sink, settings = {}, clock = systemClock } = options;
  const log = options.log ?? (() => undefined);
  const folders = makeFolders(dir);
  const lock = takeLock(folders.lock);
  const places = { ...folders, folders: settings.folders ?? [] };
  const library = createLibrary(
    folders.files,
    loadRegistry(places, (reason) => {
      log("warn", `the registry of models is ${reason}; it is rebuilt from the files`);
      if (lock !== null) putAside(folders.registry, clock.now());
    }),
  );
  const jobs = new Jobs(clock, sink);
  const engines = createEngines({
    enginesDir,
    fetch,
    now: clock.now,
    lock: parts.engineLock ?? ENGINE_LOCK,
    platform: parts.platform ?? platformOf(),
    registryUrl: settings.registryUrl,
    peer: parts.peer ?? peerEngine,
  });
  const { createRunners = (context) => new Runners(context) } = parts;
  const runners = createRunners({
    dir: folders.runners,
    writable: lock !== null,
    settings,
    clock,
    engine: engines.resolve,
    used: (id) => library.touch(id, new Date(clock.now()).toISOString()),
    log,
  });
  const installs = createInstalls({
    ...folders,
    ...{ fetch, clock, engines, library, jobs },
    maxBytes: settings.maxBytes ?? MAX_BYTES,
    freeBytes: options.freeBytes ?? freeBytes,
    credentials: options.credentials,
    hubModel: options.hubModel,
    mayClean: lock !== null,
    scanned: () => scanned,
    async added(id) {
      await save();
      sink.emit("models:registered", id);
    },
  });
  let saved = registryText(places, library.whole());
  let scanning: ReturnType<ModelManager["scan"]> | null = null;
  let closing: Promise<void> | null = null;

  const save = (): Promise<void> =>
    library.exclusively(async () => {
      const text = registryText(places, library.whole());
      if (lock === null || text === saved) return;
      try {
        await writeWhole(folders.registry, text);
        saved = text;
      } catch (error) {
        const code = (error as NodeJS.ErrnoException).code ?? "unknown";
        log(
          "warn",
          `the registry of models cannot be written (${code}); the next scan makes it again`,
        );
      }
    });
  const runScan = async (signal: AbortSignal): ReturnType<ModelManager["scan"]> => {
    const began = clock.now();
    await installs.look();
    const found = await scanFolders([folders.files, ...places.folders], library.known(), {
      signal,
      unreadable: (i, code) => log("warn", `folder ${i} of models cannot be read (${code})`),
    });
    for (const id of await library.adopt(found)) {
      log("info", `the files of the model ${id} are gone`);
      // A removed model cannot be acquired; a process in use ends after its idle time.
      void runners.unload(id).catch(() => undefined);
    }
    await save();
    const ids = library.whole().map(({ id }) => id);
    const skipped = found.skipped.slice(0, MAX_TOLD).map(({ file, reason }) => ({ file, reason }));
    const result = { count: ids.length, skipped, ms: clock.now() - began };
    for (const id of ids.sort()) sink.emit("models:registered", id);
    sink.emit("models:scan_complete", result);
    return result;
  };
  const scan = (): ReturnType<ModelManager["scan"]> => {
    if (closing !== null) return Promise.reject(closed());
    scanning ??= jobs.beside("scan", runScan).finally(() => {
      scanning = null;
    });
    return scanning;
  };

  const mayWrite = (): void => {
    if (closing !== null) throw closed();
    if (lock === null) {
      throw new ModelError("models_locked", "another process manages this folder of models");
    }
  };

  const shown = (entry: Entry): Model => {
    const { id } = entry;
    const fault = library.fault(id);
    return toModel(entry, {
      state: runners.state(id) ?? (fault === null ? "ready" : "invalid"),
      runtime: runners.runtime(id),
      error: runners.error(id) ?? fault,
    });
  };
  const get = (id: string): Model => {
    const entry = library.get(checkModelId(id));
    const model = entry ? shown(entry) : installs.unfinished().find((each) => each.id === id);
    if (model !== undefined) return model;
    throw new ModelError("not_found", `there is no model "${id}"`);
  };

  /** The model, with files that were just looked at. */
  const runnable = async (id: string): Promise<RunnableModel> => {
    checkModelId(id);
    if (library.get(id) === undefined) await scanned;
    if (get(id).state === "installing") {
      throw new ModelError("state_conflict", `the model "${id}" is not installed yet`);
    }
    const entry = library.get(id) as Entry;
    const isLoaded = LOADED.has(runners.state(id) ?? "");
    const isSame = isLoaded || library.fault(id) !== null || (await isUnchanged(entry.files));
    get(id); // it may have been removed meanwhile
    if (!isSame) {
      library.setFault(id, "the file is gone or has changed since it was checked");
      scan().catch(() => undefined); // tells of itself
    }
    const fault = library.fault(id);
    if (!isLoaded && fault !== null) {
      throw new ModelError("invalid_model", `the model "${id}" cannot be used: ${fault.message}`);
    }
    const { gguf, defaults, files } = entry;
    return { id, path: files[0]?.path ?? "", bytes: bytesOf(entry), gguf, defaults };
  };

  const remove = async (id: string, { force = false }: { force?: boolean } = {}): Promise<void> => {
    mayWrite();
    checkModelId(id);
    await scanned;
    await library.exclusively(async () => {
      mayWrite();
      if (get(id).origin !== "managed") {
        throw new ModelError("operator_required", `the files of "${id}" belong to the operator`);
      }
      if (jobs.open(({ modelId }) => modelId === id) !== undefined) {
        throw new ModelError(
          "in_use",
          `the model "${id}" is being installed; cancel its job first`,
        );
      }
      const state = runners.state(id);
      if (state !== null && state !== "crashed" && !force) {
        throw new ModelError("in_use", `the model "${id}" is ${state}; unload it first`);
      }
      const files = library.get(id)?.files ?? [];
      library.remove(id); // first, so that it is not loaded while its files are deleted
      await runners.unload(id, { force: true });
      for (const { path } of files) {
        await rm(path, { force: true });
        if (dirname(path) !== folders.files) await rmdir(dirname(path)).catch(() => undefined);
      }
    });
    await installs.discard(id);
    await save();
    if (!library.all().some((entry) => entry.origin === "managed")) await engines.prune();
  };

  const scanned = (async () => {
    try {
      if (lock !== null) await engines.cleanUp();
      await scan();
    } catch (error) {
      const { code = "unknown" } = error as NodeJS.ErrnoException; // the message has paths
      if (closing === null) log("warn", `the first scan of models failed (${code})`);
    }
  })();

  return {
    scanned,
    scan: (given) => untilAborted(scan(), given?.signal),
    list: ({ state } = {}) =>
      [...library.all().map(shown), ...installs.unfinished()]
        .filter((model) => state === undefined || model.state === state)
        .sort(byOriginAndId),
    get,
    install(args) {
      mayWrite();
      return installs.start(args);
    },
    cancelJob: (jobId) => jobs.cancel(jobId),
    jobs: () => jobs.list(),
    async load(id, given) {
      await runners.load(await runnable(id), given);
      return get(id);
    },
    async unload(id, given) {
      get(id);
      await runners.unload(id, given);
      return get(id);
    },
    remove,
    engines: () => engines.list(jobs.open(({ kind }) => kind === "engine") !== undefined),
    fetchEngine(id) {
      mayWrite();
      if (id !== ENGINE_ID) throw new ModelError("not_found", "the engine is called llama-cpp");
      const open = jobs.open(({ kind }) => kind === "engine");
      if (open !== undefined) return open;
      return jobs.start({ kind: "engine", name: ENGINE_ID }, async ({ signal, progress }) => {
        progress.stage("resolve", 0, 0);
        await engines.fetch({ signal, told: (...step) => progress.step(...step) });
      });
    },
    acquire: async (id, signal) =>
      runners.acquire(await untilAborted(runnable(id), signal), signal),
    close() {
      closing ??= (async () => {
        await jobs.close();
        await scanned;
        await runners.close();
        await save();
        lock?.release();
      })();
      return closing;
    },
  };
}

/** States of a process that has read its files already. */
const LOADED: ReadonlySet<string> = new Set(["loading", "loaded", "busy"]);

const systemClock: ModelClock = {
  now: Date.now,
  setTimer(fn, ms) {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}

function closed(): ModelError {
  return new ModelError("state_conflict", "the manager of models is closed");
}
