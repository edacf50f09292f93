/** The requests of a client and of the transport over HTTP: where they go, what they carry, and how they fail. */
import { ClientError, refusal } from "./error.ts";
import { isAbort } from "./event-stream.ts";

/** `fetch` as browsers and Node have it. */
export type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

const WRONG_URL = '`options.url` must be a text such as "http://127.0.0.1:6455"';

/** Where a server is, and how to reach it. */
export interface ServerAddress {
  /** Such as `http://127.0.0.1:6455`; a path is kept. */
  readonly url: string;
  /** Sent as bearer token. Default: none. */
  readonly token?: string;
  /** Default `globalThis.fetch`; another goes through something, such as a proxy. */
  readonly fetch?: Fetch;
}

/** One request of a path of the server. Throws `ClientError` for every answer that is no success, or the reason of the signal. */
export type Send = (path: string, init: RequestInit) => Promise<Response>;

/**
 * Makes what sends the requests of one client: to paths below `url`, with the token where there is one. Nothing is sent, and `url`
 * is not looked at, before the first request.
 */
export function createSend(address: ServerAddress): Send {
  const { url, token, fetch } = address;
  if (typeof url !== "string") throw new TypeError(WRONG_URL);
  const base = url.replace(/\/+$/, "");
  const authorization = token !== undefined && { authorization: `Bearer ${token}` };
  return async (path, init) => {
    let response: Response;
    try {
      response = await callFetch(fetch, base + path, {
        ...init,
        headers: { ...authorization, ...(init.headers as Record<string, string>) },
      });
    } catch (cause) {
      if (isAbort(cause) || init.signal?.aborted) throw init.signal?.reason ?? cause;
      if (ClientError.isInstance(cause)) throw cause;
      const fault = faultOf(address);
      // Its cause quotes the URL or the token.
      if (fault !== undefined) throw new ClientError("bad_fetch", fault);
      throw new ClientError("unreachable", `${base} cannot be reached`, { cause });
    }
    if (response.ok) return response;
    const error = await refusal(response);
    init.signal?.throwIfAborted();
    throw error;
  };
}

/** Why no request can be sent with these options. What a `fetch` of the caller makes of a URL is its own affair. */
function faultOf({ url, token = "", fetch }: ServerAddress): string | undefined {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(token.trim())) {
    return "`options.token` has a character that a header cannot hold";
  }
  if (fetch !== undefined) return undefined;
  try {
    const { location } = globalThis as { location?: { readonly href: string } };
    const { protocol, username, password } = new URL(url, location?.href);
    if (username || password) return "`options.url` has a user or password: give a token";
    if (/^http/.test(protocol)) return undefined;
  } catch {
    // No URL at all.
  }
  return WRONG_URL;
}

/**
 * Calls it without a receiver: `fetch` of browsers refuses any but the global object. Throws `ClientError` `bad_fetch` for one that
 * sends nothing, or has read its answer already; rejects with what it rejects with otherwise.
 */
export async function callFetch(
  given: Fetch | undefined,
  url: string,
  init?: RequestInit,
): Promise<Response> {
  const [fetch, name] =
    given === undefined ? [globalThis.fetch, "fetch"] : [given, "options.fetch"];
  if (typeof fetch !== "function") {
    throw new ClientError("bad_fetch", `\`${name}\` is not a function: give one as options.fetch`);
  }
  let sent: Promise<Response>;
  try {
    sent = fetch(url, init);
  } catch (cause) {
    throw notSent(name, cause);
  }
  let response: Response | undefined;
  try {
    response = await sent;
  } catch (cause) {
    throw isMistake(cause) ? notSent(name, cause) : cause;
  }
  if (typeof response?.status === "number" && !response.bodyUsed) return response;
  throw new ClientError("bad_fetch", `\`${name}\` did not answer with a Response`);
}

function notSent(name: string, cause: unknown): ClientError {
  if (ClientError.isInstance(cause)) return cause;
  const why = cause instanceof Error ? cause.message : String(cause);
  return new ClientError("bad_fetch", `\`${name}\` threw before a request was sent: ${why}`, {
    cause,
  });
}

/** A network that fails is a `TypeError` too; these messages are of code that is wrong. */
function isMistake(error: unknown): boolean {
  if (error instanceof ReferenceError) return true;
  return (
    error instanceof TypeError &&
    /illegal invocation|does not implement interface|is not a function|^cannot read prop/i.test(
      error.message,
    )
  );
}
