/**
 * A `fetch` without a network: it records requests and gives prepared answers.
 *   F1  An unexpected request fails with `http_not_expected`, which names it; no request leaves the process.
 *   F2  Whatever waits ends with the signal of the request.
 */
import {
  type AbortSignalLike,
  type FetchInit,
  type FetchLike,
  type Json,
  NodeError,
  type ResponseLike,
} from "@millrace/contracts";

/** One exchange that is expected. */
export interface HttpExchange {
  /** Default `GET`. */
  readonly method?: string;
  /** The whole URL, or a pattern. */
  readonly url: string | RegExp;
  /** Default 200. */
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** The body; `json` adds its content type. Default empty. */
  readonly json?: Json;
  readonly text?: string;
  /** Pieces of a body that comes slowly; each after a turn of the event loop. */
  readonly chunks?: readonly string[];
  /** `before`: the connection breaks before an answer; `after`: after the body so far; `hang`: nothing comes until the signal. */
  readonly fault?: "before" | "after" | "hang";
  /** How often it may be used; default without limit. */
  readonly times?: number;
}

/** A request as it was sent. */
export interface RecordedRequest {
  readonly method: string;
  readonly url: string;
  /** Names in lower case. */
  readonly headers: { readonly [name: string]: string };
  readonly body: string;
}

/** A `fetch` for tests. */
export interface RecordingFetch {
  readonly fetch: FetchLike;
  readonly requests: readonly RecordedRequest[];
  /** Answers that are still on their way; 0 when every socket would be closed. */
  readonly open: number;
  /** Those of them that never come. */
  readonly hanging: number;
}

/** Makes a `fetch` that answers by these exchanges, the first that fits and is not used up. */
export function createRecordingFetch(exchanges: readonly HttpExchange[]): RecordingFetch {
  const requests: RecordedRequest[] = [];
  const used = new Map<HttpExchange, number>();
  const state = { open: 0, hanging: 0 };

  function take(method: string, url: string): HttpExchange {
    const found = exchanges.find(
      (exchange) =>
        (exchange.method ?? "GET") === method &&
        (typeof exchange.url === "string" ? exchange.url === url : exchange.url.test(url)) &&
        (used.get(exchange) ?? 0) < (exchange.times ?? Number.POSITIVE_INFINITY),
    );
    if (found === undefined) {
      throw new NodeError("http_not_expected", `no exchange answers ${method} ${url}`);
    }
    used.set(found, (used.get(found) ?? 0) + 1);
    return found;
  }

  return {
    requests,
    get open() {
      return state.open;
    },
    get hanging() {
      return state.hanging;
    },
    async fetch(url, init = {}) {
      const method = init.method ?? "GET";
      requests.push({ method, url, headers: lowerCase(init.headers), body: textOf(init.body) });
      const { signal } = init;
      if (signal?.aborted) throw signal.reason;
      const exchange = take(method, url);
      state.open += 1;
      const free = once(() => {
        state.open -= 1;
      });
      try {
        await turn();
        if (exchange.fault === "hang") {
          state.hanging += 1;
          await aborted(signal).finally(() => {
            state.hanging -= 1;
          });
        }
        if (signal?.aborted) throw signal.reason;
        if (exchange.fault === "before") throw broken();
        return responseOf(exchange, url, { signal, free });
      } catch (error) {
        free();
        throw error;
      }
    },
  };
}

function responseOf(
  exchange: HttpExchange,
  url: string,
  { signal, free }: { readonly signal: AbortSignalLike | undefined; readonly free: () => void },
): ResponseLike {
  const { status = 200, json, text = "", chunks, fault } = exchange;
  const headers = new Headers(json === undefined ? {} : { "content-type": "application/json" });
  for (const [name, value] of Object.entries(exchange.headers ?? {})) headers.set(name, value);
  const pieces = chunks ?? [json === undefined ? text : JSON.stringify(json)];
  async function* bytes(): AsyncGenerator<Uint8Array, void> {
    const encoder = new TextEncoder();
    try {
      for (const piece of pieces) {
        await turn();
        if (signal?.aborted) throw signal.reason;
        yield encoder.encode(piece);
      }
      if (fault === "after") throw broken();
    } finally {
      free();
    }
  }
  const body = bytes();
  const all = async (): Promise<Uint8Array> => {
    const parts: Uint8Array[] = [];
    for await (const part of body) parts.push(part);
    return Buffer.concat(parts);
  };
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    headers,
    body,
    text: async () => new TextDecoder().decode(await all()),
    json: async () => JSON.parse(new TextDecoder().decode(await all())) as unknown,
    arrayBuffer: async () => new Uint8Array(await all()).buffer,
  };
}

function broken(): NodeError {
  return new NodeError("network", "the connection broke off", {
    retryable: true,
    reason: "network",
  });
}

function aborted(signal: AbortSignalLike | undefined): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function lowerCase(headers: FetchInit["headers"] = {}): { readonly [name: string]: string } {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
}

function textOf(body: FetchInit["body"]): string {
  if (body === undefined) return "";
  return typeof body === "string" ? body : new TextDecoder().decode(body);
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
