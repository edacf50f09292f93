/** The executor alone: engine and journal behind one port. */
import type { StoredEvent } from "@millrace/contracts";
import { parseEvent } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { createEngine, createMemoryJournal } from "@millrace/engine";
import { createLocalExecutor } from "@millrace/server";
import { expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO, LOUD, SLEEP } from "./support/flows.ts";
import { expectLegal } from "./support/streams.ts";

const graphOf = (dsl: string) => parseFlow(dsl).graph;
const hello = { graph: graphOf(HELLO), inputs: {}, trigger: "embed" } as const;

function build(options: { maxLiveRuns?: number } = {}) {
  const journal = createMemoryJournal();
  const executor = createLocalExecutor({ engine: createEngine({ journal }), journal, ...options });
  onTestFinished(() => executor.close({ graceMs: 0 }));
  return { executor, journal };
}

async function logOf(pages: AsyncIterable<readonly StoredEvent[]>) {
  const events: StoredEvent[] = [];
  for await (const page of pages) events.push(...page);
  return events;
}

test("a run id is used once, whether its run lives or has ended", async () => {
  const { executor } = build();
  const spec = { ...hello, runId: "mine" };
  expect(await executor.start(spec)).toEqual({ runId: "mine", status: "pending" });
  await expect(executor.start(spec)).rejects.toMatchObject({ code: "run_exists" });
  await logOf(executor.attach("mine"));
  await expect(executor.start(spec)).rejects.toMatchObject({ code: "run_exists" });
});

test("of many starts with one id at the same time one wins", async () => {
  const { executor } = build();
  const starts = Array.from({ length: 20 }, () => executor.start({ ...hello, runId: "one" }));
  const outcomes = await Promise.allSettled(starts);
  expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("readers get the bytes that the journal keeps, from any position, and the same object for the same event", async () => {
  const { executor, journal } = build();
  const { runId } = await executor.start(hello);
  const log = await logOf(executor.attach(runId));
  expectLegal(log.map(({ line }) => parseEvent(Buffer.from(line).toString())));
  for (let after = 0; after <= log.length; after += 1) {
    expect(await logOf(executor.attach(runId, { after }))).toEqual(log.slice(after));
  }
  expect(await logOf(journal.read(runId, 0))).toEqual(log);
});

test("two hundred runs at once all end, each with a legal log", async () => {
  const { executor } = build({ maxLiveRuns: 8 });
  const runs = await Promise.all(Array.from({ length: 200 }, () => executor.start(hello)));
  for (const { runId } of runs) {
    const log = await logOf(executor.attach(runId));
    expectLegal(log.map(({ line }) => parseEvent(Buffer.from(line).toString())));
  }
});

test("a reader that is stopped ends, and leaves the run alone", async () => {
  const { executor } = build();
  const { runId } = await executor.start({ ...hello, graph: graphOf(SLEEP) });
  const stop = new AbortController();
  const seen: StoredEvent[] = [];
  for await (const page of executor.attach(runId, { signal: stop.signal })) {
    seen.push(...page);
    stop.abort();
  }
  expect(seen.length).toBeGreaterThan(0);
  expect(await executor.get(runId)).toMatchObject({ endedAt: null });
});

test("what is not there is null, not_found, or an error of its own", async () => {
  const { executor } = build();
  expect(await executor.get("none")).toBe(null);
  expect(await executor.signal("none", { kind: "pause", by: "x" })).toEqual({
    ok: false,
    code: "not_found",
  });
  await expect(executor.cancel("none", { reason: "user" })).rejects.toMatchObject({
    code: "not_found",
  });
  await expect(logOf(executor.attach("none"))).rejects.toMatchObject({ code: "not_found" });
  expect(await executor.recover()).toMatchObject({ resumed: 0, parked: 0, failed: 0 });
});

test("a closed executor starts nothing", async () => {
  const { executor } = build();
  await executor.close({ graceMs: 0 });
  await expect(executor.start(hello)).rejects.toMatchObject({ code: "executor_unavailable" });
});

test("an open question does not hold up the close, and is told as cancelled", async () => {
  const { executor } = build();
  const { runId } = await executor.start({ ...hello, graph: graphOf(ASK_PLAINLY) });
  for await (const page of executor.attach(runId)) {
    if (page.some(({ kind }) => kind === "run.paused")) break;
  }
  await executor.close({ graceMs: 600_000 });
  expect(await executor.get(runId)).toMatchObject({
    status: "cancelled",
    confirmations: [{ status: "cancelled" }],
  });
});

test("ended runs are forgotten when there are more than a thousand, oldest first, journal and all", async () => {
  const { executor, journal } = build();
  const ids: string[] = [];
  for (let i = 0; i < 1_010; i += 1) {
    const { runId } = await executor.start(hello);
    ids.push(runId);
    await logOf(executor.attach(runId));
  }
  expect(await executor.get(ids[0] ?? "")).toBe(null);
  expect(await journal.load(ids[0] ?? "")).toBe(null);
  expect(await executor.get(ids.at(-1) ?? "")).toMatchObject({ status: "succeeded" });
  expect(await executor.get(ids[10] ?? "")).not.toBe(null);
});

test("a run that waits is cancelled once, however many ask at once, and those behind it wait on", async () => {
  const { executor } = build({ maxLiveRuns: 1 });
  const sleep = { ...hello, graph: graphOf(SLEEP) };
  await executor.start({ ...sleep, runId: "live" });
  for (const runId of ["first", "second", "third"]) await executor.start({ ...hello, runId });
  const asked = Array.from({ length: 5 }, () => executor.cancel("first", { reason: "user" }));
  for (const run of await Promise.all(asked)) expect(run).toMatchObject({ status: "cancelled" });
  await executor.cancel("live", { reason: "user" });
  for (const runId of ["second", "third"]) {
    const log = await logOf(executor.attach(runId));
    expect(log.at(-1)?.kind).toBe("summary");
    expect(await executor.get(runId)).toMatchObject({ status: "succeeded" });
  }
});

test("a close ends whatever waits, and each of them has its summary", async () => {
  const { executor } = build({ maxLiveRuns: 1 });
  const sleep = { ...hello, graph: graphOf(SLEEP) };
  const ids = ["a", "b", "c", "d", "e", "f"];
  for (const runId of ids) await executor.start({ ...sleep, runId });
  const logs = ids.map((runId) => logOf(executor.attach(runId)));
  await executor.close({ graceMs: 0 });
  for (const log of await Promise.all(logs)) expect(log.at(-1)?.kind).toBe("summary");
});

test("a log that is larger than all that is kept is read to its end, and stays while nothing newer has ended", async () => {
  const { executor } = build();
  const inputs = { items: Array.from({ length: 4_300 }, (_, i) => i), text: "x".repeat(16_000) };
  const { runId } = await executor.start({ graph: graphOf(LOUD), inputs, trigger: "embed" });
  const newer = await executor.start({ ...hello, graph: graphOf(SLEEP) });
  let bytes = 0;
  let last: StoredEvent | undefined;
  for await (const page of executor.attach(runId)) {
    for (const event of page) bytes += event.line.byteLength;
    last = page.at(-1);
    await new Promise(setImmediate); // a reader that is never quite there
  }
  expect(bytes).toBeGreaterThan(64 * 1_024 * 1_024);
  expect(last?.kind).toBe("summary");
  expect(await executor.get(runId)).toMatchObject({ status: "succeeded" });
  await executor.cancel(newer.runId, { reason: "user" });
  await logOf(executor.attach(newer.runId));
  expect(await executor.get(runId)).toBe(null);
  expect(await executor.get(newer.runId)).toMatchObject({ status: "cancelled" });
});
