/** A run that stops without a summary says so to everybody who looks; and a program takes its runs up again in one call. */

import type { Journal, RunHeader } from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type Run,
} from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { bodyType } from "./types.ts";

const ASK = 'node a: confirm { prompt = "Go on?" }\noutput by: string = a.by';

/** A journal that refuses every append once `breaks` was called. */
function breakable(): { readonly journal: Journal; breaks(): void } {
  const journal = createMemoryJournal();
  let isBroken = false;
  return {
    breaks() {
      isBroken = true;
    },
    journal: {
      ...journal,
      append: (...args: Parameters<Journal["append"]>) =>
        isBroken ? Promise.reject(new Error("the disk is gone")) : journal.append(...args),
    } as Journal,
  };
}

async function read(run: Run): Promise<string[]> {
  const kinds: string[] = [];
  for await (const batch of run.batches()) kinds.push(...batch.map(({ kind }) => kind));
  return kinds;
}

test("a lost journal ends readers with its error, and the state says lost", async () => {
  const clock = createSimClock();
  const { journal, breaks } = breakable();
  const engine = createEngine({ host: clock, journal });
  const run = engine.run(await planOf(ASK));
  const early = read(run).catch((error: unknown) => error);
  await clock.settle();
  expect(run.state).toBe("paused");
  breaks();
  void run.confirm("k1", { decision: "approve" }).catch(() => {});
  await clock.run();
  await expect(run.result).rejects.toMatchObject({ code: "journal_failed" });
  expect(run.state).toBe("lost");
  expect(await early).toMatchObject({ code: "journal_failed" });
  await expect(read(run)).rejects.toMatchObject({ code: "journal_failed" });
});

test("a run that has ended gives no lease back: nobody asks for it", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal();
  let released = 0;
  const release = async (): Promise<void> => {
    released += 1;
  };
  const engine = createEngine({ host: clock, journal: { ...journal, release } as Journal });
  const run = engine.run(await planOf('node a: log { message = "hello" }'));
  await clock.run();
  expect(await run.result).toMatchObject({ status: "succeeded" });
  expect(released).toBe(0);
  await engine.close();
});

test("a run that is lost at its summary gives no lease back when a body ends late", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal();
  let released = 0;
  let endBody = (): void => {};
  const late = bodyType("late", () => new Promise((done) => (endBody = () => done(null))));
  const plan = await planOf("node a: test.late {\n}", { types: [late] });
  const engine = createEngine({
    host: clock,
    journal: {
      ...journal,
      append: (...args: Parameters<Journal["append"]>) =>
        args[2].some(({ kind }) => kind === "summary")
          ? Promise.reject(new Error("the disk is gone"))
          : journal.append(...args),
      async release() {
        released += 1;
      },
    } as Journal,
  });
  const run = engine.run(plan);
  await clock.settle();
  run.cancel({ graceMs: 0 });
  await clock.run();
  await expect(run.result).rejects.toMatchObject({ code: "journal_failed" });
  endBody();
  await clock.run();
  expect(released).toBe(0);
});

test("a run that was left is no run that has ended", async () => {
  const clock = createSimClock();
  const engine = createEngine({ host: clock, journal: createMemoryJournal() });
  const run = engine.run(await planOf(ASK));
  const reading = read(run).catch((error: unknown) => error);
  await clock.settle();
  await engine.close({ leave: true });
  expect(run.state).toBe("left");
  expect(await reading).toMatchObject({ code: "engine_closed" });
  await expect(run.result).rejects.toMatchObject({ code: "engine_closed" });
});

test("a reader that has closed its cursor gets no error", async () => {
  const clock = createSimClock();
  const engine = createEngine({ host: clock, journal: createMemoryJournal() });
  const run = engine.run(await planOf(ASK));
  const cursor = run.batches();
  await clock.settle();
  cursor.close();
  await engine.close({ leave: true });
  for await (const _ of cursor) expect.unreachable();
});

test("recover takes up what was left, and ends what can no longer run", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal();
  const headers = new Map<string, RunHeader>();
  const store = {
    runs: { live: () => [...headers.keys()], header: (id: string) => headers.get(id) ?? null },
  };
  const first = createEngine({ host: clock, journal });
  for (const runId of ["r1", "r2", "r3"]) {
    const plan = await planOf(ASK);
    headers.set(runId, { ...first.header(plan, {}, { runId }), graph: graphOf(ASK) });
    first.run(plan, {}, { runId });
  }
  await clock.settle();
  await first.close({ leave: true });

  const second = createEngine({ host: clock, journal });
  const registry = createRegistry();
  const changed = graphOf(ASK.replace("Go on?", "Really?"));
  const recovered = await second.recover(store, (graph, { runId }) =>
    compileFlow(
      runId === "r2" ? graphOf("node a: nothing.here") : runId === "r3" ? changed : graph,
      { registry },
    ),
  );
  expect(recovered.runs.map(({ id }) => id)).toEqual(["r1"]);
  expect(recovered.givenUp.map(({ runId }) => runId)).toEqual(["r2", "r3"]);
  expect(recovered.left).toEqual([]);
  const [run] = recovered.runs;
  await run?.confirm("k1", { decision: "approve", by: "Grace" });
  await clock.run();
  expect((await run?.result)?.outputs).toEqual({ by: "Grace" });

  // What has ended since is left alone.
  expect((await second.recover(store, (graph) => compileFlow(graph, { registry }))).left).toEqual([
    "r1",
    "r2",
    "r3",
  ]);
});
