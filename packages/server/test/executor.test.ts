/** The executor alone: engine and store behind one port, in memory and on disk. */
import type { RunHeader, StoredEvent } from "@millrace/contracts";
import { openMemoryStore, openStore, type Store } from "@millrace/store";
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
  textOf,
} from "./support/executor.ts";
import { LOUD } from "./support/flows.ts";
import { expectLegal } from "./support/streams.ts";

describe.each([
  ["memory", async () => openMemoryStore()],
  ["a file", async () => openStore({ dir: temporaryFolder() })],
] as const)("an executor over %s", (_name, open: () => Promise<Store>) => {
  const build = async (options: Limits = {}) => over(await open(), options);

  test("uses a run id once, whether its run lives or has ended", async () => {
    const { executor } = await build();
    const spec = { ...hello, runId: "mine" };
    expect(await executor.start(spec)).toEqual({ runId: "mine", status: "pending" });
    await expect(executor.start(spec)).rejects.toMatchObject({ code: "run_exists" });
    await logOf(executor.attach("mine"));
    await expect(executor.start(spec)).rejects.toMatchObject({ code: "run_exists" });
  });

  test("lets one win of many starts with one id at the same time", async () => {
    const { executor } = await build();
    const starts = Array.from({ length: 20 }, () => executor.start({ ...hello, runId: "one" }));
    const outcomes = await Promise.allSettled(starts);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  });

  test("has a run in the store when its start is answered, queued or not, with all that it was started with", async () => {
    const { executor, store } = await build({ maxLiveRuns: 1 });
    const spec = {
      ...sleep,
      template: { slug: "naps", version: 7 },
      timeoutMs: 60_000,
      confirm: "approve",
      tags: { team: "fx" },
      trigger: "webhook",
      source: { webhookId: "whk_1" },
      tokenId: "anna",
    } as const;
    for (const runId of ["live", "queued"]) {
      await executor.start({ ...spec, runId });
      const { planDigest, flowHash, graph, ...header } = (await store.runs.header(
        runId,
      )) as RunHeader;
      expect(graph).toEqual(sleep.graph);
      expect(header).toEqual({
        runId,
        inputs: {},
        trigger: "webhook",
        template: "naps",
        templateVersion: 7,
        tags: { team: "fx" },
        source: { webhookId: "whk_1" },
        tokenId: "anna",
        options: { timeoutMs: 60_000, confirm: "approve" },
      });
    }
    expect(await executor.get("queued")).toMatchObject({ status: "pending", lastSeq: 0 });
  });

  test("writes the rows of a start with the run, and refuses the run with them", async () => {
    const { executor, store } = await build();
    const request = { scope: "s", key: "k", fingerprint: Buffer.from("f") };
    const { runId } = await executor.start(hello, { request });
    expect(await store.idempotency.find(request)).toEqual({
      state: "done",
      answer: { runId, status: "pending" },
    });
    const again = executor.start({ ...hello, runId: "again" }, { request });
    await expect(again).rejects.toMatchObject({ code: "key_used" });
    expect(await executor.get("again")).toBe(null);
    expect((await logOf(executor.attach(runId))).at(-1)?.kind).toBe("summary");
  });

  test("gives readers the bytes that the journal keeps, from any position", async () => {
    const { executor, journal } = await build();
    const { runId } = await executor.start(hello);
    const log = await logOf(executor.attach(runId));
    expectLegal(eventsOf(log));
    for (let after = 0; after <= log.length; after += 1) {
      const rest = await logOf(executor.attach(runId, { after }));
      expect(rest.map(textOf)).toEqual(log.slice(after).map(textOf));
    }
    expect((await logOf(journal.read(runId, 0))).map(textOf)).toEqual(log.map(textOf));
  });

  test("gives readers at one place of a live run the same page, and others the rest of it", async () => {
    const { executor } = await build();
    const { runId } = await executor.start(ask);
    await readUntil(executor.attach(runId), "run.paused");
    const first = async (after: number) => {
      for await (const page of executor.attach(runId, { after })) return page;
      throw new Error("no page");
    };
    const page = await first(0);
    expect(await first(0)).toBe(page);
    expect(await first(1)).toEqual(page.slice(1));
    expect(await first(1)).toBe(await first(1));
  });

  test("ends two hundred runs that are started at once, each with a legal log", async () => {
    const { executor } = await build({ maxLiveRuns: 8 });
    const runs = await Promise.all(Array.from({ length: 200 }, () => executor.start(hello)));
    for (const { runId } of runs) expectLegal(eventsOf(await logOf(executor.attach(runId))));
    expect((await executor.list({ limit: 200, status: ["succeeded"] })).items).toHaveLength(200);
  });

  test("lets a reader leave, and leaves the run alone", async () => {
    const { executor } = await build();
    const { runId } = await executor.start(sleep);
    const stop = new AbortController();
    const seen: StoredEvent[] = [];
    for await (const page of executor.attach(runId, { signal: stop.signal })) {
      seen.push(...page);
      stop.abort();
    }
    expect(seen.length).toBeGreaterThan(0);
    expect(await executor.get(runId)).toMatchObject({ endedAt: null });
  });

  test("says null, not_found, or an error of its own about what is not there", async () => {
    const { executor } = await build();
    expect(await executor.get("none")).toBe(null);
    for (const signal of [
      { kind: "pause", by: "x" },
      { kind: "confirm", id: "k1", decision: "approve", by: "x" },
    ] as const) {
      expect(await executor.signal("none", signal)).toEqual({ ok: false, code: "not_found" });
    }
    await expect(executor.cancel("none", { reason: "user" })).rejects.toMatchObject({
      code: "not_found",
    });
    await expect(logOf(executor.attach("none"))).rejects.toMatchObject({ code: "not_found" });
    await expect(executor.start({ ...hello, retryOf: "none" })).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await executor.recover()).toMatchObject({ resumed: 0, parked: 0, failed: 0 });
  });

  test("starts nothing when it is closed", async () => {
    const { executor } = await build();
    await executor.close({ graceMs: 0 });
    await expect(executor.start(hello)).rejects.toMatchObject({ code: "executor_unavailable" });
  });

  test("cancels a run that waits once, however many ask at once, and those behind it wait on", async () => {
    const { executor } = await build({ maxLiveRuns: 1 });
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

  test("pauses and goes on, says so, and does it once", async () => {
    const { executor } = await build();
    const { runId } = await executor.start(sleep);
    await readUntil(executor.attach(runId), "node.waiting");
    for (const _twice of [1, 2]) {
      expect(await executor.signal(runId, { kind: "pause", by: "x" })).toEqual({ ok: true });
      expect(await executor.get(runId)).toMatchObject({ status: "paused" });
    }
    expect(await executor.signal(runId, { kind: "resume", by: "x" })).toEqual({ ok: true });
    expect(await executor.get(runId)).toMatchObject({ status: "running" });
    const again = await executor.signal(runId, { kind: "resume", by: "x" });
    expect(again).toEqual({ ok: false, code: "state_conflict" });
  });

  test("answers a pause of a run that waits for a person, and holds it when the answer is there", async () => {
    const { executor } = await build();
    const { runId } = await executor.start(ask);
    await readUntil(executor.attach(runId), "run.paused");
    expect(await executor.signal(runId, { kind: "pause", by: "x" })).toEqual({ ok: true });
    const answer = { kind: "confirm", id: "k1", decision: "approve", by: "x" } as const;
    expect(await executor.signal(runId, answer)).toEqual({ ok: true });
    expect(await executor.signal(runId, { kind: "resume", by: "x" })).toEqual({ ok: true });
    const log = eventsOf(await logOf(executor.attach(runId)));
    expectLegal(log);
    expect(log.at(-1)).toMatchObject({ status: "succeeded" });
  });

  test("lets one of fifty answers win and tells the others which", async () => {
    const { executor } = await build();
    const { runId } = await executor.start(ask);
    await readUntil(executor.attach(runId), "run.paused");
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        executor.signal(runId, {
          kind: "confirm",
          id: "k1",
          decision: i === 0 ? "reject" : "approve",
          by: "x",
        }),
      ),
    );
    expect(answers[0]).toEqual({ ok: true });
    for (const answer of answers.slice(1)) {
      expect(answer).toEqual({ ok: false, code: "already_resolved", outcome: "rejected" });
    }
  });

  test("a retry takes over what had succeeded and names the run that it repeats", async () => {
    const { executor } = await build();
    const { runId } = await executor.start(hello);
    await logOf(executor.attach(runId));
    const retry = await executor.start({ ...hello, retryOf: runId, from: ["say"] });
    const log = eventsOf(await logOf(executor.attach(retry.runId)));
    expectLegal(log);
    expect(log[0]).toMatchObject({ kind: "run.started", resumedFrom: { runId } });
    const cached = log.filter((event) => event.kind === "node.succeeded" && "cached" in event);
    expect(cached).toMatchObject([{ node: "greeting" }]);
    expect(await executor.get(retry.runId)).toMatchObject({ retryOf: runId });
    await expect(
      executor.start({ ...hello, retryOf: runId, from: ["none"] }),
    ).rejects.toMatchObject({ code: "input_invalid" });
  });

  test("a retry whose run is gone when its turn comes ends and says so", async () => {
    const { executor, store } = await build({ maxLiveRuns: 1 });
    const { runId } = await executor.start(hello);
    await logOf(executor.attach(runId));
    const live = await executor.start(sleep);
    await readUntil(executor.attach(live.runId), "node.waiting");
    const retry = await executor.start({ ...hello, retryOf: runId });
    const log = logOf(executor.attach(retry.runId));
    await store.runs.delete(runId);
    await executor.cancel(live.runId, { reason: "user" });
    expect(eventsOf(await log)).toMatchObject([
      { kind: "summary", status: "failed", error: { code: "resume_impossible" } },
    ]);
    expect(await executor.get(retry.runId)).toMatchObject({ status: "failed" });
  });

  test("a start under the id of an ended run takes nothing from the readers of that run", async () => {
    const { executor } = await build();
    const spec = { ...hello, runId: "mine" };
    await executor.start(spec);
    const { length } = await logOf(executor.attach("mine"));
    const again = executor.start(spec).catch((error: unknown) => error);
    const logs: Promise<StoredEvent[]>[] = [];
    let isOver = false;
    void again.then(() => {
      isOver = true;
    });
    while (!isOver) {
      logs.push(logOf(executor.attach("mine")));
      await new Promise((next) => setImmediate(next));
    }
    expect(await again).toMatchObject({ code: "run_exists" });
    for (const log of await Promise.all(logs)) expect(log).toHaveLength(length);
  });

  test("reads a log that is larger than all that is kept at hand to its end", async () => {
    const { executor } = await build();
    const inputs = { items: Array.from({ length: 1_500 }, (_, i) => i), text: "x".repeat(4_000) };
    const { runId } = await executor.start({ graph: graphOf(LOUD), inputs, trigger: "embed" });
    let at = 0;
    let last: StoredEvent | undefined;
    for await (const page of executor.attach(runId)) {
      for (const event of page) {
        at += 1;
        expect(event.seq).toBe(at);
      }
      last = page.at(-1);
      await new Promise(setImmediate); // a reader that is never quite there
    }
    expect(last?.kind).toBe("summary");
    expect(await executor.get(runId)).toMatchObject({ status: "succeeded", lastSeq: at });
  });
});
