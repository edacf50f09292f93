/** A server as typed functions: every command by its name, and the events of runs. Works wherever there is a `fetch`. */
import {
  type CommandArgs,
  type CommandName,
  type CommandResult,
  createRunId,
  type ExecutionEvent,
  type Kind,
  type RunRequest,
} from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import { ClientError } from "./error.ts";
import { follow, type Retrying } from "./follow.ts";
import { createSend, type ServerAddress } from "./send.ts";

/** Where a server is, and how to reach it. */
export interface ClientOptions extends ServerAddress {
  /** How long an event stream may be silent before it is opened again, in milliseconds; default 45 s. */
  readonly silenceMs?: number;
  /** How an event stream that broke off is opened again. */
  readonly retry?: Retrying;
}

/** Every option, for who checks what it was given. */
export const CLIENT_OPTIONS: OptionNames<ClientOptions> = {
  url: true,
  token: true,
  fetch: true,
  silenceMs: true,
  retry: true,
};
const CALL_OPTIONS: OptionNames<CallOptions> = { signal: true, idempotencyKey: true };
const EVENT_OPTIONS: OptionNames<EventOptions> = { signal: true, after: true, kinds: true };

/** Options of one call. */
export interface CallOptions {
  readonly signal?: AbortSignal;
  /** Makes a repeated call of a command that changes something safe. */
  readonly idempotencyKey?: string;
}

/** Options of reading a log. `after`: `seq` of the last event that is known; `kinds`: those wanted besides the frame of a run. */
export interface EventOptions {
  readonly signal?: AbortSignal;
  readonly after?: number;
  readonly kinds?: readonly Kind[];
}

/**
 * A server. Every function throws `ClientError`, or the reason of the signal. A server that is newer than this package may send
 * events of kinds that are not in `ExecutionEvent`: `isKnownEvent` tells them apart, and a `switch` passes them over.
 */
export interface Client {
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
  runEvents(runId: string, options?: EventOptions): AsyncGenerator<ExecutionEvent, void>;
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

  async function attach(
    runId: string,
    after: number,
    kinds: readonly Kind[] | undefined,
    signal: AbortSignal,
  ): Promise<Response | null> {
    const query = new URLSearchParams(kinds?.map((kind): [string, string] => ["kinds", kind]));
    const search = kinds?.length ? `?${query}` : "";
    const response = await send(`/api/runs/${encodeURIComponent(runId)}/events${search}`, {
      headers: { accept: "text/event-stream", "last-event-id": `${after}` },
      signal,
    });
    return response.status === 204 ? null : response;
  }

  return {
    async invoke(command, args, call) {
      checkOptions("invoke", call ?? {}, CALL_OPTIONS);
      const response = await post("/api/invoke", { command, args }, call);
      try {
        return (await response.json()) as CommandResult<typeof command>;
      } catch (cause) {
        throw new ClientError("bad_answer", "the answer is not JSON", { cause });
      }
    },
    runEvents(runId, options = {}) {
      checkOptions("runEvents", options, EVENT_OPTIONS);
      const { after = 0, kinds, signal } = options;
      const open = (position: number, once: AbortSignal) => attach(runId, position, kinds, once);
      return follow({ open, after, silenceMs, retry, signal });
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
      const open = async (after: number, once: AbortSignal): Promise<Response | null> => {
        if (mayRun) {
          try {
            return await attach(runId, after, kinds, once);
          } catch (error) {
            // The request that broke off had not arrived: then it is sent again.
            const arrived = after > 0 || codeOf(error) !== "not_found";
            if (arrived) throw error;
          }
        }
        mayRun = true;
        return post("/api/run", body, { signal: once }).catch((error: unknown) => {
          mayRun = codeOf(error) === "unreachable";
          throw error;
        });
      };
      return follow({ open, after: 0, silenceMs, retry, signal });
    },
  };
}

function codeOf(error: unknown): string | undefined {
  return ClientError.isInstance(error) ? error.code : undefined;
}
