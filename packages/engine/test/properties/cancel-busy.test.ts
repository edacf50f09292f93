/** Cancelling flows that also ask people, keep steps, park, queue for keys and write to a journal. */

import { type AnyEvent, checkLog, type ExecutionEvent } from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type Host,
  type NodeType,
  type Plan,
  type RunOptions,
} from "@millrace/engine";
import { createRandom, createSimClock, type SimClock } from "@millrace/engine/testing";
import { forSeedNumbers, TIMEOUT_MS } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { busyFlow, busyTypes, newWorld, type World } from "./busy-flows.ts";

const FILE = "cancel-busy";
const LOOKS = 24; // microtasks after each turn of the host; what a turn sets off has settled by then

let world: World = newWorld();
/** Signals of the bodies that are at work. */
const signals = new Set<AbortSignal>();
const registry = createRegistry(busyTypes(() => world).map(watched));

/** A type whose bodies show their signal while they work. */
function watched(type: NodeType): NodeType {
  const run: NodeType["run"] = (fields, ctx) => {
    const signal = ctx.signal as AbortSignal;
    signals.add(signal);
    const done = () => void signals.delete(signal);
    try {
      const result = type.run(fields, ctx);
      if (result instanceof Promise) result.then(done, done);
      else done();
      return result;
    } catch (error) {
      done();
      throw error;
    }
  };
  return { ...type, run };
}

/** The host of a clock; `look` is called after all that it calls, and in the microtasks that follow. */
function watching(clock: SimClock, look: () => void): Host {
  const again = (left: number) => {
    look();
    if (left > 0) queueMicrotask(() => again(left - 1));
  };
  const followed = (fn: () => void) => () => {
    fn();
    again(LOOKS);
  };
  return {
    now: () => clock.now(),
    random: () => clock.random(),
    setTimer: (fn, ms) => clock.setTimer(followed(fn), ms),
    yield: (fn) => clock.yield(followed(fn)),
    sha256: (bytes) => clock.sha256(bytes),
  };
}

/** Approves most questions, soon; the others stay open. */
function approver(clock: SimClock, seed: number): NonNullable<RunOptions["confirm"]> {
  const random = createRandom(seed);
  return () => {
    const answer = { decision: "approve", by: "somebody" } as const;
    if (random.chance(0.2)) return undefined;
    if (random.chance(0.5)) return answer;
    return new Promise((give) => clock.yield(() => give(answer)));
  };
}

interface Cancelled {
  /** Events that readers had. */
  readonly seq: number;
  readonly faults: readonly string[];
}

/** Runs a plan and cancels it as soon as readers have `k` events; when it stands still before, there. */
async function cancelledAfter(
  { plan, graph }: { plan: Plan; graph: ReturnType<typeof busyFlow> },
  k: number,
  seed: number,
): Promise<Cancelled> {
  world = newWorld();
  signals.clear();
  const clock = createSimClock({ random: createRandom(seed) });
  const faults: string[] = [];
  let cancelledAt = 0;
  const cancel = () => {
    if (cancelledAt > 0 || run === undefined) return;
    const working = [...signals];
    if (!run.cancel()) return;
    cancelledAt = Math.max(1, run.seq);
    const deaf = working.filter(({ aborted }) => !aborted).length;
    if (deaf > 0) faults.push(`${deaf} bodies are not aborted when cancel returns`);
  };
  const host = watching(clock, () => {
    if ((run?.seq ?? -1) >= k) cancel();
  });
  const kept = seed % 2 === 0 ? {} : { journal: createMemoryJournal({ now: clock.now }) };
  const engine = createEngine({ host, freeze: true, ...kept });
  const options = { runId: "cancel", confirm: approver(clock, seed) };
  const run: ReturnType<typeof engine.run> | undefined = engine.run(plan, {}, options);
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) events.push(...batch);
  })();
  if (k === 0) cancel();
  await clock.run();
  cancel(); // somebody is asked and says nothing
  await clock.run();
  const summary = await Promise.race([run.result, clock.settle().then(() => null)]);
  if (summary === null) return { seq: run.seq, faults: [...faults, "the run does not end"] };
  await reading;
  faults.push(...checkLog(events as AnyEvent[], { graph }).map(({ message }) => message));
  const at = events.findIndex(({ kind }) => kind === "run.cancelling");
  if (cancelledAt > 0 && k > 0) {
    if (summary.status !== "cancelled") faults.push(`it ends ${summary.status}`);
    const late = events.slice(at + 1).find(({ kind }) => kind === "node.started");
    if (at < 0 || late !== undefined) faults.push(`a node starts at seq ${late?.seq}`);
  }
  if (events.at(-1)?.kind !== "summary") faults.push("the log does not end with a summary");
  if (run.confirmations().length > 0) faults.push("a question is still open");
  if (clock.pending > 0) faults.push(`${clock.pending} timers are left`);
  await engine.close();
  if (clock.pending > 0) faults.push(`${clock.pending} timers are left after close`);
  return { seq: run.seq, faults: faults.map((text) => `cancelled after ${k}: ${text}`) };
}

test(
  "a busy run that is cancelled after any event aborts all in that tick, starts nothing and leaves nothing",
  async () => {
    let positions = 0;
    await forSeedNumbers(10, FILE, async (seed) => {
      const graph = busyFlow(seed);
      const compiled = await compileFlow(graph, { registry });
      if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics, null, 1));
      const flow = { plan: compiled.plan, graph };
      const whole = await cancelledAfter(flow, Number.POSITIVE_INFINITY, seed);
      if (whole.faults.length > 0) return whole.faults;
      for (let k = 0; k < whole.seq; k += 1) {
        positions += 1;
        const { faults } = await cancelledAfter(flow, k, seed);
        if (faults.length > 0) return faults;
      }
      return [];
    });
    expect(positions).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
