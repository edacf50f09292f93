/** The egress client as the `fetch` that OAuth helpers take, so that token requests obey the operator's policy. */
import type { FetchLike, ResponseLike } from "@millrace/contracts";
import type { TokenEndpoint } from "@millrace/oauth";

/** `fetch` as the OAuth helpers take it. */
export type WebFetch = NonNullable<TokenEndpoint["fetch"]>;

/** Statuses that have no body, and that `Response` takes only without one. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/**
 * A `fetch` over an egress client, for requests that are a URL, a method, plain headers and a text. It follows no redirect:
 * one is refused, as everything outside of the policy is, with a `NodeError`.
 */
export function egressFetch(send: FetchLike): WebFetch {
  return async (url, { method = "GET", headers, body, signal } = {}) => {
    const response = await send(String(url), {
      method,
      headers: Object.fromEntries(new Headers(headers)),
      maxRedirects: 0,
      ...(typeof body === "string" && { body }),
      ...(signal && { signal }),
    });
    return toResponse(response);
  };
}

function toResponse({ status, headers, body }: ResponseLike): Response {
  const copy = new Headers();
  headers.forEach((value, name) => {
    copy.append(name, value);
  });
  const stream = body === null || BODILESS.has(status) ? null : streamOf(body);
  return new Response(stream, { status, headers: copy });
}

function streamOf(body: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await chunks.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await chunks.return?.();
    },
  });
}
