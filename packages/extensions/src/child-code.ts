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
import { type ControlContext, exit, type FieldFinding, NodeError } from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import type { EgressResolver } from "@millrace/engine/node";
import type { Peer } from "./child/peer.ts";
import { lineTo } from "./child-line.ts";
import { type ChildSetup, endOf, needsTripwire, startChild } from "./child-process.ts";
import { childProvider } from "./child-provider.ts";
import type { OpenCall } from "./host-calls.ts";
import {
  didNotLoad,
  type HostCode,
  type HostCodeOptions,
  inTime,
  loadProblem,
  STALE,
  settled,
  within,
} from "./host-code.ts";
import { readOutput } from "./output-lines.ts";
import { hasSockets } from "./permissions.ts";
import { type ExtensionProblem, ProblemFound, problemError } from "./problem.ts";

const MAX_BACKOFF_MS = 30_000;
const CRASH_WINDOW_MS = 60_000;
const MOST_CRASHES = 3; // within the window; then it is quarantined

/** Options of code in a process; without `isHeard` its standard output and error are not read. */
export interface ChildCodeOptions extends HostCodeOptions, ChildSetup {
  /** The addresses that a socket to a host may use. */
  readonly addresses: EgressResolver;
}

interface Live {
  readonly peer: Peer;
  readonly child: ChildProcess;
  readonly calls: Map<number, OpenCall>;
}

interface Called {
  readonly call: OpenCall;
  /** Asked for when it has aborted, for the reason. */
  signal(): ControlContext["signal"];
  /** As `whenAborted` for that signal. */
  whenAborted(listener: () => void): () => void;
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

  const crashed = (how: string): void => {
    if (closed || problem !== undefined) return;
    const now = performance.now();
    crashes = crashes.filter((at) => now - at < CRASH_WINDOW_MS);
    if (crashes.length === 0) backoffMs = times.backoffMs;
    crashes.push(now);
    if (crashes.length >= MOST_CRASHES) {
      const text = `its process ended ${crashes.length} times within a minute, last with ${how}; see millrace ext doctor`;
      fail({ code: "extension_quarantined", message: text });
      return;
    }
    const hint = options.isHeard ? "" : "; what it wrote is shown with --verbose";
    const text = `its process ended by itself with ${how}; it is started again when used${hint}`;
    options.warn("extension_crashed", text);
    notBefore = now + backoffMs;
    backoffMs = Math.min(backoffMs * 2, MAX_BACKOFF_MS);
  };

  const start = async (): Promise<Live> => {
    const waitMs = notBefore - performance.now();
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
    const gone = new Promise<{ readonly how: string }>((resolve) => {
      const end = (how: string): void => {
        resolve({ how }); // first: callers that wait for the load get this error, not its consequence
        const text = `the process of the extension ended with ${how}`;
        peer.end(new NodeError("extension_crashed", text));
        if (process_ !== child) return;
        forget();
        if (!expected) crashed(how);
      };
      child.once("exit", (code, signal) => end(endOf(code, signal)));
      child.once("error", ({ message }) => end(message));
    });
    await Promise.race([ready, gone]);
    const loaded = peer.request("load", {
      entry: options.entry,
      tripwire: needsTripwire(options.granted),
      sockets: hasSockets(options.granted),
      now: Date.now(),
      config: options.config,
    });
    const died = gone.then(({ how }) => {
      throw didNotLoad(`its process ended while it loaded, with ${how}`);
    });
    const first = inTime(times.loadMs, Promise.race([loaded, died]));
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
    open += 1;
    try {
      live ??= start().catch((error: unknown) => {
        live = undefined;
        throw error;
      });
      return await work(up ?? (await live));
    } finally {
      open -= 1;
      if (open === 0 && !closed) rest();
    }
  };

  /** Begins to wait for the next call; one timer serves all waits. */
  function rest(): void {
    if (idle !== undefined) {
      idle.refresh();
      return;
    }
    idle = setTimeout(() => {
      if (open === 0) retiring = retire();
    }, times.idleMs);
    idle.unref();
  }

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

  /** A request with an open call behind it. The child is told when that is to stop, and ended where it goes on. */
  const called = async (
    at: Live,
    op: string,
    body: object,
    { call, signal, whenAborted }: Called,
  ): Promise<unknown> => {
    let id = 0;
    let timer: NodeJS.Timeout | undefined;
    let leave: () => void = () => {};
    try {
      const answer = at.peer.request(op, body, (given) => {
        id = given;
        at.calls.set(given, call);
      });
      leave = whenAborted(() => {
        at.peer.tell("cancel", { call: id, reason: codeOf(signal().reason) });
        timer = setTimeout(() => {
          options.warn("extension_ignored_abort", "a body went on after its signal; it was killed");
          if (process_ === at.child) stop();
        }, times.killMs);
      });
      return await answer;
    } finally {
      at.calls.delete(id);
      clearTimeout(timer);
      leave();
    }
  };

  return {
    body:
      ({ type, isRepeatable }) =>
      async (fields, ctx, core) => {
        const how: Called = {
          call: { ctx },
          signal: () => ctx.signal,
          whenAborted(listener) {
            core.onAbort(listener);
            return () => core.onAbort(null);
          },
        };
        try {
          const answer = await use((at) => {
            const { runId, node, attempt, idempotencyKey, config } = ctx;
            const begin = { runId, node, attempt, idempotencyKey, config, now: ctx.now() };
            return called(at, "run", { type, fields, ctx: begin }, how);
          });
          const { port, output } = answer as { readonly port?: string; readonly output: unknown };
          return port === undefined ? output : exit(port, output);
        } catch (error) {
          if (!NodeError.isInstance(error) || error.code !== "extension_crashed") throw error;
          throw new NodeError("extension_crashed", error.message, {
            retryable: isRepeatable,
            reason: "internal",
          });
        }
      },
    check: (type, fields) =>
      use(async (at) => {
        const checked = at.peer.request("check", { type, fields }) as Promise<FieldFinding[]>;
        return within(times.checkMs, checked, () => {
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
            signal: () => ctx.signal,
            whenAborted: (listener) => whenAborted(ctx.signal, listener),
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

function codeOf(reason: unknown): string {
  const { code, name } = (reason ?? {}) as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === "string" ? code : typeof name === "string" ? name : "cancelled";
}
