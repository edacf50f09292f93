/** What the code of a node throws reaches whoever asks for it, and the log only as the name of its class. */
import { NodeError } from "@millrace/contracts";
import type { ThrowPlace } from "@millrace/engine";
import { finish } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { bodyType } from "./types.ts";

type Received = { readonly error: unknown; readonly at: ThrowPlace };

/** Runs `test.charge` with a body; everything that `onError` received, and the summary. */
async function charge(body: (fields: object) => unknown, policy = "") {
  const received: Received[] = [];
  const onError = (error: unknown, at: ThrowPlace): void => void received.push({ error, at });
  const { summary, events } = await finish(`node a: test.charge { ${policy} }`, {
    types: [bodyType("charge", body as never)],
    engine: { onError },
  });
  return { received, summary, events };
}

function raise(error: unknown): never {
  throw error;
}

test("onError receives the error itself and its place; the log names the class", async () => {
  const thrown = new TypeError("card 4111 was refused");
  const { received, summary, events } = await charge(() => raise(thrown));
  expect(received).toHaveLength(1);
  expect(received[0]?.error).toBe(thrown);
  expect(received[0]?.at).toMatchObject({
    runId: events[0]?.runId,
    node: "a",
    attempt: 1,
    type: "test.charge",
  });
  expect(summary.error).toMatchObject({
    code: "extension_threw",
    message:
      "test.charge threw TypeError; its message is withheld from the log: see onError, or run with --verbose",
  });
  expect(JSON.stringify(events)).not.toContain("4111");
});

test.each([
  ["a text", "the key is 7", "a value that is no Error"],
  ["nothing", undefined, "a value that is no Error"],
  [
    "an error whose class is a sentence",
    Object.assign(new Error("x"), { name: "key 7!" }),
    "an error",
  ],
])("%s is received as it is and named by kind", async (_name, thrown, kind) => {
  const { received, summary } = await charge(async () => raise(thrown));
  expect(received.map(({ error }) => error)).toEqual([thrown]);
  expect(summary.error?.message).toContain(`threw ${kind};`);
});

test("every try is received, and a NodeError with its cause", async () => {
  const cause = new Error("socket closed");
  const thrown = new NodeError("busy", "try again", { retryable: true, cause });
  const { received, summary } = await charge(
    () => raise(thrown),
    "@retry = { max: 2, delay: 5ms, jitter: false }",
  );
  expect(received.map(({ at }) => at.attempt)).toEqual([1, 2, 3]);
  expect(received[0]?.error).toBe(thrown);
  expect(thrown.cause).toBe(cause);
  expect(summary.error).toMatchObject({ code: "busy", message: "try again" });
});

test("an output that throws when it is read is received too", async () => {
  const thrown = new RangeError("no");
  const name = "then";
  const output = Object.defineProperty({}, name, { get: () => raise(thrown), enumerable: true });
  const { received } = await charge(() => output);
  expect(received.map(({ error }) => error)).toEqual([thrown]);
});

test.each([
  ["throws", () => raise(new Error("from onError"))],
  ["rejects", async () => raise(new Error("from onError"))],
])("an onError that %s changes nothing", async (_name, onError) => {
  const { summary } = await finish('node a: test.charge\nnode b: log { message = "b" }', {
    types: [bodyType("charge", () => raise(new Error("x")))],
    engine: { onError },
    run: { onFailure: "finish" },
  });
  expect(summary.error).toMatchObject({ code: "extension_threw", node: "a" });
  expect(summary.counts.succeeded).toBe(1);
});

const AWAY = new Error("the page of questions is away");
const BUSY = new NodeError("busy", "the page of questions is busy"); // its message may be shown: it is reported all the same

test.each([
  ["throws", (error: Error) => raise(error), AWAY],
  ["rejects with", async (error: Error) => raise(error), AWAY],
  ["throws as a NodeError", (error: Error) => raise(error), BUSY],
])(
  "what a confirm handler %s is received, while its question stays open",
  async (_name, confirm, thrown) => {
    const stop = new AbortController();
    const received: unknown[] = [];
    const { summary } = await finish('node a: confirm { prompt = "Go on?" }', {
      engine: {
        onError: (error, { node, type }) => {
          received.push(error, node, type);
          stop.abort();
        },
      },
      run: { signal: stop.signal, confirm: () => confirm(thrown) },
    });
    expect(received).toEqual([thrown, "a", "confirm"]);
    expect(summary.status).toBe("cancelled");
  },
);

test("a node that was told to stop throws nothing worth a report", async () => {
  const received: unknown[] = [];
  const stop = new AbortController();
  const waits = bodyType("waits", async (_fields, ctx) => {
    stop.abort();
    await ctx.sleep(1_000);
  });
  await finish("node a: test.waits", {
    types: [waits],
    engine: { onError: (error) => received.push(error) },
    run: { signal: stop.signal },
  });
  expect(received).toEqual([]);
});

test("what is written down can be cleaned of the secrets that the run has read", async () => {
  const texts: string[] = [];
  const reads = bodyType("reads", async (_fields, ctx) => {
    const secret = await ctx.credentials.secret("KEY");
    throw new Error(`bad key ${secret.reveal()}`);
  });
  await finish("node a: test.reads", {
    types: [{ ...reads, needs: { secrets: ["KEY"] } } as never],
    engine: {
      credentials: { secret: async () => "canary-123456" } as never,
      onError: (error, at) => texts.push(at.redact((error as Error).message)),
    },
  });
  expect(texts).toEqual(["bad key [redacted]"]);
});

test("a failure that the engine itself finds is no throw", async () => {
  const { received, summary } = await charge(() => "x".repeat(17 * 1_048_576));
  expect(summary.error?.code).toBe("output_too_large");
  expect(received).toEqual([]);
});
