/** What a caller makes of an answer that is cut, ended by its signal, or asks to wait. */
import { type Client, createClient } from "@millrace/client";
import { expect, onTestFinished, test, vi } from "vitest";

/** A client of a server that gives these answers, one a request, and the paths that were asked for. */
function clientOf(answers: readonly (() => Response)[], maxDelayMs = 1) {
  const asked: string[] = [];
  const fetch = async (url: string): Promise<Response> => {
    const answer = answers[asked.push(new URL(url).pathname) - 1];
    if (answer === undefined) throw new Error("one request too many");
    return answer();
  };
  const client = createClient({ url: "http://127.0.0.1", fetch, retry: { maxDelayMs } });
  return { client, asked };
}

/** The answer of a server that is gone after these words. */
const cut = (status: number, text: string) => () => {
  let words: string | undefined = text;
  const pull = (controller: ReadableStreamDefaultController): void => {
    if (words === undefined) controller.error(new TypeError("terminated"));
    else controller.enqueue(new TextEncoder().encode(words));
    words = undefined;
  };
  return new Response(new ReadableStream({ pull }), { status });
};
const problem =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ code, title: code, status, type: "", requestId: "q" }, { status, headers });
const summary = () => {
  const event = { v: 1, kind: "summary", runId: "r", seq: 1, ts: 1_750_000_000_000 };
  const headers = { "content-type": "text/event-stream" };
  return new Response(`data: ${JSON.stringify(event)}\n\n`, { headers });
};

async function failure(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => Promise.reject(new Error("nothing was thrown")),
    (error: unknown) => error,
  );
}

async function kindsOf(events: ReturnType<Client["runEvents"]>): Promise<string[]> {
  const kinds: string[] = [];
  for await (const { kind } of events) kinds.push(kind);
  return kinds;
}

test.each([200, 409, 503])("an answer %i that is cut is no answer", async (status) => {
  const { client } = clientOf([cut(status, '{"code":"state_')]);
  const error = await failure(client.invoke("get_meta", {}));
  expect(error).toMatchObject({ code: "unreachable", retryable: true });
});

test("a gateway's own 429 is told as too many requests, with its wait", async () => {
  const headers = { "content-type": "text/html", "retry-after": "7" };
  const { client } = clientOf([() => new Response("<h1>Slow down</h1>", { status: 429, headers })]);
  expect(await failure(client.invoke("get_meta", {}))).toMatchObject({
    code: "too_many_requests",
    status: 429,
    retryable: true,
    retryAfterMs: 7_000,
  });
});

test.each([
  ["store_full", 507, true],
  ["store_read_only", 503, false],
])(
  "of a store that is %s the client says what its server says",
  async (code, status, retryable) => {
    const { client } = clientOf([problem(status, code)]);
    expect(await failure(client.invoke("get_meta", {}))).toMatchObject({ code, status, retryable });
  },
);

test("a reader goes on after a refusal that was cut", async () => {
  const { client } = clientOf([cut(409, '{"code":'), summary]);
  expect(await kindsOf(client.runEvents("r"))).toEqual(["summary"]);
});

test.each([200, 409])(
  "a call ends with the reason of its signal also while an answer %i is read",
  async (status) => {
    const stop = new AbortController();
    const start = (controller: ReadableStreamDefaultController): void =>
      stop.signal.addEventListener("abort", () => controller.error(stop.signal.reason));
    const { client } = clientOf([
      () => {
        setTimeout(() => stop.abort("enough"));
        return new Response(new ReadableStream({ start }), { status });
      },
    ]);
    const { signal } = stop;
    expect(await failure(client.invoke("get_meta", {}, { signal }))).toBe("enough");
  },
);

test("a run that began after it was looked for is read, not refused", async () => {
  const gone = () => {
    throw new TypeError("fetch failed");
  };
  const late = [problem(404, "not_found"), problem(409, "already_exists"), summary];
  const { client, asked } = clientOf([gone, ...late]);
  const events = client.runFlow({ dsl: "", options: { runId: "r" } });
  expect(await kindsOf(events)).toEqual(["summary"]);
  expect(asked).toEqual(["/api/run", "/api/runs/r/events", "/api/run", "/api/runs/r/events"]);
});

test.each([
  ["more than a timer can hold", `${2 ** 31}`],
  ["nothing", "0"],
])("a server that asks to wait for %s is not asked again at once", async (_name, seconds) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const busy = problem(503, "draining", { "retry-after": seconds });
  const { client, asked } = clientOf([busy, summary], 1_000);
  const stop = new AbortController();
  const reading = failure(client.runEvents("r", { signal: stop.signal }).next());
  await vi.advanceTimersByTimeAsync(100);
  stop.abort("enough");
  expect(await reading).toBe("enough");
  expect(asked).toHaveLength(1);
});
