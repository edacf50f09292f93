/**
 * A server as the host of desktop channels: the same commands and the same logs, without HTTP between.
 *   H1  A command passes the checks of `POST /api/invoke` and answers the same value.
 *   H2  A listener is a position in the journal: a slow one reads on from there and loses nothing.
 */
import { setImmediate } from "node:timers/promises";
import type { Channel, ChannelMap, ExecutionEvent, StoredEvent } from "@millrace/contracts";
import { checkOptions } from "@millrace/contracts/options";
import {
  type ChannelHost,
  CommandError,
  commandError,
  isChannel,
  type ListenOptions,
} from "@millrace/desktop";
import { ProblemError } from "../errors.ts";
import { decodeEvent } from "../executor/index.ts";
import { createRequestIds, documentOf } from "../http/index.ts";
import { fromStore } from "../http/problem.ts";
import type { Caller } from "../ports.ts";
import { checkPosition, isEnded, knownSummary } from "../runs/index.ts";
import type { MillraceServer } from "../server/create-server.ts";
import { createFeedReader } from "../streams/index.ts";

/** Who is at the other end. */
export interface ChannelHostOptions {
  /** Role of the window; default `admin`: it is the user's own. */
  readonly role?: Caller["role"];
}

/** Makes the host of a server. It ends with the server; a subscription ends when its run does, or by its own function. */
export function createChannelHost(
  { app, host }: Pick<MillraceServer, "app" | "host">,
  options: ChannelHostOptions = {},
): ChannelHost {
  checkOptions("createChannelHost", options, { role: true });
  const { role = "admin" } = options;
  const readFeed = createFeedReader();
  const nextId = createRequestIds((bytes) => host.random(bytes));

  /** The error that a window gets. A fault is written to the log, and the window gets its request id. */
  function toCommandError(thrown: unknown, requestId: string): CommandError {
    const error = fromStore(thrown);
    const isProblem = ProblemError.isInstance(error);
    if (!isProblem) host.log.error({ requestId, err: error }, "command.failed");
    const problem = isProblem ? error : new ProblemError("internal");
    return new CommandError(documentOf(problem, { requestId, instance: null }), { cause: error });
  }

  async function logOf(
    options: ListenOptions,
  ): Promise<(signal: AbortSignal) => AsyncIterable<readonly StoredEvent[]>> {
    const { runId, after = 0 } = options;
    if (runId === undefined) {
      const { feed } = host.store;
      const from = await feed.last();
      return (signal) => readFeed(feed, from, signal);
    }
    const run = await knownSummary(host, runId);
    checkPosition(run, after);
    if (isEnded(run.status) && after === run.lastSeq) return () => nothing();
    return (signal) => host.executor.attach(runId, { after, signal });
  }

  async function pump(
    pages: AsyncIterable<readonly StoredEvent[]>,
    deliver: (event: ExecutionEvent) => void | Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      for await (const page of pages) {
        for (const stored of page) {
          if (signal.aborted) return;
          const wait = deliver(decodeEvent(stored) as ExecutionEvent);
          if (wait !== undefined) await wait;
        }
        await setImmediate(); // a long log must not keep everything else waiting
      }
    } catch (error) {
      host.log.error({ err: error }, "channel.failed");
    }
  }

  return {
    async invoke(command, args, { signal } = {}) {
      const requestId = nextId();
      const caller: Caller = { tokenId: null, role, requestId, remote: null };
      try {
        const value = await app.invoke(command, args, caller, signal as AbortSignal | undefined);
        return value as never; // what a command answers is JSON
      } catch (error) {
        throw toCommandError(error, requestId);
      }
    },
    async listen<C extends Channel>(
      channel: C,
      deliver: (payload: ChannelMap[C]) => void | Promise<void>,
      listening: ListenOptions = {},
    ) {
      if (!isChannel(channel)) throw commandError("channel_unknown", "there is no such channel");
      if (channel !== "flow:execution") {
        if (host.models === null) {
          throw commandError("command_not_wired", "this server manages no models");
        }
        // A window shows the present state of models: a slow one misses past events.
        return host.models.events.listen((name, payload) => {
          if (name === channel) void deliver(payload as ChannelMap[C]);
        });
      }
      const stop = new AbortController();
      try {
        const pages = (await logOf(listening))(stop.signal);
        void pump(pages, deliver as (event: ExecutionEvent) => void | Promise<void>, stop.signal);
      } catch (error) {
        throw toCommandError(error, nextId());
      }
      return () => stop.abort();
    },
  };
}

async function* nothing(): AsyncGenerator<readonly StoredEvent[], void> {}
