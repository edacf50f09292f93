/** Closing an executor: what becomes of its runs when the store is gone with the process, and when it outlives it. */
import { openMemoryStore, openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import {
  ask,
  eventsOf,
  graphOf,
  hello,
  type Limits,
  logOf,
  over,
  readUntil,
  sleep,
} from "./support/executor.ts";
import { ASK } from "./support/flows.ts";
import { expectLegal } from "./support/streams.ts";

test("an executor that is closed without options ends at once what is at work", async () => {
  const { executor } = over(openMemoryStore());
  const { runId } = await executor.start(sleep);
  await executor.close();
  expect(await executor.get(runId)).toMatchObject({ status: "cancelled" });
});

describe("a store that is gone with its process", () => {
  const build = (options: Limits = {}) => over(openMemoryStore(), options);

  test("has an end of every run before it goes: an open question does not hold it up", async () => {
    const { executor } = build();
    const { runId } = await executor.start(ask);
    await readUntil(executor.attach(runId), "run.paused");
    await executor.close({ graceMs: 600_000 });
    expect(await executor.get(runId)).toMatchObject({
      status: "cancelled",
      confirmations: [{ status: "cancelled" }],
    });
  });

  test("has an end of whatever waits, and each has its summary", async () => {
    const { executor } = build({ maxLiveRuns: 1 });
    const ids = ["a", "b", "c", "d", "e", "f"];
    for (const runId of ids) await executor.start({ ...sleep, runId });
    const logs = ids.map((runId) => logOf(executor.attach(runId)));
    await executor.close({ graceMs: 0 });
    for (const log of await Promise.all(logs)) expect(log.at(-1)?.kind).toBe("summary");
  });
});

describe("a store that outlives its process", () => {
  test("keeps live, parked and queued runs as they are, and readers are told that nothing follows", async () => {
    const dir = temporaryFolder();
    const first = over(await openStore({ dir }), { maxLiveRuns: 2 });
    for (const [runId, spec] of [
      ["parked", { ...ask, graph: graphOf(ASK) }],
      ["asleep", sleep],
      ["working", sleep],
      ["queued", hello],
      ["last", hello],
    ] as const) {
      await first.executor.start({ ...spec, runId });
      if (runId === "parked") await readUntil(first.executor.attach(runId), "run.paused");
    }
    await readUntil(first.executor.attach("working"), "node.waiting");
    const reading = logOf(first.executor.attach("working"));
    await first.executor.close({ graceMs: 0 });
    const before = await reading;
    expect(before.at(-1)?.kind).toBe("node.waiting");
    await first.store.close();

    const second = over(await openStore({ dir }), { maxLiveRuns: 2 });
    const { executor } = second;
    expect(await executor.recover()).toMatchObject({ resumed: 2, parked: 1, failed: 0 });
    expect(await executor.get("parked")).toMatchObject({
      status: "paused",
      confirmations: [{ status: "requested" }],
    });
    expect(await executor.get("queued")).toMatchObject({ status: "pending" });
    const rest = readUntil(executor.attach("working", { after: before.length }), "run.resumed");
    expect((await rest).map(({ seq }) => seq)).toEqual([before.length + 1, before.length + 2]);
    const ends: string[] = [];
    const done = ["queued", "last"].map((runId) =>
      logOf(executor.attach(runId)).then(() => ends.push(runId)),
    );
    await executor.cancel("asleep", { reason: "user" });
    await Promise.all(done);
    expect(ends).toEqual(["queued", "last"]);
    const answer = {
      kind: "confirm",
      id: "k1",
      decision: "approve",
      value: { reason: "because" },
      by: "x",
    } as const;
    expect(await executor.signal("parked", answer)).toEqual({ ok: true });
    const log = eventsOf(await logOf(executor.attach("parked")));
    expectLegal(log);
    expect(log.at(-1)).toMatchObject({ status: "succeeded", outputs: { reason: "because" } });
    expect(log.some(({ kind }) => kind === "run.resumed" && kind.includes("recovered"))).toBe(
      false,
    );
  });

  test("lets runs that work end before it closes, as far as the grace goes", async () => {
    const { executor, store } = over(await openStore({ dir: temporaryFolder() }));
    const { runId } = await executor.start(hello);
    await executor.close({ graceMs: 60_000 });
    expect(await store.runs.get(runId)).toMatchObject({ status: "succeeded" });
  });

  test("finishes a cancel that was under way", async () => {
    const dir = temporaryFolder();
    const first = over(await openStore({ dir }));
    const { runId } = await first.executor.start(sleep);
    const { journal } = first.store;
    await readUntil(first.executor.attach(runId), "node.waiting");
    await first.executor.close({ graceMs: 0 });
    // As a process leaves it that dies between the two events.
    const lease = await journal.lease(runId, "dying", 1);
    const seq = (await first.store.runs.summary(runId))?.lastSeq ?? 0;
    const event = {
      v: 1,
      kind: "run.cancelling",
      runId,
      seq: seq + 1,
      ts: Date.now(),
      reason: "user",
    } as const;
    const line = Buffer.from(JSON.stringify(event));
    const { epoch = 0 } = lease ?? {};
    await journal.append(runId, seq, [{ seq: seq + 1, kind: event.kind, line, event }], {
      epoch,
      sync: true,
    });
    await first.store.close();
    const second = over(await openStore({ dir }));
    await second.executor.recover();
    const log = eventsOf(await logOf(second.executor.attach(runId)));
    expectLegal(log);
    expect(log.at(-1)).toMatchObject({ kind: "summary", status: "cancelled" });
  });
});
