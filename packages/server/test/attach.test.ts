/** One reader of a live run: calls at once, leaving, and its signal. */
import { setImmediate } from "node:timers/promises";
import type { Journal, StoredEvent } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { createEngine } from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { createLocalExecutor } from "@millrace/server";
import { openMemoryStore } from "@millrace/store";
import { expect, onTestFinished, test } from "vitest";
import { RunLog } from "../src/executor/run-log.ts";
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

const eventAt = (seq: number): StoredEvent => ({ seq, kind: "log", line: Buffer.from(`${seq}`) });

/** A log of which the journal alone has the first two events, a page each. */
function halfStored() {
  const journal = {
    isOpen: false,
    async *read() {
      this.isOpen = true;
      try {
        yield [eventAt(1)];
        yield [eventAt(2)];
      } finally {
        this.isOpen = false;
      }
    },
  };
  return { journal, log: new RunLog(journal as unknown as Journal, "r", 2) };
}

test("calls of next keep their order where the journal has the first pages and the rest comes later", async () => {
  const { log } = halfStored();
  const reader = readerOf(log.read(0));
  const early = Array.from({ length: 4 }, () => reader.next());
  await Promise.all(early.slice(0, 2));
  await setImmediate(); // the third call waits for events now
  const asked = [...early, reader.next()];
  for (const seq of [3, 4, 5]) {
    log.append([eventAt(seq)]);
    await setImmediate();
  }
  const seqs = (await Promise.all(asked)).map(({ value }) => value?.[0]?.seq);
  expect(seqs).toEqual([1, 2, 3, 4, 5]);
});

test("a reader whose signal is aborted between two pages of the journal leaves no read open", async () => {
  const stop = new AbortController();
  const { log, journal } = halfStored();
  const reader = readerOf(log.read(0, stop.signal));
  expect(await reader.next()).toMatchObject({ value: [{ seq: 1 }] });
  expect(journal.isOpen).toBe(true);
  stop.abort();
  expect(await reader.next()).toEqual({ value: undefined, done: true });
  expect(journal.isOpen).toBe(false);
});

test("a reader that leaves during a read of the journal gets its end, and leaves no read open", async () => {
  const { log, journal } = halfStored();
  const reader = readerOf(log.read(0));
  const asked = [reader.next(), reader.next()];
  await reader.return?.();
  for (const answer of asked) expect(await answer).toEqual({ value: undefined, done: true });
  expect(journal.isOpen).toBe(false);
});

test("an error of the journal is the answer to one call, and the end the answer to the others", async () => {
  const error = new Error("the disk is gone");
  const read = () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) }) });
  const reader = readerOf(new RunLog({ read } as unknown as Journal, "r", 1).read(0));
  const asked = [reader.next(), reader.next()];
  await expect(asked[0]).rejects.toBe(error);
  expect(await asked[1]).toEqual({ value: undefined, done: true });
});
