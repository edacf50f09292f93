/**
 * `ctx.fetch` as the `fetch` of browsers and Node, which packages of vendors and other clients take.
 *   W1  Nothing goes out but through the client given: its policy, its limits, its errors.
 *   W2  A reader that cancels ends the request: the socket closes.
 */
import type { AbortSignalLike, FetchInit, FetchLike, ResponseLike } from "./context.ts";

/** Statuses that have no body, and that `Response` takes only without one. */
const BODILESS: ReadonlySet<number> = new Set([101, 204, 205, 304]);

/** Headers that hold a key: a redirect to another origin loses them, as it loses `authorization` and `cookie`. */
const KEY_HEADERS = ["x-api-key", "x-goog-api-key", "api-key", "mcp-session-id"];

/** `fetch` as the packages take it. */
export type WebFetch = (target: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Changes to each request before it is sent. */
export interface WebFetchOptions {
  /** Called with the headers of a request, names in lower case. */
  readonly headers?: (headers: Headers) => void;
  /** Refuses a redirect to another origin instead of following it without keys. */
  readonly sameOrigin?: true;
}

/** A `fetch` for requests whose body is a text or bytes. Rejects as `send` does. */
export function toWebFetch(send: FetchLike, options: WebFetchOptions = {}): WebFetch {
  return async (target, init = {}) => {
    const url = target instanceof Request ? target.url : String(target);
    const headers = new Headers(init.headers);
    options.headers?.(headers);
    const response = await send(url, {
      method: init.method ?? "GET",
      headers: Object.fromEntries(headers),
      originHeaders: KEY_HEADERS,
      // a caller that would judge redirects by itself leaves them to the policy of one origin
      ...(options.sameOrigin
        ? { sameOrigin: true }
        : init.redirect === "manual" && { redirect: "manual" }),
      ...bodyOf(init.body),
      ...(init.signal && { signal: init.signal as AbortSignalLike }),
    });
    return toResponse(response);
  };
}

function bodyOf(body: RequestInit["body"]): Pick<FetchInit, "body"> {
  if (body === undefined || body === null) return {};
  if (typeof body === "string" || body instanceof Uint8Array) return { body };
  throw new TypeError("only a text or bytes can be sent as the body of a request");
}

function toResponse({ status, headers, body, url }: ResponseLike): Response {
  const copy = new Headers();
  headers.forEach((value, name) => {
    copy.append(name, value);
  });
  // The body is decoded already.
  copy.delete("content-encoding");
  copy.delete("content-length");
  const stream = body === null || BODILESS.has(status) ? null : streamOf(body);
  const response = new Response(stream, { status, headers: copy });
  Object.defineProperty(response, "url", { value: url });
  return response;
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    // Nothing is read before the reader asks for it.
    { highWaterMark: 0 },
  );
}
