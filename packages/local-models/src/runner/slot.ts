/**
 * One model and its process, if it has one: from rest over `loading` to `loaded` and `busy`, and back over `unloading` or `crashed`.
 *   S1  The queue is examined after each change that may let a caller continue.
 *   S2  A lease is given only by a loaded model that has none; it is void when its process is gone.
 *   S3  The idle time begins when the model has neither lease nor queue, and ends with the next caller.
 */
import type {
  AbortSignalLike,
  Model,
  ModelLease,
  ModelLoadOptions,
  ModelRuntime,
} from "@millrace/contracts";
import type { ResolvedEngine } from "../engine/engines.ts";
import { ModelError } from "../errors.ts";
import type { ModelClock, ModelSettings } from "../settings.ts";
import { type ForkRunner, type RunnerEnd, type RunnerProcess, startRunner } from "./process.ts";
import type { RunnableModel, Sizing } from "./sizing.ts";
import { Waiters } from "./waiters.ts";

const LOAD_TIMEOUT_MS = 120_000;

/** State of a model that has, had or gets a process. */
export type RunnerState = "loading" | "loaded" | "busy" | "unloading" | "crashed";

/** State that the processes of a manager share. */
export interface RunnersContext {
  /** Absolute, exists, mode 0700: one file for each live process, `<pid>.json`. */
  readonly dir: string;
  /** Whether this manager holds the lock: only then are processes of a dead one ended. */
  readonly writable: boolean;
  readonly settings: ModelSettings;
  readonly clock: ModelClock;
  /** The engine at hand. Throws `engine_missing`. */
  engine(): ResolvedEngine;
  /** Called when a lease was taken or released. */
  used(id: string): void;
  readonly log: (level: "info" | "warn", text: string) => void;
}

export interface SlotContext extends RunnersContext {
  readonly fork: ForkRunner;
  /** Called after each change. */
  changed(): void;
}

let uses = 0;

/** A model as its processes see it, at first at rest. */
export class Slot {
  readonly leases: Waiters<ModelLease>;
  readonly loads: Waiters<void>;
  /** Null: at rest. */
  state: RunnerState | null = null;
  /** How the present load was made; null at rest. */
  sizing: Sizing | null = null;
  /** Larger: used later. */
  usedOrder = 0;
  /** The model as it was last seen. */
  model: RunnableModel;
  /** How it is to be loaded; what was said of one load ends with it. */
  options: ModelLoadOptions = {};
  readonly #context: SlotContext;
  #process: RunnerProcess | null = null;
  #access = { baseUrl: "", token: "" };
  #lease: ModelLease | null = null;
  #loadedAt: number | null = null;
  #expiresAt: number | null = null;
  #cancelIdle = () => {};
  #error: Model["error"] = null;
  #crashes: readonly number[] = [];

  constructor(model: RunnableModel, context: SlotContext) {
    this.model = model;
    this.#context = context;
    const queue = { id: model.id, clock: context.clock, isHeld: () => this.state === "loading" };
    this.leases = new Waiters(queue);
    this.loads = new Waiters(queue);
  }

  get id(): string {
    return this.model.id;
  }

  get isLive(): boolean {
    return this.#process !== null;
  }

  /** Why a crashed model is crashed; null otherwise. */
  get error(): Model["error"] {
    return this.state === "crashed" ? this.#error : null;
  }

  /** Place of the first caller in the order of all queues; Infinity: nobody waits. */
  get first(): number {
    return Math.min(this.leases.first, this.loads.first);
  }

  get runtime(): ModelRuntime | null {
    if (this.#process === null || this.sizing === null || this.#loadedAt === null) return null;
    return {
      pid: this.#process.pid,
      loadedAt: isoOf(this.#loadedAt),
      threads: this.sizing.threads,
      contextSize: this.sizing.contextSize,
      active: this.state === "busy" ? 1 : 0,
      queued: this.leases.size,
      expiresAt: this.#expiresAt === null ? null : isoOf(this.#expiresAt),
    };
  }

  /** Joins the queue. Rejects with `runner_crashed` while the back-off of a crash lasts. */
  acquire(signal?: AbortSignalLike): Promise<ModelLease> {
    const wait = this.state === "crashed" ? backOffMs(this.#crashes, this.#context.clock.now()) : 0;
    if (wait !== 0) {
      const next = wait === null ? "until it is loaded by name" : `for ${wait} ms more`;
      const text = `the model ${this.id} has crashed and is not loaded again ${next}`;
      return Promise.reject(new ModelError("runner_crashed", text));
    }
    const joined = this.leases.join(signal);
    this.#context.changed();
    return joined;
  }

  refuse(error: unknown): void {
    this.leases.refuse(error);
    this.loads.refuse(error);
  }

  start(sizing: Sizing): void {
    const { engine, settings } = this.#context;
    const { id, path, gguf } = this.model;
    const { threads, contextSize } = sizing;
    try {
      this.#process = startRunner(
        {
          ...{ modelPath: path, threads, contextSize, gpu: false },
          ...{ embedding: gguf.embedding, engine: engine().entry },
        },
        {
          ...this.#context,
          dir: this.#context.writable ? this.#context.dir : null,
          model: id,
          timeoutMs: settings.loadTimeoutMs ?? LOAD_TIMEOUT_MS,
        },
      );
    } catch (refusal) {
      this.refuse(refusal);
      return;
    }
    this.sizing = sizing;
    this.#error = null;
    this.usedOrder = ++uses;
    void this.#process.ready.then((access) => this.#onReady(access));
    void this.#process.ended.then((end) => this.#onEnd(end));
    this.state = "loading";
  }

  /** Gives a lease to the first caller in the queue, if the model is free. */
  serve(): void {
    if (this.state !== "loaded" || this.leases.size === 0) return;
    this.#endIdle();
    this.usedOrder = ++uses;
    this.#context.used(this.id);
    this.state = "busy";
    this.#lease = this.#makeLease();
    this.leases.serve(this.#lease);
  }

  /** Ends the process; resolves when it is gone. */
  async stop(): Promise<void> {
    const process = this.#process;
    if (process === null) return;
    this.#endIdle();
    this.options = {};
    this.#lease = null;
    process.kill();
    this.state = "unloading";
    await process.ended;
  }

  forgive(): void {
    this.#crashes = [];
    if (this.state === "crashed") this.state = null;
  }

  #turn(next: RunnerState | null): void {
    this.state = next;
    this.#context.changed();
  }

  #endIdle(): void {
    this.#cancelIdle();
    this.#expiresAt = null;
  }

  #beginIdle(): void {
    this.#endIdle();
    const { clock } = this.#context;
    const ttlMs = this.options.ttlMs ?? this.sizing?.ttlMs ?? -1;
    if (ttlMs < 0 || this.state !== "loaded" || this.leases.size > 0) return;
    if (ttlMs === 0) return void this.stop();
    this.#expiresAt = clock.now() + ttlMs;
    this.#cancelIdle = clock.setTimer(() => void this.stop(), ttlMs);
  }

  #onReady(access: { readonly baseUrl: string; readonly token: string }): void {
    if (this.state !== "loading") return;
    this.#access = access;
    this.#loadedAt = this.#context.clock.now();
    while (this.loads.size > 0) this.loads.serve();
    this.#turn("loaded");
    this.#beginIdle();
  }

  #onEnd({ failure, signal, exitCode }: RunnerEnd): void {
    const wasWanted = this.state === "unloading";
    this.#endIdle();
    [this.#process, this.#lease, this.sizing, this.#loadedAt] = [null, null, null, null];
    if (wasWanted) return void this.#turn(null);
    const at = this.#context.clock.now();
    const code = failure === null ? "runner_crashed" : "load_failed";
    const message =
      failure === null
        ? `the process of the model ${this.id} ended (${signal ?? `exit code ${exitCode}`})`
        : `the model ${this.id} could not be loaded: ${withoutPaths(failure, this.model.path)}`;
    this.#crashes = [...this.#crashes, at].slice(-MOST_CRASHES);
    this.#error = { code, message, ...(signal !== null && { signal }), at: isoOf(at) };
    this.#context.log("warn", message);
    this.refuse(new ModelError(code, message));
    this.#turn("crashed");
  }

  /** A lease of this very process. */
  #makeLease(): ModelLease {
    const lease: ModelLease = {
      ...this.#access,
      release: () => {
        if (this.#lease !== lease) return;
        this.#lease = null;
        this.#context.used(this.id);
        if (this.state === "busy") this.#turn("loaded");
        this.#beginIdle();
      },
    };
    return lease;
  }
}

function isoOf(epochMs: number): string {
  return new Date(epochMs).toISOString();
}

const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 60_000;
const WINDOW_MS = 600_000;
const MOST_CRASHES = 5; // in the window; a model that has crashed so often does so again

/** Milliseconds until the next load is allowed, of a model that crashed at these times, oldest first; null: only by name. */
export function backOffMs(crashes: readonly number[], now: number): number | null {
  const recent = crashes.filter((at) => at > now - WINDOW_MS);
  const last = recent.at(-1);
  if (last === undefined) return 0;
  if (recent.length >= MOST_CRASHES) return null;
  const wait = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (recent.length - 1));
  return Math.max(0, last + wait - now);
}

/** Removes paths: messages of the engine hold the whole path of a file, which may have blanks. */
function withoutPaths(text: string, known: string): string {
  return text
    .replaceAll(known, "<path>")
    .replace(/(?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^\s"']+/g, "<path>")
    .slice(0, 300);
}
