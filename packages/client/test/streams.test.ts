/** What a reader of a stream has after its connection was cut, and what it asks the server for then. */
import { createClient, type FeedEntry } from "@millrace/client";
import { expect, onTestFinished, test, vi } from "vitest";

interface Answer {
  readonly text: string;
  readonly headers?: Record<string, string>;
}

const event = (kind: string, seq: number): string =>
  JSON.stringify({ v: 1, kind, runId: "r", seq, ts: 1_750_000_000_000 });
const frame = (position: number, kind = "run.started"): string =>
  `data: ${event(kind, position)}\nid: ${position}\n\n`;

/** A client of a server that gives these answers, cuts the connection after each, and then has nothing left. */
function clientOf(answers: readonly Answer[]) {
  const asked: string[] = [];
  const fetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const answer = answers[asked.length];
    const { pathname, search } = new URL(request.url);
    asked.push(`${pathname}${search} ${request.headers.get("last-event-id")}`);
    if (answer === undefined) return new Response(null, { status: 204 });
    const headers = { "content-type": "text/event-stream", ...answer.headers };
    return new Response(answer.text, { headers });
  };
  const client = createClient({ url: "http://127.0.0.1", fetch, retry: { maxDelayMs: 1 } });
  return { client, asked };
}

/** Each of these answers is cut after `openMs` without a word. */
async function silent(openMs: number): Promise<number> {
  vi.useFakeTimers({ toFake: ["Date"] });
  onTestFinished(() => void vi.useRealTimers());
  let opened = 0;
  const fetch = async (): Promise<Response> => {
    opened += 1;
    if (opened > 20) return new Response(null, { status: 204 });
    const pull = (controller: ReadableStreamDefaultController): void => {
      vi.setSystemTime(Date.now() + openMs);
      controller.close();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const client = createClient({ url: "http://127.0.0.1", fetch, retry: { maxDelayMs: 1 } });
  try {
    await client.runEvents("r").next();
  } catch (error) {
    expect(error).toMatchObject({ code: "unreachable" });
  }
  return opened;
}

test("who is cut off again and again gives up, unless the connection was good for a while", async () => {
  expect(await silent(1_000)).toBe(12);
  expect(await silent(3_600_000)).toBe(21);
});

async function feedOf(answers: readonly Answer[], after?: number) {
  const { client, asked } = clientOf(answers);
  const entries: FeedEntry[] = [];
  for await (const entry of client.feed(after === undefined ? {} : { after })) entries.push(entry);
  const told = entries.map(({ position, gap }) => [position, gap]);
  return { told, asked: asked.map((each) => each.split(" ")[1]) };
}

test("a feed that goes on where it was cut has no gap", async () => {
  const { told, asked } = await feedOf([
    { text: `id: 4\n\n${frame(5)}${frame(6)}` },
    { text: `id: 6\n\n${frame(7)}` },
  ]);
  expect(told).toEqual([5, 6, 7].map((position) => [position, false]));
  expect(asked).toEqual(["null", "6", "7"]);
});

test("a feed that was cut before its first event goes on where it began", async () => {
  const { told, asked } = await feedOf([{ text: "id: 4\n\n" }, { text: frame(5) }]);
  expect(told).toEqual([[5, false]]);
  expect(asked).toEqual(["null", "4", "5"]);
});

test("a feed that was cut before it said where it is has a gap", async () => {
  const { told } = await feedOf([{ text: ": hb\n\n" }, { text: `id: 8\n\n` }, { text: frame(9) }]);
  expect(told).toEqual([[9, true]]);
});

test("a gap that the server tells of stands at the next event, also when the connection is cut before it", async () => {
  const headers = { "millrace-feed-gap": "true" };
  const { told } = await feedOf(
    [
      { text: "id: 90\n\n", headers },
      { text: frame(91) + frame(92) },
      { text: frame(95), headers },
    ],
    3,
  );
  expect(told).toEqual([
    [91, true],
    [92, false],
    [95, true],
  ]);
});

test("a log that began with a snapshot goes on behind it, without another one", async () => {
  const { client, asked } = clientOf([
    { text: "" },
    { text: frame(20, "snapshot") + frame(21, "log") },
    { text: frame(22, "log") },
  ]);
  const seqs: number[] = [];
  for await (const { seq } of client.runEvents("r", { snapshot: true })) seqs.push(seq);
  expect(seqs).toEqual([20, 21, 22]);
  const path = "/api/runs/r/events";
  expect(asked).toEqual([
    `${path}?snapshot=true 0`,
    `${path}?snapshot=true 0`,
    `${path} 21`,
    `${path} 22`,
  ]);
});
