/** Runs that nobody can take up end all the same, and their logs are whole; runs that are left are as they were. */

import {
  type AnyEvent,
  checkLog,
  type EncodedEvent,
  type ExecutionEvent,
  type Journal,
  parseEvent,
  serialiseEvent,
} from "@millrace/contracts";
import { createEngine, createMemoryJournal } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { casesOf } from "@millrace/test-support";
import { graphOf, planOf, start } from "@millrace/test-support/flows";
import { legalLog } from "@millrace/test-support/logs";
import { describe, expect, test } from "vitest";

const SEEDS = casesOf(45);

function encode(event: ExecutionEvent): EncodedEvent {
  const line = new TextEncoder().encode(serialiseEvent(event));
  return { seq: event.seq, kind: event.kind, line, event };
}

async function logOf(journal: Journal, runId: string): Promise<AnyEvent[]> {
  const events: AnyEvent[] = [];
  for await (const page of journal.read(runId, 0)) {
    events.push(...page.map(({ line }) => parseEvent(new TextDecoder().decode(line))));
  }
  return events;
}

/** A journal whose run died after so many events of a made-up log. */
async function died(seed: number, count: number) {
  const { graph, events } = legalLog(seed);
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const runId = `r${seed}`;
  const header = { runId, planDigest: "sha256:00", graph, inputs: {}, trigger: "embed" };
  const { epoch } = await journal.create(header);
  await journal.append(runId, 0, events.slice(0, count).map(encode), { epoch, sync: true });
  await journal.release(runId, epoch);
  return { journal, graph, runId, events, engine: createEngine({ host: clock, journal }) };
}

describe("a run that is given up", () => {
  test("has a legal log, wherever it was interrupted", async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const whole = legalLog(seed).events.length;
      const step = seed % 10 === 1 ? 1 : 7; // every place in some, some places in all
      for (let count = 0; count < whole; count += step) {
        const { journal, graph, runId, events, engine } = await died(seed, count);
        await engine.giveUp(runId, "the node type x.y is gone");
        const log = await logOf(journal, runId);
        const where = `seed ${seed}, ${count} events`;
        expect(log.slice(0, count), where).toEqual(events.slice(0, count));
        expect(checkLog(log, { graph }), where).toEqual([]);
        const wasCancelled = events.slice(0, count).some(({ kind }) => kind === "run.cancelling");
        expect(log.at(-1), where).toMatchObject(
          wasCancelled
            ? { kind: "summary", status: "cancelled" }
            : { kind: "summary", status: "failed", error: { code: "resume_impossible" } },
        );
      }
    }
  });

  test("says at its nodes why, and is given up once", async () => {
    const { journal, runId, engine } = await died(1, 3);
    await engine.giveUp(runId, "the node type x.y is gone");
    await expect(engine.giveUp(runId, "again")).rejects.toMatchObject({
      code: "run_not_resumable",
    });
    await expect(engine.giveUp("none", "again")).rejects.toMatchObject({ code: "run_not_found" });
    const failed = (await logOf(journal, runId)).filter(({ kind }) => kind === "node.failed");
    for (const event of failed) {
      expect(event).toMatchObject({
        error: { code: "resume_impossible", message: "the node type x.y is gone" },
      });
    }
  });
});

const WAITS = "node a: delay { for = 3s }";

describe("a run that is left", () => {
  test("is in the journal as it was, and another engine takes it up", async () => {
    const clock = createSimClock();
    const journal = createMemoryJournal({ now: clock.now });
    const { run, engine, plan } = await start(WAITS, { engine: { host: clock, journal } });
    await clock.settle();
    await engine.close({ leave: true });
    await expect(run.result).rejects.toMatchObject({ code: "engine_closed" });
    const before = await logOf(journal, run.id);
    expect(before.map(({ kind }) => kind)).toEqual(["run.started", "node.started", "node.waiting"]);
    const next = createEngine({ host: clock, journal });
    const resumed = await next.resume(run.id, { plan });
    await clock.run();
    expect(await resumed.result).toMatchObject({ status: "succeeded" });
    const log = await logOf(journal, run.id);
    expect(log.slice(0, before.length)).toEqual(before);
    expect(checkLog(log, { graph: graphOf(WAITS) })).toEqual([]);
  });

  test("may be left alone, while the others of its engine go on; the engine that left it may take it up again", async () => {
    const clock = createSimClock();
    const journal = createMemoryJournal({ now: clock.now });
    const { run, engine, plan } = await start(WAITS, { engine: { host: clock, journal } });
    const other = engine.run(plan);
    await clock.settle();
    const reading = run.batches()[Symbol.asyncIterator]();
    await reading.next();
    await run.leave();
    await run.leave(); // once more changes nothing
    expect(run.state).toBe("left");
    await expect(run.result).rejects.toMatchObject({ code: "run_left" });
    await expect(reading.next()).rejects.toMatchObject({ code: "run_left" });
    const resumed = await engine.resume(run.id, { plan });
    await clock.run();
    expect(await other.result).toMatchObject({ status: "succeeded" });
    await other.leave(); // it has ended, and stays so
    expect(other.state).toBe("succeeded");
    expect(await resumed.result).toMatchObject({ status: "succeeded" });
    expect(checkLog(await logOf(journal, run.id), { graph: graphOf(WAITS) })).toEqual([]);
  });

  test("keeps its open questions, and the pause for them", async () => {
    const clock = createSimClock();
    const journal = createMemoryJournal({ now: clock.now });
    const source = 'node ask: confirm { prompt = "Go on?" }';
    const { run, engine, plan } = await start(source, { engine: { host: clock, journal } });
    await clock.settle();
    await engine.close({ leave: true });
    await expect(run.result).rejects.toMatchObject({ code: "engine_closed" });
    await clock.run();
    const before = await logOf(journal, run.id);
    expect(before.at(-1)?.kind).toBe("run.paused");
    const resumed = await createEngine({ host: clock, journal }).resume(run.id, { plan });
    expect(resumed.paused).toBe("confirmation");
    expect(await resumed.confirm("k1", { decision: "approve" })).toEqual({ ok: true });
    await clock.run();
    expect(await resumed.result).toMatchObject({ status: "succeeded" });
    expect(checkLog(await logOf(journal, run.id), { graph: graphOf(source) })).toEqual([]);
  });
});

test("a run that its journal has already is started under the epoch it was given", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const engine = createEngine({ host: clock, journal });
  const plan = await planOf("input n: number = 2\noutput doubled = inputs.n * 2");
  const header = engine.header(plan, {}, { runId: "mine", trigger: "api" });
  expect(header).toMatchObject({ runId: "mine", inputs: { n: 2 }, trigger: "api" });
  const created = await journal.create(header);
  const run = engine.run(plan, header.inputs as { readonly [name: string]: unknown }, {
    runId: "mine",
    created,
  });
  await clock.run();
  expect(await run.result).toMatchObject({ outputs: { doubled: 4 } });
  expect(() => engine.header(plan, { n: "x" }, { runId: "other" })).toThrow(
    expect.objectContaining({ code: "input_invalid" }),
  );
});
