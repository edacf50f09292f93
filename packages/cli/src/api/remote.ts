/**
 * A server as the API of the commands.
 *   K1  The token goes to the origin that was named, and over no redirect; without TLS only to this machine.
 *   K2  The credential store is asked for a token only when the server wants one that was not given.
 *   K3  What fails names the origin, and never the token.
 */

import {
  type CallOptions,
  ClientError,
  createClient,
  dataOf,
  type RunClient,
  refusal,
} from "@millrace/client";
import type { ModelsFrame } from "@millrace/contracts";
import type { CommandIo } from "../argv/spec.ts";
import type { Config } from "../config/load.ts";
import { CliError, endedBy } from "../errors.ts";
import type { Api } from "./api.ts";
import { givenToken, refuseClearText, serverBase, storedToken } from "./server-url.ts";

/** Time limit of a call without a signal of its own: `run_and_wait` may take 60 s, and a token request behind another 30 s. */
const CALL_TIMEOUT_MS = 120_000;
/** Whoever waits at a terminal wants to hear soon that a stream is lost: 5 tries, 0.25 to 4 s apart. */
const RETRY = { maxTries: 5, maxDelayMs: 4_000 } as const;
/** The version of the API that this program speaks. */
const API_VERSION = "1";
const UNAUTHORIZED = 401;

/** The client of the server at this URL. Throws a usage error for what is no URL, or a token that would travel in the clear. */
export async function createRemote(
  url: string,
  { tokenFile, config }: { readonly tokenFile: string | undefined; readonly config: Config },
  io: CommandIo,
): Promise<RunClient & Pick<Api, "modelFrames">> {
  const base = serverBase(url);
  const { origin } = base;
  let token = await givenToken(tokenFile, io);
  let asked = token !== undefined;
  if (token !== undefined) refuseClearText(base);

  async function send(target: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set("authorization", `Bearer ${token}`);
    const response = await io.fetch(target, { ...init, headers, redirect: "manual" });
    if (response.status === UNAUTHORIZED && !asked) {
      asked = true;
      token = await storedToken(origin, config);
      if (token !== undefined) {
        refuseClearText(base);
        await response.body?.cancel();
        return send(target, init);
      }
    }
    checkVersion(origin, response);
    return response;
  }

  const client = createClient({ url: base.href, fetch: send, retry: RETRY });
  return {
    async invoke(command, args, { signal, ...more }: CallOptions = {}) {
      const until = signal ?? AbortSignal.any([io.signal, AbortSignal.timeout(CALL_TIMEOUT_MS)]);
      return client.invoke(command, args, { ...more, signal: until }).catch((error: unknown) => {
        const isInterrupt = io.signal.aborted && error === io.signal.reason;
        throw isInterrupt ? endedBy(io.signal) : named(origin, error);
      });
    },
    runFlow: (request, options) => naming(origin, client.runFlow(request, options)),
    runEvents: (runId, options) => naming(origin, client.runEvents(runId, options)),
    async modelFrames(signal) {
      const unanswered = new AbortController();
      const late = AbortSignal.timeout(CALL_TIMEOUT_MS);
      const leave = (): void => unanswered.abort(late.reason);
      late.addEventListener("abort", leave);
      try {
        const response = await send(`${base.href}api/models/events`, {
          headers: { accept: "text/event-stream" },
          signal: AbortSignal.any([signal, unanswered.signal]),
        });
        if (!response.ok) throw await refusal(response);
        return framesOf(response);
      } catch (error) {
        signal.throwIfAborted();
        const cause = error;
        throw named(
          origin,
          error instanceof CliError || ClientError.isInstance(error)
            ? error
            : new ClientError("unreachable", "the models cannot be heard", { cause }),
        );
      } finally {
        late.removeEventListener("abort", leave); // once it has begun, the stream may last
      }
    },
  };
}

/** Another version may mean something else by the same words. */
function checkVersion(origin: string, response: Response): void {
  const version = response.headers.get("millrace-api-version") ?? API_VERSION;
  if (version === API_VERSION) return;
  throw new CliError(
    "unavailable",
    `${origin} speaks version ${version.slice(0, 20)} of the API, and this program version ${API_VERSION}`,
  );
}

async function* naming<T>(
  origin: string,
  events: AsyncGenerator<T, void>,
): AsyncGenerator<T, void> {
  try {
    yield* events;
  } catch (error) {
    throw named(origin, error);
  }
}

/** The error with the origin in its message, where the server did not speak for itself. */
function named(origin: string, error: unknown): unknown {
  if (isTimeout(error) || (error instanceof Error && isTimeout(error.cause))) {
    return new ClientError("unreachable", `the server ${origin}: it did not answer in time`);
  }
  if (!ClientError.isInstance(error)) return error;
  // Thrown on the way out, not by the server.
  if (error.cause instanceof CliError) return error.cause;
  const { code, status, problem, retryAfterMs, message, cause } = error;
  const more = {
    cause,
    ...(status !== undefined && { status }),
    ...(problem && { problem }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
  if (problem !== undefined) {
    const isRefused = code === "unauthorized" || code === "forbidden";
    return isRefused ? new ClientError(code, `${origin}: ${message}`, more) : error;
  }
  if (code === "bad_answer") {
    const answered = status === undefined ? "answered" : `answered ${status}`;
    return new ClientError(code, `${origin} ${answered}, and not as a Millrace server does`, more);
  }
  const lost = code === "unreachable" ? "it cannot be reached" : message;
  const why = status === undefined ? (systemCode(cause) ?? lost) : `it answered ${status}`;
  return new ClientError(code, `the server ${origin}: ${why}`, more);
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === "TimeoutError";
}

/** `ECONNREFUSED`, as deep as `fetch` hides it. */
function systemCode(error: unknown): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ("code" in at && typeof at.code === "string") return at.code;
  }
  return undefined;
}

async function* framesOf(response: Response): AsyncGenerator<ModelsFrame, void> {
  for await (const text of dataOf(response)) {
    try {
      yield JSON.parse(text) as ModelsFrame;
    } catch (cause) {
      throw new ClientError("bad_answer", "a line of the answer is no frame", { cause });
    }
  }
}
