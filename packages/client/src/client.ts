/** A server as typed functions: every command by its name, and the events of runs. Works wherever there is a `fetch`. */
import {
  type CommandArgs,
  type CommandName,
  type CommandResult,
  createRunId,
  type ExecutionEvent,
  type Kind,
  type ModelsFrame,
  type RunRequest,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { ClientError, jsonOf } from "./error.ts";
import { dataOf, eventsOf, framesOf, toEvent } from "./event-stream.ts";
import { follow, type Retrying } from "./follow.ts";
import { createSend, type ServerAddress } from "./send.ts";

/** Where a server is, and how to reach it. */
export interface ClientOptions extends ServerAddress {
  /** How long an event stream may be silent before it is opened again, in milliseconds; default 45 s. */
  readonly silenceMs?: number;
  /** How an event stream that broke off is opened again. */
  readonly retry?: Retrying;
}

/** Every option, to check the given ones. */
export const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  url: true,
  token: true,
  fetch: true,
  silenceMs: true,
  retry: true,
};
const CALL_OPTIONS: OptionNames<CallOptions> = { signal: true, idempotencyKey: true };
const EVENT_OPTIONS: OptionNames<EventOptions> = {
  signal: true,
  after: true,
  kinds: true,
  node: true,
  below: true,
  snapshot: true,
  lag: true,
};
const FEED_OPTIONS: OptionNames<LogOptions> = { signal: true, after: true, kinds: true };

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Makes a repeated call of a command that changes something safe. */
  readonly idempotencyKey?: string;
}

/** Where reading begins and what is wanted. `after`: `seq` of the last event that is known; `kinds`: besides the frame of a run. */
export interface LogOptions {
  readonly signal?: AbortSignal;
  readonly after?: number;
  readonly kinds?: readonly Kind[];
}

/** Options of reading a log. */
export interface EventOptions extends LogOptions {
  /** Path: events of this node alone, besides the frame of the run. */
  readonly node?: string;
  /** With `node`: also events of the nodes in its body, at any depth. */
  readonly below?: boolean;
  /** Begins with a `snapshot` event: the run as it is, instead of its past. */
  readonly snapshot?: boolean;
  /** `snapshot`: a reader that falls behind gets one instead of the past. */
  readonly lag?: "snapshot";
}

/** An event of any run. */
export interface FeedEntry {
  /** Where the feed goes on: `after` of the next reader. */
  readonly position: number;
  /** Events before this one are no longer kept: what is known of the runs has to be read again. */
  readonly gap: boolean;
  readonly event: ExecutionEvent;
}

/** Result of a command. */
export interface CallResult<N extends CommandName> {
  readonly value: CommandResult<N>;
  /** The entity tag of what was shown, for `ifMatch` of a change. */
  readonly etag?: string;
  /** The work was done by an earlier call with the same key. */
  readonly replayed: boolean;
}

/**
 * Commands, and the events of runs: what a server is over HTTP and in the same process. Every function throws `ClientError`, or the
 * reason of the signal. A server that is newer than this package may send events of kinds that are not in `ExecutionEvent`:
 * `isKnownEvent` tells them apart, and a `switch` passes them over.
 */
export interface RunClient {
  /** Calls a command; the answer is its result. */
  invoke<N extends CommandName>(
    command: N,
    args: CommandArgs<N>,
    options?: CallOptions,
  ): Promise<CommandResult<N>>;
  /**
   * Starts a run and yields its events to the summary, also when the connection is cut: the run goes on meanwhile, and the
   * rest is read from where the reader was. Leaving the loop leaves the run alone; `cancel_run` stops it.
   */
  runFlow(
    request: RunRequest,
    options?: { readonly signal?: AbortSignal },
  ): AsyncGenerator<ExecutionEvent, void>;
  /** Yields the events of a run from a position on to its summary, over as many connections as that takes. */
  runEvents(runId: string, options?: LogOptions): AsyncGenerator<ExecutionEvent, void>;
}

/** A server over HTTP. */
export interface Client extends RunClient {
  /** Calls a command; the answer is its result, with the entity tag of what was shown. */
  call<N extends CommandName>(
    command: N,
    args: CommandArgs<N>,
    options?: CallOptions,
  ): Promise<CallResult<N>>;
  runEvents(runId: string, options?: EventOptions): AsyncGenerator<ExecutionEvent, void>;
  /**
   * Yields starts, pauses, confirmations and ends of all runs, for ever, over as many connections as that takes. `after`: the last
   * position that is known; absent: from now on.
   */
  feed(options?: LogOptions): AsyncGenerator<FeedEntry, void>;
  /** Yields what happens to models: progress of jobs, registrations, scans. What happens while the connection is cut is not told. */
  modelEvents(options?: { readonly signal?: AbortSignal }): AsyncGenerator<ModelsFrame, void>;
}

/** Makes a client; nothing is sent before its first call. */
export function createClient(options: ClientOptions): Client {
  checkOptions("createClient", options, CLIENT_OPTIONS);
  const send = createSend(options);
  const { silenceMs, retry } = options;

  function post(path: string, body: unknown, call: CallOptions = {}): Promise<Response> {
    const { signal, idempotencyKey } = call;
    return send(path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
      },
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
  }

  /** Opens a stream; null: nothing is left of it. */
  async function openStream(
    path: string,
    query: { readonly [name: string]: string | readonly string[] | undefined },
    after: number | undefined,
    signal: AbortSignal,
  ): Promise<Response | null> {
    const given = Object.entries(query).flatMap(([name, value = []]) =>
      [value].flat().map((each): [string, string] => [name, each]),
    );
    const search = given.length > 0 ? `?${new URLSearchParams(given)}` : "";
    const response = await send(path + search, {
      headers: {
        accept: "text/event-stream",
        ...(after !== undefined && { "last-event-id": `${after}` }),
      },
      signal,
    });
    return response.status === 204 ? null : response;
  }

  async function call<N extends CommandName>(
    command: N,
    args: CommandArgs<N>,
    options?: CallOptions,
  ): Promise<CallResult<N>> {
    checkOptions("invoke", options ?? {}, CALL_OPTIONS);
    // The flows of a folder are longer than what the bridge reads.
    const sent =
      command === "push_templates"
        ? post("/api/templates/push", args, options)
        : post("/api/invoke", { command, args }, options);
    const response = await sent;
    const value = await jsonOf(response).catch((error: unknown) => {
      options?.signal?.throwIfAborted();
      throw error;
    });
    const { headers } = response;
    const etag = headers.get("etag");
    return {
      value: value as CommandResult<N>,
      ...(etag !== null && { etag }),
      replayed: headers.has("idempotent-replayed"),
    };
  }

  const reading = { silenceMs };
  /** How the log of a run is read. */
  const ofRun = {
    read: (response: Response) => eventsOf(response, reading) as AsyncIterable<ExecutionEvent>,
    positionOf: ({ seq }: ExecutionEvent) => seq,
    isLast: ({ kind }: ExecutionEvent) => kind === "summary",
    silenceMs,
    retry,
  };
  const logOf = (runId: string): string => `/api/runs/${encodeURIComponent(runId)}/events`;

  return {
    call,
    invoke: async (command, args, options) => (await call(command, args, options)).value,
    runEvents(runId, options = {}) {
      checkOptions("runEvents", options, EVENT_OPTIONS);
      const { after = 0, kinds, node, below, snapshot, lag, signal } = options;
      const query = { kinds, node, below: below ? "true" : undefined, lag };
      return follow({
        ...ofRun,
        open(position, once) {
          // Who was cut off behind the snapshot goes on from there.
          const begins = snapshot && position === after ? { snapshot: "true" } : {};
          return openStream(logOf(runId), { ...query, ...begins }, position, once);
        },
        after,
        signal,
      });
    },
    feed(options = {}) {
      checkOptions("feed", options, FEED_OPTIONS);
      const { after, kinds, signal } = options;
      let known = after; // where the server says that the feed is, before its first event
      let wasOpen = false;
      let gap = false;
      return follow({
        open: (position, once) => openStream("/api/events", { kinds }, position ?? known, once),
        async *read(response) {
          // Who was cut off before the first position was known cannot say what was missed.
          gap ||= response.headers.has("millrace-feed-gap") || (wasOpen && known === undefined);
          wasOpen = true;
          for await (const { id, data } of framesOf(response, reading)) {
            const position = Number(id);
            if (id !== "") known ??= position;
            if (data === undefined) continue;
            yield { position, gap, event: toEvent(data) as ExecutionEvent };
            gap = false;
          }
        },
        positionOf: ({ position }: FeedEntry) => position,
        isLast: () => false,
        after,
        silenceMs,
        retry,
        signal,
      });
    },
    modelEvents(options = {}) {
      checkOptions("modelEvents", options, { signal: true });
      return follow({
        open: (_, once) => openStream("/api/models/events", {}, undefined, once),
        async *read(response) {
          for await (const data of dataOf(response, reading)) yield JSON.parse(data) as ModelsFrame;
        },
        positionOf: () => undefined,
        isLast: () => false,
        after: undefined,
        silenceMs,
        retry,
        signal: options.signal,
      });
    },
    runFlow(request, options = {}) {
      checkOptions("runFlow", options, { signal: true });
      const { signal } = options;
      // The id is chosen here, so that the run is found again when the connection breaks before the answer.
      const runId = request.options?.runId ?? createRunId(Date.now(), Math.random);
      const body: RunRequest = {
        ...request,
        options: { onDisconnect: "continue", ...request.options, runId },
      };
      const kinds = request.options?.events as readonly Kind[] | undefined;
      let mayRun = false;
      const open = async (after = 0, once: AbortSignal): Promise<Response | null> => {
        const attach = () => openStream(logOf(runId), { kinds }, after, once);
        const isRepeat = mayRun;
        if (isRepeat) {
          try {
            return await attach();
          } catch (error) {
            // The request that broke off had not arrived: then it is sent again.
            const arrived = after > 0 || codeOf(error) !== "not_found";
            if (arrived) throw error;
          }
        }
        mayRun = true;
        return post("/api/run", body, { signal: once }).catch((error: unknown) => {
          const code = codeOf(error);
          if (isRepeat && code === "already_exists") return attach(); // the first request arrived late
          mayRun = code === "unreachable";
          throw error;
        });
      };
      return follow({ ...ofRun, open, after: 0, signal });
    },
  };
}

function codeOf(error: unknown): string | undefined {
  return ClientError.isInstance(error) ? error.code : undefined;
}
