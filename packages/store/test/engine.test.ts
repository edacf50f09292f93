/** The engine on this journal: its laws hold as they do in memory, also when the process is gone in the middle. */
import {
  checkLog,
  type ExecutionEvent,
  type FlowGraph,
  type Journal,
  parseEvent,
  type Summary,
} from "@millrace/contracts";
import { openStore, type Store } from "@millrace/store";
import { expect, test } from "vitest";
import { createEngine, type Plan, type Run } from "../../engine/src/index.ts";
import {
  createRandom,
  createSimClock,
  randomFlow,
  type SimClock,
} from "../../engine/src/testing/index.ts";
import { compiled, differences } from "../../engine/test/properties/flows.ts";
import { newFolder } from "./folder.ts";
import { linesOf } from "./logs.ts";

const SEEDS = [1, 2, 3, 4, 5, 6];
const CUTS = 3; // of each flow
const RUN = "engine";

interface Flow {
  readonly graph: FlowGraph;
  readonly plan: Plan;
}

/** Lets simulated time pass, and the disk work in between, until the run has ended. */
async function endOf(run: Run, clock: SimClock): Promise<Summary> {
  let summary: Summary | undefined;
  let failure: unknown;
  run.result.then(
    (value) => {
      summary = value;
    },
    (error: unknown) => {
      failure = error;
    },
  );
  while (summary === undefined && failure === undefined) {
    await new Promise((next) => setTimeout(next, 2));
    await clock.settle();
    if (clock.nextIn !== undefined) await clock.advance(Math.min(clock.nextIn, 1));
  }
  if (summary === undefined) throw failure;
  return summary;
}

async function eventsOf(store: Store): Promise<ExecutionEvent[]> {
  const lines = await linesOf(store.journal, RUN);
  return lines.map((line) => parseEvent(line, { strict: true }) as ExecutionEvent);
}

/** A journal that stands still once it holds `k` events, as if the process were gone; `reached` tells. */
function stopping(
  inner: Journal,
  k: number,
): { readonly journal: Journal; readonly reached: Promise<void> } {
  let tell: () => void = () => {};
  const reached = new Promise<void>((done) => {
    tell = done;
  });
  const journal: Journal = {
    ...inner,
    async append(runId, expectedSeq, events, options) {
      const kept = events.slice(0, Math.max(0, k - expectedSeq));
      await inner.append(runId, expectedSeq, kept, options);
      if (kept.length === events.length) return;
      tell();
      await new Promise(() => {});
    },
  };
  return { journal, reached };
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
    const graph = randomFlow(seed);
    const flow: Flow = { graph, plan: await compiled(graph) };
    const random = createRandom(seed);
    const clock = createSimClock({ random: createRandom(seed) });
    const store = await openStore({ dir: newFolder(), now: clock.now });
    const engine = createEngine({ host: clock, journal: store.journal, freeze: true });
    const summary = await endOf(engine.run(flow.plan, {}, { runId: RUN }), clock);
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
  const dir = newFolder();
  const before = createSimClock({ random: createRandom(seed) });
  const first = await openStore({ dir, now: before.now });
  const { journal, reached } = stopping(first.journal, k);
  const dying = createEngine({ host: before, journal, freeze: true });
  const lost = dying.run(flow.plan, {}, { runId: RUN });
  await Promise.race([reached, endOf(lost, before)]);
  const kept = await linesOf(first.journal, RUN);
  await first.close();
  const clock = createSimClock({ start: before.now() + 60_000, random: createRandom(seed + 1) });
  const store = await openStore({ dir, now: clock.now });
  const engine = createEngine({ host: clock, journal: store.journal, freeze: true });
  const run = await engine.resume(RUN, { plan: flow.plan });
  const summary = await endOf(run, clock);
  const faults = await faultsOf(store, flow, summary);
  const lines = await linesOf(store.journal, RUN);
  if (lines.slice(0, kept.length).join("\n") !== kept.join("\n"))
    faults.push("the past has changed");
  await store.close();
  return faults;
}
