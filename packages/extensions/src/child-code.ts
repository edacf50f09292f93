/**
 * The code of an extension in a process of its own: started at the first use, stopped when idle, started again after a crash.
 *   C1  a call ends once: with its answer, or `extension_crashed` when the process is gone.
 *   C2  a process that died is not started again before its pause is over; after three deaths in a minute never.
 *   C3  a body that goes on after its signal costs the process.
 *   C4  after `close` there is no process and no timer.
 *   C5  what adapters have opened is closed before the process ends, unless it is ended because it hangs.
 */
import type { ChildProcess } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import {
  type AiProvider,
  type ControlContext,
  exit,
  type FieldFinding,
  type HostContext,
  type JsonObject,
  NodeError,
} from "@millrace/contracts";
import type { Fields } from "@millrace/engine";
import type { EgressResolver } from "@millrace/engine/node";
import { seedOf } from "./child/chance.ts";
import type { Peer } from "./child/peer.ts";
import { lineTo } from "./child-line.ts";
import { type ChildSetup, needsTripwire, startChild } from "./child-process.ts";
import { childProvider } from "./child-provider.ts";
import type { Body } from "./code.ts";
import type { OpenCall } from "./host-calls.ts";
import { type Imported, loadFailure } from "./load-failure.ts";
import { readOutput } from "./output-lines.ts";
import { hasSockets } from "./permissions.ts";
import { type ExtensionProblem, ProblemFound, problemError } from "./problem.ts";

/** Lengths of time in the life of code, in milliseconds; a test may shorten them. */
export interface CodeTimes {
  /** To import it, and to check literal fields; default 5,000. */
  readonly loadMs: number;
  /** First pause after a crash, which doubles up to 30 s; default 500. */
  readonly backoffMs: number;
  /** From the signal to the end of a process whose body goes on; default 5,000. */
  readonly killMs: number;
  /** Without a call to the end of the process; default 60,000. */
  readonly idleMs: number;
}

/** The defaults, in milliseconds. */
export const CODE_TIMES: CodeTimes = {
  loadMs: 5_000,
  backoffMs: 500,
  killMs: 5_000,
  idleMs: 60_000,
};

const MAX_BACKOFF_MS = 30_000;
const CRASH_WINDOW_MS = 60_000;
const MOST_CRASHES = 3; // within the window; then it is quarantined
/** Milliseconds for what adapters close; whoever stops a host does not wait for longer. */
const CLOSE_MS = 1_000;

/** How the host uses code, wherever it runs. */
export interface HostCode {
  /** What runs the body of one type: it answers at once where it can, with a promise otherwise. */
  body(of: TypeOfCode): Body;
  check(type: string, fields: Fields): Promise<readonly FieldFinding[]>;
  provider(id: string): AiProvider;
  close(): Promise<void>;
}

/** A type whose body is run. */
export interface TypeOfCode {
  /** `weather.forecast@1`. */
  readonly type: string;
  /** Whether the same call may be made again after it was cut off. */
  readonly isRepeatable: boolean;
}

/** What code is made from, wherever it runs. */
export interface HostCodeOptions extends Imported {
  /** Digest of `catalog.json`. */
  readonly digest: string;
  readonly config: { readonly [id: string]: JsonObject };
  readonly times: CodeTimes;
  /** Network and log outside of any attempt. */
  readonly host: HostContext;
  /** It cannot be used from here on. */
  failed(problem: ExtensionProblem): void;
  warn(code: string, text: string): void;
  /** Takes a line that its code writes to standard output or error, or what it throws while it is loaded. */
  said(stream: "stdout" | "stderr", text: string): void;
  /** Throws `ProblemFound` for files that are not those that were reviewed. */
  unchanged(): Promise<void>;
}

/** What code in a process is made from; without `isHeard` nothing of its standard output and error is read. */
export interface ChildCodeOptions extends HostCodeOptions, ChildSetup {
  /** The addresses that a socket to a host may use. */
  readonly addresses: EgressResolver;
}

/** A process that is up. */
interface Live {
  readonly peer: Peer;
  readonly child: ChildProcess;
  readonly calls: Map<number, OpenCall>;
}

/**
 * Code of a package in a process of its own, which begins with the first call and ends when nobody calls. After a crash it is
 * started again after a pause that grows; after three within a minute `failed` is told and it stays down. A call rejects with
 * `NodeError` `extension_crashed` when the process ended, with `ProblemFound` when the code cannot be loaded, or with what the
 * code threw.
 */
export function createChildCode(options: ChildCodeOptions): HostCode {
  const { times } = options;
  let live: Promise<Live> | undefined;
  let process_: ChildProcess | undefined;
  let up: Live | undefined;
  let problem: ExtensionProblem | undefined;
  let idle: NodeJS.Timeout | undefined;
  let retiring: Promise<void> | undefined;
  const pause = new AbortController();
  let open = 0;
  let closed = false;
  let heard: Promise<void> = Promise.resolve();
  let backoffMs = times.backoffMs;
  let notBefore = 0;
  let crashes: number[] = [];

  const fail = (found: ExtensionProblem): NodeError => {
    if (problem === undefined) options.failed(found);
    problem ??= found;
    return problemError(problem);
  };

  const crashed = (): void => {
    if (closed || problem !== undefined) return;
    const now = Date.now();
    crashes = crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    if (crashes.length === 0) backoffMs = times.backoffMs;
    crashes.push(now);
    if (crashes.length >= MOST_CRASHES) {
      const text = `its process ended ${crashes.length} times within a minute; see millrace ext doctor`;
      fail({ code: "extension_quarantined", message: text });
      return;
    }
    options.warn("extension_crashed", "its process ended by itself; it is started again when used");
    notBefore = now + backoffMs;
    backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
  };

  const start = async (): Promise<Live> => {
    const waitMs = notBefore - Date.now();
    if (waitMs > 0) await delay(waitMs, undefined, pause).catch(() => {});
    let child: ChildProcess;
    try {
      await options.unchanged();
      if (closed) throw new NodeError("extension_crashed", "the host stops");
      child = startChild(options);
    } catch (error) {
      if (error instanceof ProblemFound) throw fail(error.problem);
      throw error;
    }
    process_ = child;
    if (options.isHeard) heard = readOutput(child, options.said);
    let expected = false;
    const calls = new Map<number, OpenCall>([
      [0, { ctx: options.host, addresses: options.addresses }],
    ]);
    const { peer, ready } = lineTo(child, calls);
    const gone = new Promise<"gone">((resolve) => {
      const end = (): void => {
        resolve("gone"); // first: who waits for the load is to hear this, not what comes of it
        peer.end(new NodeError("extension_crashed", "the process of the extension ended"));
        if (process_ !== child) return;
        forget();
        if (!expected) crashed();
      };
      child.once("exit", end);
      child.once("error", end);
    });
    await Promise.race([ready, gone]);
    const loaded = peer.request("load", {
      entry: options.entry,
      tripwire: needsTripwire(options.granted),
      sockets: hasSockets(options.granted),
      now: Date.now(),
      config: options.config,
    });
    const first = inTime(times.loadMs, Promise.race([loaded, gone])).then((answer) => {
      if (answer === "gone") throw didNotLoad("its process ended while it loaded");
      return answer;
    });
    const answer = await first.catch(async (error: unknown) => {
      expected = true; // it does not count as a crash: it is not started again at all
      child.kill("SIGKILL");
      throw fail(await loadProblem(error, options));
    });
    const { catalogDigest } = answer as { readonly catalogDigest?: unknown };
    if (catalogDigest !== options.digest) {
      expected = true;
      child.kill("SIGKILL");
      throw fail(STALE);
    }
    up = { peer, child, calls };
    return up;
  };

  const use = async <T>(work: (at: Live) => Promise<T>): Promise<T> => {
    if (problem !== undefined) throw problemError(problem);
    clearTimeout(idle);
    open += 1;
    try {
      live ??= start().catch((error: unknown) => {
        live = undefined;
        throw error;
      });
      return await work(await live);
    } finally {
      open -= 1;
      if (open === 0 && !closed) {
        idle = setTimeout(() => {
          retiring = retire();
        }, times.idleMs);
        idle.unref();
      }
    }
  };

  function forget(): void {
    process_ = undefined;
    live = undefined;
    up = undefined;
  }

  /** Ends the process at once, without a complaint. */
  function stop(): void {
    const child = process_;
    forget();
    child?.kill("SIGKILL");
  }

  /** Ends the process without a complaint, once its adapters have closed what they opened. */
  async function retire(): Promise<void> {
    const child = process_;
    const peer = up?.peer;
    forget();
    if (peer !== undefined) await settled(peer.request("close", {}));
    child?.kill("SIGKILL");
  }

  /** Tells the child that a call is to stop, and ends it where the call goes on. Answers what takes that back. */
  const follow = (at: Live, id: number, signal: ControlContext["signal"]): (() => void) => {
    let timer: NodeJS.Timeout | undefined;
    const aborted = (): void => {
      at.peer.tell("cancel", { call: id, reason: codeOf(signal.reason) });
      timer = setTimeout(() => {
        options.warn("extension_ignored_abort", "a body went on after its signal; it was killed");
        if (process_ === at.child) stop();
      }, times.killMs);
    };
    if (signal.aborted) aborted();
    else signal.addEventListener("abort", aborted, { once: true });
    return () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
    };
  };

  /** A request with an open call behind it. */
  const called = async (
    at: Live,
    op: string,
    body: object,
    { call, signal }: { readonly call: OpenCall; readonly signal: ControlContext["signal"] },
  ): Promise<unknown> => {
    let id = 0;
    let unfollow: () => void = () => {};
    try {
      return await at.peer.request(op, body, (given) => {
        id = given;
        const step = (key: string) => at.peer.request("step", { call: given, key });
        at.calls.set(given, { ...call, step });
        queueMicrotask(() => {
          if (at.calls.has(given)) unfollow = follow(at, given, signal);
        });
      });
    } finally {
      at.calls.delete(id);
      unfollow();
    }
  };

  return {
    body:
      ({ type, isRepeatable }) =>
      (fields, ctx) =>
        use(async (at) => {
          const { runId, node, attempt, idempotencyKey, config } = ctx;
          const begin = { runId, node, attempt, idempotencyKey, config };
          const body = { type, fields, ctx: { ...begin, now: ctx.now(), seed: seedOf(ctx) } };
          const answer = await called(at, "run", body, { call: { ctx }, signal: ctx.signal });
          const { port, output } = answer as { readonly port?: string; readonly output: unknown };
          return port === undefined ? output : exit(port, output);
        }).catch((error: unknown) => {
          if (!NodeError.isInstance(error) || error.code !== "extension_crashed") throw error;
          throw new NodeError("extension_crashed", error.message, {
            retryable: isRepeatable,
            reason: "internal",
          });
        }),
    check: (type, fields) =>
      use(async (at) => {
        const checked = at.peer.request("check", { type, fields }) as Promise<FieldFinding[]>;
        return within(times.loadMs, checked, () => {
          // A step may have the thread for that long: it has its own end, and is not to end with the check.
          const isBusy = at.calls.size > 1;
          const text = isBusy ? "its process is at work; it was left out" : "it was killed";
          options.warn("extension_check_late", `the check of ${type} did not end; ${text}`);
          if (isBusy) return [];
          if (process_ === at.child) stop();
          return checked;
        });
      }),
    provider: (id) =>
      childProvider(id, (body, { ctx, parts }) =>
        use((at) =>
          called(at, "model", body, {
            call: { ctx: { fetch: ctx.fetch, log: () => {} }, ...(parts && { parts }) },
            signal: ctx.signal,
          }),
        ),
      ),
    async close() {
      closed = true;
      clearTimeout(idle);
      pause.abort();
      const starting = live;
      await Promise.all([retiring, retire()]); // one that was idle may still be on its way out
      await starting?.catch(() => {});
      await settled(heard); // what it wrote last is still on its way
    },
  };
}

/** The catalog says something else than the code. */
export const STALE: ExtensionProblem = {
  code: "extension_catalog_stale",
  message: "catalog.json is not that of the code; whoever made the package builds it again",
};

/** The problem of an import that failed, with its place. Logs hold it, so what code threw is named without its message. */
export async function loadProblem(error: unknown, at: Imported): Promise<ExtensionProblem> {
  if (error instanceof ProblemFound) return error.problem;
  const { code, message } = (NodeError.isInstance(error) ? error : {}) as Partial<NodeError>;
  if (code === "extension_api_unsupported") return { code, message: message ?? "" };
  if (code === "extension_load_failed") return { code, message: message ?? "" };
  return { code: "extension_load_failed", message: await loadFailure(error, at, false) };
}

/** The answer of loading, or the problem that there is none in time. */
export function inTime<T>(ms: number, loaded: Promise<T>): Promise<T> {
  return within(ms, loaded, () => {
    throw didNotLoad(`its code did not load within ${ms} ms`);
  });
}

/** Ends with the promise, whatever comes of it, or when whoever stops a host has waited for long enough. */
export async function settled(work: Promise<unknown>): Promise<void> {
  await within(CLOSE_MS, work, () => {}).catch(() => {});
}

/** What the promise answers, or `late` after so many milliseconds. */
async function within<T>(ms: number, work: Promise<T>, late: () => T | Promise<T>): Promise<T> {
  const waited = new AbortController();
  work.catch(() => {});
  try {
    return await Promise.race([work, delay(ms, undefined, waited).then(late)]);
  } finally {
    waited.abort();
  }
}

function didNotLoad(text: string): ProblemFound {
  return new ProblemFound("extension_load_failed", text);
}

function codeOf(reason: unknown): string {
  const { code, name } = (reason ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : "cancelled";
}
