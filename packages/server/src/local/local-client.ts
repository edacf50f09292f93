/**
 * The commands of a server in this process, without the server: the same handlers, checks and answers over the data directory.
 *   L1  Nothing happens by itself: no run is taken up, no schedule fires, nothing old is deleted. A run that another process left is
 *       taken up when a command speaks to it; one that another process works on is told there what the command says.
 *   L2  It works beside other processes that have the directory open. Opened for reading it refuses what is more than reading.
 *   L3  What `invoke` answers or refuses is what `POST /api/invoke` would; a fault is thrown as it is.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type LogOptions, problemError, type RunClient } from "@millrace/client";
import type {
  CancelReason,
  CommandArgs,
  CommandName,
  CommandResult,
  ExecutionEvent,
  ModelsFrame,
  RunRef,
} from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import type { SubflowPort } from "@millrace/engine";
import { type Opening, type Store, StoreError } from "@millrace/store";
import { resolveOptions, type ServerOptions } from "../config/options.ts";
import { checkArgs, invoke } from "../dispatch/index.ts";
import { ProblemError } from "../errors.ts";
import { createLocalExecutor, ExecutorError, type LocalExecutor } from "../executor/index.ts";
import {
  type BuiltHost,
  buildHost,
  closeResources,
  type HostResources,
  openResources,
  type StoreMode,
} from "../host/build-host.ts";
import { createRequestIds, documentOf } from "../http/index.ts";
import { toClientError } from "../http/problem.ts";
import type { ModelEvents } from "../models/index.ts";
import { openTraces, type Traces } from "../observe/traces/open-traces.ts";
import type { AppServices, CommandCall } from "../ports.ts";
import { callExecutor, checkPosition, knownSummary, readEvents } from "../runs/index.ts";

export { subflowPort } from "../flows/stored-flows.ts";

/** Options of `openLocal`: options of a server, without those of its listener. */
export interface LocalOptions extends Omit<ServerOptions, "clock"> {
  /** Only reads; where there is no store yet, an empty one is read. Default false. */
  readonly readonly?: boolean;
  /** Where flows that others call come from before the templates are asked. Default: nowhere else. */
  readonly subflows?: SubflowPort;
  /** Trigger of the runs. Default `cli`. */
  readonly actor?: "cli" | "mcp";
}

/** A data directory as a client sees a server. */
export interface LocalClient extends RunClient {
  /** Stops a run that this client works on, for a reason of its own: its summary has the exit code of that. */
  stop(
    runId: string,
    options: { readonly reason: CancelReason; readonly graceMs: number },
  ): Promise<void>;
  /**
   * Pauses a run that this client works on and leaves it, as `close` leaves runs: steps whose repetition may do harm have `graceMs`
   * to end. Nothing else can be asked of the client afterwards.
   */
  leave(runId: string, graceMs: number): Promise<void>;
  /** Calls back when writes begin or end to wait for room on the disk; the answer ends it. */
  watchRoom(listener: (isFull: boolean) => void): () => void;
  /** Opens the events of managed models, from now on, until the signal; absent where none are managed. */
  readonly modelFrames?: (signal: AbortSignal) => Promise<AsyncIterable<ModelsFrame>>;
  /** Runs that are still at work are left where they are, as if the process were gone. Doing it twice is doing it once. */
  close(): Promise<void>;
}

/** How long the log of a run may take to say that it is paused. */
const PAUSE_MS = 1_000;
/** How long a command waits for the receiver of traces at most. */
const TRACES_MS = 2_000;
const ROUTE = "/api/invoke";
const STREAMS: ReadonlySet<string> = new Set(["run_flow", "get_run_events", "subscribe_events"]);
/** Commands that speak to a live run. */
const TO_RUNS: ReadonlySet<string> = new Set([
  "resolve_confirmation",
  "cancel_run",
  "pause_run",
  "resume_run",
]);
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/**
 * Opens the data directory for commands, beside whoever has it open. Throws `ConfigError` for a bad option, and what `openStore` throws.
 */
export async function openLocal(options: LocalOptions = {}): Promise<LocalClient> {
  const { readonly: reads = false, subflows, actor = "cli", ...rest } = options;
  const resolved = resolveOptions(rest);
  const { store: dir, log } = resolved;
  const resources = await openResources(resolved, modeOf(dir, reads));
  try {
    const { traces: env } = resolved;
    const isTraced = env !== undefined && !reads;
    const traces = isTraced
      ? await openTraces(env, { log: log ?? QUIET, timeoutMs: TRACES_MS })
      : undefined;
    const opened: Store = reads ? readable(resources.store) : resources.store;
    const store = traces?.watchedStore(opened) ?? opened;
    const built = await buildHost(
      resolved,
      { ...resources, store },
      {
        log: log ?? QUIET,
        journal: store.journal,
        subflows,
        traces,
        makeExecutor: (parts) => {
          const { maxLiveRuns } = resolved.limits;
          return createLocalExecutor({ ...parts, store, maxLiveRuns, now: resources.now });
        },
      },
    );
    return clientOf(built, { ...resources, store }, { limits: resolved.limits, traces, actor });
  } catch (error) {
    await closeResources(resources);
    throw error;
  }
}

/** Checks the arguments of a command and opens nothing. Throws what `invoke` would throw of them; of an unknown command nothing. */
export function checkCall(command: string, args: object): void {
  const def = COMMANDS.get(command);
  if (def === undefined) return;
  try {
    checkArgs(def, args);
  } catch (error) {
    if (!ProblemError.isInstance(error)) throw error;
    throw problemError(documentOf(error, { requestId: "", instance: ROUTE }), { cause: error });
  }
}

function modeOf(dir: string, reads: boolean): StoreMode {
  if (dir === "memory") return "empty";
  if (!reads) return "write";
  return existsSync(join(dir, "millrace.db")) ? "read" : "empty";
}

/** An empty store is no place to write to either. */
function readable(store: Store): Store {
  return store.kind === "memory" ? { ...store, condition: "store_read_only" } : store;
}

function clientOf(
  { host, executor, closeAi }: BuiltHost<LocalExecutor>,
  { store }: HostResources,
  {
    limits,
    traces,
    actor,
  }: {
    readonly limits: AppServices["limits"];
    readonly traces: Traces | undefined;
    readonly actor: AppServices["actor"];
  },
): LocalClient {
  const nextId = createRequestIds((bytes) => host.random(bytes));
  let closed: Promise<void> | undefined;
  const app: AppServices = {
    limits,
    actor,
    webhooks: false,
    studio: false,
    draining: () => closed !== undefined,
    isWired: (name) => host.commands.has(name) || STREAMS.has(name),
  };

  function callOf(signal?: AbortSignal, key?: string): CommandCall {
    const caller = { tokenId: null, role: "admin", requestId: nextId(), remote: null } as const;
    return { host, app, caller, signal: signal ?? new AbortController().signal, key };
  }

  /** The error as a client throws it. */
  function errorOf(thrown: unknown, call: CommandCall): unknown {
    call.signal.throwIfAborted();
    if (StoreError.isInstance(thrown) && thrown.code === "store_busy") return thrown; // it says who has the store
    return toClientError(thrown, { requestId: call.caller.requestId, instance: ROUTE });
  }

  async function asClient<T>(call: CommandCall, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw errorOf(error, call);
    }
  }

  /** Takes up the run of the command. True when another process had left it. */
  async function takeUp(command: string, args: object): Promise<boolean> {
    const def = TO_RUNS.has(command) ? COMMANDS.get(command) : undefined;
    if (def === undefined || store.condition !== "ok") return false;
    const { runId } = checkArgs(def, args) as { readonly runId: string };
    const run = await store.runs.summary(runId);
    if (run === null || run.endedAt !== null) return false;
    const worker = await store.runs.worker(runId);
    if (worker !== null) {
      if (command === "resume_run" && run.status !== "paused") throw atWorkError(worker);
      return false;
    }
    try {
      await callExecutor(() => executor.takeUp(runId));
    } catch (error) {
      if (ProblemError.isInstance(error) || ExecutorError.isInstance(error)) throw error;
      const detail = error instanceof Error ? error.message : "it cannot be taken up here";
      throw new ProblemError("state_conflict", { detail, cause: error });
    }
    return true;
  }

  async function call(command: string, args: object, call: CommandCall): Promise<unknown> {
    const wasLeft = await takeUp(command, args);
    try {
      return (await invoke({ command, args }, call)).value;
    } catch (error) {
      // It was not paused, only left: it goes on already.
      const goesOn =
        wasLeft &&
        command === "resume_run" &&
        ProblemError.isInstance(error) &&
        error.code === "state_conflict";
      if (!goesOn) throw error;
      return (await invoke({ command: "get_run", args }, call)).value;
    }
  }

  async function* read(
    runId: string,
    { after = 0, kinds }: LogOptions,
    signal: AbortSignal,
  ): AsyncGenerator<ExecutionEvent, void> {
    checkPosition(await knownSummary(host, runId), after);
    yield* readEvents(host, runId, { after, kinds }, signal);
  }

  /** Errors of a stream are reported like errors of a call. */
  async function* streamed(
    call: CommandCall,
    events: () => AsyncGenerator<ExecutionEvent, void>,
  ): AsyncGenerator<ExecutionEvent, void> {
    try {
      yield* events();
    } catch (error) {
      throw errorOf(error, call);
    }
  }

  const { models } = host;
  return {
    ...(models !== null && {
      modelFrames: async (signal: AbortSignal) => framesOf(models.events.read(signal)),
    }),
    async invoke<N extends CommandName>(
      command: N,
      args: CommandArgs<N>,
      { signal, idempotencyKey }: Parameters<RunClient["invoke"]>[2] = {},
    ): Promise<CommandResult<N>> {
      const one = callOf(signal, idempotencyKey);
      const value = await asClient(one, () => call(command, args, one));
      return JSON.parse(JSON.stringify(value ?? null)); // as it would have come over the wire
    },
    runFlow(request, { signal } = {}) {
      const one = callOf(signal);
      return streamed(one, async function* () {
        const { value } = await invoke({ command: "run_flow", args: request }, one);
        const kinds = request.options?.events as LogOptions["kinds"];
        const { runId } = value as RunRef;
        yield* read(runId, kinds === undefined ? {} : { kinds }, one.signal);
      });
    },
    runEvents(runId, options = {}) {
      const one = callOf(options.signal);
      return streamed(one, () => read(runId, options, one.signal));
    },
    async stop(runId, options) {
      await asClient(callOf(), () => callExecutor(() => executor.cancel(runId, options)));
    },
    async leave(runId, graceMs) {
      const paused = executor.signal(runId, { kind: "pause", by: "cli" }).catch(() => {});
      // It is paused at once; that its log says so is worth waiting for, but a full disk takes no event.
      await Promise.race([paused, pause(PAUSE_MS, undefined, { ref: false })]);
      await executor.close({ graceMs });
    },
    watchRoom: (listener) => store.journal.watchRoom?.(listener) ?? (() => {}),
    close() {
      closed ??= (async () => {
        try {
          await executor.close({ graceMs: 0 });
          await host.services.close();
          await closeAi();
        } finally {
          await traces?.close();
          await store.close();
        }
      })();
      return closed;
    },
  };
}

/** There is nothing to resume. */
function atWorkError({ pid, host, startedAt }: Opening): ProblemError {
  const detail = `process ${pid} on ${host}, since ${startedAt}, works on the run; it can be cancelled, answered and followed from here`;
  return new ProblemError("executor_unavailable", { detail });
}

/** Frames from now on, until the signal. */
async function* framesOf(
  pages: ReturnType<ModelEvents["read"]>,
): AsyncGenerator<ModelsFrame, void> {
  for await (const page of pages) {
    for (const { line } of page) yield JSON.parse(Buffer.from(line).toString("utf8"));
  }
}
