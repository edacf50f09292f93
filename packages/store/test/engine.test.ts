/** The engine on this journal: its laws hold as they do in memory, also when the process is gone in the middle. */

import {
  checkLog,
  type ExecutionEvent,
  type FlowGraph,
  type Journal,
  parseEventStrict,
  type Summary,
} from "@millrace/contracts";
import { createEngine, type Plan, type Run } from "@millrace/engine";
import { createRandom, createSimClock, type SimClock } from "@millrace/engine/testing";
import { openStore, type Store } from "@millrace/store";
import { compiled, differences, graphOf, planOf, randomFlow } from "@millrace/test-support/flows";
import { temporaryFolder } from "@millrace/test-support/folder";
import { linesOf } from "@millrace/test-support/store";
import { expect, test } from "vitest";

const SEEDS = [1, 3, 5];
const CUTS = 2; // of each flow
const RUN = "engine";

interface Flow {
  readonly graph: FlowGraph;
  readonly plan: Plan;
}

/** Without bodies that fail by their attempt: one that was interrupted has used its attempt up, and fails less often. */
function withoutFailures<T extends Pick<FlowGraph, "nodes">>(graph: T): T {
  const nodes = graph.nodes.map((node) => ({
    ...node,
    ...(node.fields !== undefined && {
      fields: node.type === "test.scripted" ? { ...node.fields, fail: 0 } : node.fields,
    }),
    ...(node.body !== undefined && { body: withoutFailures(node.body) }),
  }));
  return { ...graph, nodes };
}

/** A journal that counts its writes which are on their way: time stands still for them. */
function counted(inner: Journal): { readonly journal: Journal; isBusy(): boolean } {
  let busy = 0;
  const count = async <T>(call: Promise<T>): Promise<T> => {
    busy += 1;
    try {
      return await call;
    } finally {
      busy -= 1;
    }
  };
  return {
    isBusy: () => busy > 0,
    journal: {
      ...inner,
      create: (...args) => count(inner.create(...args)),
      append: (...args) => count(inner.append(...args)),
      putValue: (...args) => count(inner.putValue(...args)),
      lease: (...args) => count(inner.lease(...args)),
    },
  };
}

/** Lets time pass until this is true, from timer to timer, and never while something is being written. */
async function passTime(
  clock: SimClock,
  { isBusy, isOver }: { isBusy(): boolean; isOver(): boolean },
): Promise<void> {
  for (;;) {
    await clock.settle();
    if (isOver()) return;
    if (isBusy() || clock.nextIn === undefined) await new Promise((next) => setImmediate(next));
    else await clock.advance(clock.nextIn);
  }
}

async function endOf(run: Run, clock: SimClock, isBusy: () => boolean): Promise<Summary> {
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  run.result.then(over, over);
  await passTime(clock, { isBusy, isOver: () => isOver });
  return run.result;
}

async function eventsOf(store: Store): Promise<ExecutionEvent[]> {
  const lines = await linesOf(store.journal, RUN);
  return lines.map((line) => parseEventStrict(line) as ExecutionEvent);
}

/** A journal that stands still once it holds `k` events, as if the process were gone. */
function stopping(inner: Journal, k: number): { readonly journal: Journal; isStopped(): boolean } {
  let stopped = false;
  const journal: Journal = {
    ...inner,
    async append(runId, expectedSeq, events, options) {
      const kept = events.slice(0, Math.max(0, k - expectedSeq));
      await inner.append(runId, expectedSeq, kept, options);
      if (kept.length === events.length) return;
      stopped = true;
      await new Promise(() => {});
    },
  };
  return { journal, isStopped: () => stopped };
}

async function faultsOf(store: Store, { graph }: Flow, summary: Summary): Promise<string[]> {
  const events = await eventsOf(store);
  const broken = checkLog(events, { graph }).map(({ invariant, seq }) => `${invariant} at ${seq}`);
  return [...broken, ...differences({ events, summary }, graph)];
}

test("random flows end as the reference says, whole and after a process that died on the way", async () => {
  const faults: string[] = [];
  let cuts = 0;
  for (const seed of SEEDS) {
    const graph = withoutFailures(randomFlow(seed));
    const flow: Flow = await compiled(graph);
    const random = createRandom(seed);
    const clock = createSimClock({ random: createRandom(seed) });
    const store = await openStore({ dir: temporaryFolder(), now: clock.now });
    const { journal, isBusy } = counted(store.journal);
    const engine = createEngine({ host: clock, journal, freeze: true });
    const summary = await endOf(engine.run(flow.plan, {}, { runId: RUN }), clock, isBusy);
    faults.push(...(await faultsOf(store, flow, summary)).map((text) => `seed ${seed}: ${text}`));
    const count = summary.seq;
    await store.close();
    for (let cut = 0; cut < CUTS; cut += 1) {
      const k = random.integer(1, count - 1);
      const found = await afterCut(flow, k, seed);
      cuts += 1;
      faults.push(...found.map((text) => `seed ${seed}, cut after ${k}: ${text}`));
    }
  }
  expect(faults).toEqual([]);
  expect(cuts).toBe(SEEDS.length * CUTS);
});

/** Runs the flow until `k` events are stored, opens the folder again and resumes it. */
async function afterCut(flow: Flow, k: number, seed: number): Promise<string[]> {
  const dir = temporaryFolder();
  const before = createSimClock({ random: createRandom(seed) });
  const first = await openStore({ dir, now: before.now });
  const { journal, isStopped } = stopping(first.journal, k);
  const dying = counted(journal);
  const lost = createEngine({ host: before, journal: dying.journal, freeze: true });
  lost.run(flow.plan, {}, { runId: RUN }).result.catch(() => {});
  await passTime(before, { isBusy: dying.isBusy, isOver: isStopped });
  const kept = await linesOf(first.journal, RUN);
  await first.close();
  const clock = createSimClock({ start: before.now() + 60_000, random: createRandom(seed + 1) });
  const store = await openStore({ dir, now: clock.now });
  const { journal: again, isBusy } = counted(store.journal);
  const engine = createEngine({ host: clock, journal: again, freeze: true });
  const run = await engine.resume(RUN, { plan: flow.plan });
  const summary = await endOf(run, clock, isBusy);
  const faults = await faultsOf(store, flow, summary);
  const lines = await linesOf(store.journal, RUN);
  if (lines.slice(0, kept.length).join("\n") !== kept.join("\n"))
    faults.push("the past has changed");
  await store.close();
  return faults;
}

test("a graph that was moved about in place is stored as it was compiled last", async () => {
  await using store = await openStore({ dir: temporaryFolder() });
  const engine = createEngine({ journal: store.journal });
  const layout: { [id: string]: { x: number; y: number } } = {};
  const graph = { ...graphOf("node a: transform { value = 1 }"), layout };
  for (const x of [1, 2]) {
    layout["a"] = { x, y: 0 };
    await engine.run(await planOf(graph), {}, { runId: `r${x}` }).result;
    expect((await store.journal.load(`r${x}`))?.graph.layout).toEqual({ a: { x, y: 0 } });
  }
});
