/**
 * The port between the manager and the processes that run models. The manager knows files, the registry and jobs; runners know
 * processes, memory and queues.
 *   R1  One load for an id: callers at the same time share it.
 *   R2  An acquired model stays loaded until its last lease is released, unless it is unloaded with `force` or its process dies.
 *   R3  `state` and `runtime` answer at once, from memory.
 */
import type {
  AbortSignalLike,
  Model,
  ModelLease,
  ModelLoadOptions,
  ModelRuntime,
} from "@millrace/contracts";
import type { ModelClock, ModelSettings } from "./settings.ts";

/** A model whose files have just been looked at and are whole. */
export interface RunnableModel {
  readonly id: string;
  /** Absolute; of a split model the first part, whose folder has the others. */
  readonly path: string;
  /** Bytes of all files. */
  readonly bytes: number;
  readonly gguf: GgufFacts;
  readonly defaults: Model["defaults"];
}

/** The used facts of a header: those in the API, and those that memory depends on. */
export interface GgufFacts extends NonNullable<Model["gguf"]> {
  /** Blocks of the network; 0: not told. */
  readonly layers: number;
  /** Heads of keys and values in a layer; 0: not told. */
  readonly kvHeads: number;
  /** Width of one head; 0: not told. */
  readonly headDim: number;
}

/** The engine that runners import. */
export interface ResolvedEngine {
  readonly version: string;
  readonly source: "peer" | "fetched";
  /** `file:` URL of the main module of `node-llama-cpp`. */
  readonly entry: string;
}

/** Where a model stands that has, had or gets a process. */
export type RunnerState = "loading" | "loaded" | "busy" | "unloading" | "crashed";

/** The processes that run models. What fails rejects with `ModelError`. */
export interface Runners {
  /** Null: at rest. */
  state(id: string): RunnerState | null;
  runtime(id: string): ModelRuntime | null;
  /** Why a crashed model is crashed; null otherwise. */
  error(id: string): Model["error"];
  /** Resolves when the model is loaded; a crashed one is loaded at once, without its back-off. */
  load(model: RunnableModel, options?: ModelLoadOptions): Promise<void>;
  /** Resolves when its process has ended; at rest it does nothing. Rejects with `in_use` when busy, unless `force`. */
  unload(id: string, options?: { readonly force?: boolean }): Promise<void>;
  acquire(model: RunnableModel, signal?: AbortSignalLike): Promise<ModelLease>;
  /** Ends all processes. */
  close(): Promise<void>;
}

/** What runners get of the manager. */
export interface RunnersContext {
  /** Absolute, exists, mode 0700: one file for each live process, `<pid>.json`. */
  readonly dir: string;
  /** Whether this manager holds the lock: only then are processes of a dead one ended. */
  readonly writable: boolean;
  readonly settings: ModelSettings;
  readonly clock: ModelClock;
  /** The engine at hand. Throws `engine_missing`. */
  engine(): ResolvedEngine;
  /** Told when a lease was taken or released: the manager keeps `lastUsedAt`. */
  used(id: string): void;
  readonly log: (level: "info" | "warn", text: string) => void;
}

/** Makes the runners of a manager; nothing is started. */
export type CreateRunners = (context: RunnersContext) => Runners;
