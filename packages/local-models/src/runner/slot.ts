/**
 * One model and its process, if it has one: from rest over `loading` to `loaded` and `busy`, and back over `unloading` or `crashed`.
 *   S1  The queue is examined after each change that may let a caller continue.
 *   S2  A lease is given only by a loaded model that has none; it is void when its process is gone.
 *   S3  The idle time begins when the model has neither lease nor queue, and ends with the next caller.
 */
import type { AbortSignalLike, Model, ModelLease, ModelLoadOptions } from "@millrace/contracts";
import { ModelError } from "../errors.ts";
import type { RunnableModel, RunnerState, RunnersContext } from "../runners.ts";
import { backOffMs } from "./back-off.ts";
import type { ForkRunner } from "./fork-runner.ts";
import { type RunnerEnd, type RunnerProcess, startRunner } from "./runner-process.ts";
import type { Sizing } from "./sizing.ts";
import { createWaiters, type Waiters } from "./waiters.ts";

const LOAD_TIMEOUT_MS = 120_000;
const KEPT_CRASHES = 8; // more than the back-off looks at

/** What slots share. */
export interface SlotContext extends RunnersContext {
  readonly fork: ForkRunner;
  /** Called after each change. */
  changed(): void;
}

/** A model as its processes see it. */
export interface Slot {
  readonly id: string;
  readonly state: RunnerState | null;
  readonly error: Model["error"];
  readonly leases: Waiters<ModelLease>;
  readonly loads: Waiters<void>;
  /** How the present load was made; null at rest. */
  readonly sizing: Sizing | null;
  readonly loadedAt: number | null;
  readonly expiresAt: number | null;
  readonly pid: number | null;
  /** Larger: used later. */
  readonly usedOrder: number;
  /** As it was last seen, and how it is to be loaded; what was said of one load ends with it. */
  readonly wanted: { readonly model: RunnableModel; readonly options: ModelLoadOptions };
  want(model: RunnableModel, options?: ModelLoadOptions): void;
  /** Joins the queue. Rejects with `runner_crashed` while the back-off of a crash lasts. */
  acquire(signal?: AbortSignalLike): Promise<ModelLease>;
  /** Starts the process. */
  start(sizing: Sizing): void;
  /** Gives a lease to the first caller in the queue, if the model is free. */
  serve(): void;
  /** Ends the process; resolves when it is gone. */
  stop(): Promise<void>;
  /** Forgets crashes. */
  forgive(): void;
}

let uses = 0;

/** A model at rest. */
export function createSlot(id: string, context: SlotContext, first: RunnableModel): Slot {
  const { clock, fork, settings } = context;
  const dir = context.writable ? context.dir : null;
  let state: RunnerState | null = null;
  let error: Model["error"] = null;
  let wanted: Slot["wanted"] = { model: first, options: {} };
  let process: RunnerProcess | null = null;
  let access: { readonly baseUrl: string; readonly token: string } | null = null;
  let sizing: Sizing | null = null;
  let lease: ModelLease | null = null;
  let loadedAt: number | null = null;
  let expiresAt: number | null = null;
  let cancelIdle = () => {};
  let crashes: readonly number[] = [];
  let usedOrder = 0;
  const shared = { id, clock, isHeld: () => state === "loading" };
  const leases = createWaiters<ModelLease>(shared);
  const loads = createWaiters<void>(shared);

  function turn(next: RunnerState | null): void {
    state = next;
    context.changed();
  }

  function endIdle(): void {
    cancelIdle();
    expiresAt = null;
  }

  function beginIdle(): void {
    endIdle();
    const ttlMs = wanted.options.ttlMs ?? sizing?.ttlMs ?? -1;
    if (ttlMs < 0 || state !== "loaded" || leases.size > 0) return;
    if (ttlMs === 0) {
      void slot.stop();
      return;
    }
    expiresAt = clock.now() + ttlMs;
    cancelIdle = clock.setTimer(() => void slot.stop(), ttlMs);
  }

  function onReady(given: { readonly baseUrl: string; readonly token: string }): void {
    if (state !== "loading") return;
    access = given;
    loadedAt = clock.now();
    while (loads.size > 0) loads.serve(() => {});
    turn("loaded");
    beginIdle();
  }

  function onEnd(end: RunnerEnd): void {
    const wasWanted = state === "unloading";
    endIdle();
    [process, access, lease, sizing, loadedAt] = [null, null, null, null, null];
    if (wasWanted) {
      turn(null);
      return;
    }
    const at = clock.now();
    const isLoad = end.failure !== null;
    const code = isLoad ? "load_failed" : "runner_crashed";
    const message = isLoad
      ? `the model ${id} could not be loaded: ${withoutPaths(end.failure ?? "", wanted.model.path)}`
      : `the process of the model ${id} ended (${end.signal ?? `exit code ${end.exitCode}`})`;
    crashes = [...crashes, at].slice(-KEPT_CRASHES);
    error = {
      code,
      message,
      ...(end.signal !== null && { signal: end.signal }),
      at: new Date(at).toISOString(),
    };
    context.log("warn", message);
    const refusal = new ModelError(code, message);
    leases.refuse(refusal);
    loads.refuse(refusal);
    turn("crashed");
  }

  /** A lease of this very process. */
  function makeLease(): ModelLease {
    const { baseUrl = "", token = "" } = access ?? {};
    const own: ModelLease = {
      baseUrl,
      token,
      release() {
        if (lease !== own) return;
        lease = null;
        context.used(id);
        if (state === "busy") turn("loaded");
        beginIdle();
      },
    };
    return own;
  }

  const slot: Slot = {
    id,
    leases,
    loads,
    get state() {
      return state;
    },
    get error() {
      return state === "crashed" ? error : null;
    },
    get sizing() {
      return sizing;
    },
    get loadedAt() {
      return loadedAt;
    },
    get expiresAt() {
      return expiresAt;
    },
    get pid() {
      return process?.pid ?? null;
    },
    get usedOrder() {
      return usedOrder;
    },
    get wanted() {
      return wanted;
    },
    want(model, options = wanted.options) {
      wanted = { model, options };
    },
    acquire(signal) {
      if (state === "crashed") {
        const wait = backOffMs(crashes, clock.now());
        if (wait === null || wait > 0) {
          const next = wait === null ? "until it is loaded by name" : `for ${wait} ms more`;
          const text = `the model ${id} has crashed and is not loaded again ${next}`;
          return Promise.reject(new ModelError("runner_crashed", text));
        }
      }
      const joined = leases.join(signal);
      context.changed();
      return joined;
    },
    start(next) {
      const { model } = wanted;
      const { contextSize, threads } = next;
      let started: RunnerProcess;
      try {
        const engine = context.engine().entry;
        const embedding = model.gguf.embedding;
        started = startRunner(
          { modelPath: model.path, threads, contextSize, gpu: false, embedding, engine },
          { fork, dir, model: id, clock, timeoutMs: settings.loadTimeoutMs ?? LOAD_TIMEOUT_MS },
        );
      } catch (refusal) {
        leases.refuse(refusal);
        loads.refuse(refusal);
        return;
      }
      process = started;
      sizing = next;
      error = null;
      usedOrder = ++uses;
      void started.ready.then(onReady);
      void started.ended.then(onEnd);
      state = "loading";
    },
    serve() {
      if (state !== "loaded" || leases.size === 0) return;
      endIdle();
      usedOrder = ++uses;
      context.used(id);
      state = "busy";
      leases.serve(() => {
        lease = makeLease();
        return lease;
      });
    },
    async stop() {
      if (process === null) return;
      const { ended } = process;
      endIdle();
      wanted = { ...wanted, options: {} };
      lease = null;
      process.kill();
      state = "unloading";
      await ended;
    },
    forgive() {
      crashes = [];
      if (state === "crashed") state = null;
    },
  };
  return slot;
}

/** What the engine says of a file names its whole path, which may hold blanks. */
function withoutPaths(text: string, known: string): string {
  return text
    .replaceAll(known, "<path>")
    .replace(/(?:file:\/\/)?(?:[A-Za-z]:)?[\\/][^\s"']+/g, "<path>")
    .slice(0, 300);
}
