/** One reader of a live run: calls at once, leaving, and its signal. */
import type { StoredEvent } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor } from "@millrace/server";
import { openMemoryStore } from "@millrace/store";
import { expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY } from "./support/flows.ts";

type Pages = AsyncIterator<readonly StoredEvent[]>;

/** A run that waits for an answer, and a reader of it that has everything so far. */
async function waiting(signal?: AbortSignal) {
  const store = openMemoryStore();
  const engine = createEngine({ host: createNodeHost(), journal: store.journal });
  const executor = createLocalExecutor({ engine, store });
  onTestFinished(async () => {
    await executor.close({ graceMs: 0 });
    await store.close();
  });
  const { graph } = parseFlow(ASK_PLAINLY);
  const { runId } = await executor.start({ graph, inputs: {}, trigger: "embed" });
  const reader = readerOf(executor.attach(runId, signal === undefined ? {} : { signal }));
  await untilKind(reader, "run.paused");
  const answer = async () => {
    await executor.signal(runId, { kind: "confirm", id: "k1", decision: "approve", by: "x" });
  };
  return { reader, answer, executor, runId };
}

const readerOf = (pages: AsyncIterable<readonly StoredEvent[]>): Pages =>
  pages[Symbol.asyncIterator]();

/** Reads until an event of this kind has come; answers the position of the last event. */
async function untilKind(reader: Pages, kind: string): Promise<number> {
  for (;;) {
    const { value, done } = await reader.next();
    const page: readonly StoredEvent[] = value ?? [];
    if (page.some((event) => event.kind === kind)) return page.at(-1)?.seq ?? 0;
    if (done === true) throw new Error(`no ${kind}`);
  }
}

test("calls of next at once are answered in their order, and after the end with the end", async () => {
  const { reader, answer, executor, runId } = await waiting();
  const asked = Array.from({ length: 64 }, () => reader.next());
  await answer();
  const pages = (await Promise.all(asked)).map(({ value }) => value ?? []);
  const seqs = pages.flat().map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, n) => (seqs[0] ?? 0) + n));
  expect(pages.flat().at(-1)?.kind).toBe("summary");
  expect(await executor.get(runId)).toMatchObject({ lastSeq: seqs.at(-1) });
  expect(await reader.next()).toEqual({ value: undefined, done: true });
});

test("a reader that leaves while it waits gets its end, and the run goes on", async () => {
  const { reader, answer, executor, runId } = await waiting();
  const asked = reader.next();
  expect(await reader.return?.()).toEqual({ value: undefined, done: true });
  expect(await asked).toEqual({ value: undefined, done: true });
  await answer();
  await untilKind(readerOf(executor.attach(runId)), "summary");
  expect(await reader.next()).toEqual({ value: undefined, done: true });
});

test("a reader whose signal is aborted while it waits gets its end", async () => {
  const stop = new AbortController();
  const { reader } = await waiting(stop.signal);
  const asked = [reader.next(), reader.next()];
  stop.abort();
  for (const answer of asked) expect(await answer).toEqual({ value: undefined, done: true });
});
