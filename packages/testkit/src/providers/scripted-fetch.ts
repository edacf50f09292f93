/** A `fetch` that answers from a script, for tests of providers without a network. */
import type { FetchInit, FetchLike, ResponseLike } from "@millrace/contracts";

/** One answer. */
export interface ScriptedAnswer {
  /** Default 200. */
  readonly status?: number;
  readonly headers?: { readonly [name: string]: string };
  /** Chunks of the body. */
  readonly chunks?: readonly string[];
  /** After the chunks: the connection breaks, or nothing comes any more. */
  readonly ending?: "cut" | "silence";
  /** Rejects in place of an answer. */
  readonly error?: Error;
}

/** The function, its requests, and the number of bodies that were cancelled by their reader or by the signal. */
export interface ScriptedFetch {
  readonly fetch: FetchLike;
  readonly requests: readonly { readonly url: string; readonly init: FetchInit }[];
  readonly left: () => number;
}

/** Answers every request with `answer`. */
export function scriptedFetch(answer: ScriptedAnswer): ScriptedFetch {
  const requests: { url: string; init: FetchInit }[] = [];
  let left = 0;
  const leave = (): void => {
    left += 1;
  };
  return {
    requests,
    left: () => left,
    async fetch(url, init = {}) {
      requests.push({ url, init });
      if (answer.error !== undefined) throw answer.error;
      return toResponse(url, answer, { init, leave });
    },
  };
}

function toResponse(
  url: string,
  answer: ScriptedAnswer,
  { init, leave }: { readonly init: FetchInit; readonly leave: () => void },
): ResponseLike {
  const { status = 200, headers = {}, chunks = [] } = answer;
  const all = new Headers({ "content-type": "text/event-stream", ...headers });
  const text = async (): Promise<string> => chunks.join("");
  return {
    ok: status >= 200 && status < 300,
    status,
    url,
    headers: all,
    body: { [Symbol.asyncIterator]: () => bodyOf(answer, init, leave) },
    text,
    json: async () => JSON.parse(await text()) as unknown,
    arrayBuffer: async () => new TextEncoder().encode(await text()).buffer,
  };
}

/** Written out: a generator that waits cannot be told to return. */
function bodyOf(
  { chunks = [], ending }: ScriptedAnswer,
  { signal }: FetchInit,
  leave: () => void,
): AsyncIterator<Uint8Array> {
  let at = 0;
  let isOver = false;
  let wake = (): void => {};
  const end = (): void => {
    if (!isOver) leave();
    isOver = true;
    wake();
  };
  signal?.addEventListener("abort", end, { once: true });
  return {
    async next() {
      const chunk = isOver ? undefined : chunks[at++];
      if (chunk !== undefined) return { done: false, value: new TextEncoder().encode(chunk) };
      if (!isOver && ending === "cut") throw new Error("the connection was closed");
      if (!isOver && ending === "silence") {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (signal?.aborted === true) throw signal.reason;
      isOver = true;
      return { done: true, value: undefined };
    },
    async return() {
      end();
      return { done: true, value: undefined };
    },
  };
}
