import type { ExecutionEvent, FlowGraph, Journal, Summary } from "@millrace/contracts";
import { checkLog, createView, foldEvents, parseEvent } from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type Plan,
  type Run,
  type RunOptions,
} from "@millrace/engine";
import { createRandom, createSimClock, type SimClock } from "@millrace/engine/testing";
import { differences, endsOf, forSeedNumbers, TIMEOUT_MS } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { busyFlow, busyTypes, newWorld, type World } from "./busy-flows.ts";

const FILE = "crash";
const RUN = "crash";

/** Something that a run has written to its journal. */
type Written =
  | { readonly event: ExecutionEvent; readonly stored: Parameters<Journal["append"]>[2][number] }
  | { readonly value: Parameters<Journal["putValue"]> };

/** All that a run has written, in order, and how it ended. */
interface Past {
  readonly written: readonly Written[];
  readonly summary: Summary;
  readonly header: Parameters<Journal["create"]>[0];
}

interface Flow {
  readonly graph: FlowGraph;
  readonly plan: Plan;
}

/** One world at a time: bodies are compiled once, and write where the test looks. */
let world: World = newWorld();
const registry = createRegistry(busyTypes(() => world));

async function flowOf(graph: FlowGraph): Promise<Flow> {
  const compiled = await compileFlow(graph, { registry });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics, null, 1));
  return { graph, plan: compiled.plan };
}

/** A journal that remembers what it was given, in order. */
function recorded(inner: Journal, written: Written[]): Journal {
  return {
    ...inner,
    async append(runId, expectedSeq, events, options) {
      await inner.append(runId, expectedSeq, events, options);
      for (const stored of events) written.push({ event: stored.event, stored });
    },
    async putValue(...value) {
      const ref = await inner.putValue(...value);
      written.push({ value });
      return ref;
    },
  };
}

/** Somebody who approves everything, now or a little later. */
function approver(clock: SimClock, seed: number): NonNullable<RunOptions["confirm"]> {
  const random = createRandom(seed);
  return () => {
    const answer = { decision: "approve", by: "somebody" } as const;
    if (random.chance(0.4)) return answer;
    const ms = random.integer(0, 60);
    return new Promise((give) => clock.setTimer(() => give(answer), ms));
  };
}

/** Lets a run come to its end; throws when it stands still. */
async function endOf(run: Run, clock: SimClock): Promise<Summary> {
  await clock.run();
  const summary = await Promise.race([run.result, clock.settle().then(() => null)]);
  if (summary !== null) return summary;
  const { view } = run.snapshot();
  const open = view.nodes.filter(({ state }) => !/ed$/.test(state));
  const nodes = open.map(({ node, state }) => `${node} ${state}`).join(", ");
  const log: ExecutionEvent[] = [];
  const cursor = run.batches();
  void (async () => {
    for await (const batch of cursor) log.push(...batch);
  })();
  await clock.settle();
  cursor.close();
  throw new Error(`the run stands still after event ${run.seq}: ${nodes}${shown(log)}`);
}

/** A run without an interruption. */
async function whole({ plan }: Flow, seed: number, run: RunOptions): Promise<Past> {
  world = newWorld();
  const clock = createSimClock({ random: createRandom(seed) });
  const inner = createMemoryJournal({ now: clock.now });
  const written: Written[] = [];
  const engine = createEngine({ host: clock, journal: recorded(inner, written), freeze: true });
  const handle = engine.run(plan, {}, { runId: RUN, confirm: approver(clock, seed), ...run });
  const summary = await endOf(handle, clock);
  const header = await inner.load(RUN);
  if (header === null) throw new Error("the journal has forgotten the run");
  return { written, summary, header };
}

/** What is written once `k` events are, and before the next. */
function upTo({ written }: Past, k: number): readonly Written[] {
  let events = 0;
  const end = written.findIndex((one) => "event" in one && ++events > k);
  return end === -1 ? written : written.slice(0, end);
}

/** Takes a run up where only `k` of its events are stored, and lets it come to its end. */
async function resumed({ plan }: Flow, past: Past, k: number, seed: number, run: RunOptions) {
  const kept = upTo(past, k);
  const events = kept.flatMap((one) => ("event" in one ? [one.event] : []));
  world = worldOf(events);
  const start = (events.at(-1)?.ts ?? 1_750_000_000_000) + (seed % 3) * 100;
  const clock = createSimClock({ start, random: createRandom(seed + k) });
  const inner = createMemoryJournal({ now: clock.now });
  const { epoch } = await inner.create(past.header);
  const written: Written[] = [...kept];
  for (const one of kept) {
    if ("value" in one) await inner.putValue(...one.value);
  }
  const lines = kept.flatMap((one) => ("stored" in one ? [one.stored] : []));
  await inner.append(RUN, 0, lines, { epoch, sync: true });
  await inner.release(RUN, epoch);
  const engine = createEngine({ host: clock, journal: recorded(inner, written), freeze: true });
  const handle = await engine.resume(RUN, { plan, confirm: approver(clock, seed + k), ...run });
  const summary = await endOf(handle, clock);
  return { past: { written, summary, header: past.header }, clock, kept, inner };
}

/** What the world has seen when these events are all that is known of a run. */
function worldOf(events: readonly ExecutionEvent[]): World {
  const { failures, ...rest } = newWorld();
  for (const event of events) {
    if (event.kind !== "node.retrying" || event.error.code !== "scripted") continue;
    failures.set(event.node, (failures.get(event.node) ?? 0) + 1);
  }
  return { ...rest, failures };
}

async function storedEvents(journal: Journal): Promise<ExecutionEvent[]> {
  const events: ExecutionEvent[] = [];
  for await (const page of journal.read(RUN, 0)) {
    for (const { line } of page) {
      events.push(parseEvent(new TextDecoder().decode(line)) as ExecutionEvent);
    }
  }
  return events;
}

/** What was done again though the log says that it was done: bodies that write, and steps that are kept. */
function repeated(kept: readonly Written[], events: readonly ExecutionEvent[]): string[] {
  const over = new Set<string>();
  const done = new Set<string>();
  for (const one of kept) {
    if ("value" in one) done.add(one.value[1]);
    else if (one.event.kind === "node.retrying") over.add(`${one.event.node}#${one.event.attempt}`);
    else if (/^node\.(succeeded|failed|cancelled)$/.test(one.event.kind) && "node" in one.event) {
      over.add(String(one.event.node));
    }
  }
  const entered = world.entered.filter((entry) => over.has(entry) || over.has(pathOf(entry)));
  const tries = triesOf(events);
  const steps = world.steps.filter(({ attempt, key }) => {
    const name = `${pathOf(attempt)}#${tries.get(attempt)}#${key}`;
    if (done.has(name)) return true;
    done.add(name);
    return false;
  });
  return [
    ...entered.map((entry) => `${entry} is entered again`),
    ...steps.map(({ attempt, key }) => `the step ${key} of ${attempt} is carried out again`),
  ];
}

function pathOf(attempt: string): string {
  return attempt.slice(0, attempt.indexOf("#"));
}

/** First attempt of the try that an attempt belongs to: an interruption goes on with it. */
function triesOf(events: readonly ExecutionEvent[]): Map<string, number> {
  const tries = new Map<string, number>();
  const interrupted = new Set<string>();
  for (const e of events) {
    if (e.kind === "node.retrying" && e.error.code === "interrupted") {
      interrupted.add(`${e.node}#${e.next}`);
    }
    if (e.kind !== "node.started") continue;
    const name = `${e.node}#${e.attempt}`;
    const before = tries.get(`${e.node}#${e.attempt - 1}`);
    tries.set(name, interrupted.has(name) && before !== undefined ? before : e.attempt);
  }
  return tries;
}

interface Checked {
  readonly past: Past;
  readonly faults: readonly string[];
}

async function checked(
  flow: Flow,
  past: Past,
  k: number,
  seed: number,
  run: RunOptions,
): Promise<Checked> {
  const next = await resumed(flow, past, k, seed, run);
  const events = await storedEvents(next.inner);
  const faults = checkLog(events, { graph: flow.graph }).map(
    ({ invariant, seq, message }) => `${invariant} at seq ${seq}: ${message}`,
  );
  const before = next.kept.flatMap((one) => ("event" in one ? [JSON.stringify(one.event)] : []));
  if (events.slice(0, k).some((event, i) => JSON.stringify(event) !== before[i])) {
    faults.push("what was written has changed");
  }
  if (next.clock.pending > 0) faults.push(`${next.clock.pending} timers are left`);
  faults.push(...repeated(next.kept, events));
  if (run.onFailure === "stop") {
    const { status } = past.summary;
    if (next.past.summary.status !== status) faults.push(`it ends ${next.past.summary.status}`);
  } else {
    faults.push(...differences({ events, summary: next.past.summary }, flow.graph));
  }
  const said = faults.map((text) => `cut after ${k}: ${text}`);
  return { past: next.past, faults: said.length === 0 ? [] : [...said.slice(0, 4), shown(events)] };
}

/** A log in short, for whoever looks at one seed. */
function shown(events: readonly ExecutionEvent[]): string {
  if (process.env["MILLRACE_SEED"] === undefined) return "";
  return events
    .map((e) => {
      const { v, runId, seq, ts, kind, node, attempt, ...rest } = e as never as {
        [k: string]: unknown;
      };
      return `\n${seq} ${ts} ${kind} ${node ?? ""} ${attempt ?? ""} ${JSON.stringify(rest).slice(0, 120)}`;
    })
    .join("");
}

function countOf({ written }: Past): number {
  return written.filter((one) => "event" in one).length;
}

test(
  "a run that is cut after any event and resumed ends as if it had not been, and repeats nothing",
  async () => {
    let cuts = 0;
    await forSeedNumbers(8, FILE, async (seed) => {
      const flow = await flowOf(busyFlow(seed));
      const past = await whole(flow, seed, {});
      for (let k = 0; k < countOf(past); k += 1) {
        cuts += 1;
        const { faults } = await checked(flow, past, k, seed, {});
        if (faults.length > 0) return faults;
      }
      return [];
    });
    expect(cuts).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);

test(
  "so does one that is cut again and again",
  async () => {
    await forSeedNumbers(30, FILE, async (seed) => {
      const flow = await flowOf(busyFlow(seed));
      const random = createRandom(seed);
      let past = await whole(flow, seed, {});
      let from = 0;
      for (let cut = 0; cut < 4; cut += 1) {
        const k = random.integer(from, countOf(past) - 1);
        const next = await checked(flow, past, k, seed + cut, {});
        if (next.faults.length > 0) return next.faults;
        past = next.past;
        from = k;
      }
      return [];
    });
  },
  TIMEOUT_MS,
);

test(
  "one that stops at its first failure is as legal, and fails when it would have",
  async () => {
    await forSeedNumbers(20, FILE, async (seed) => {
      const flow = await flowOf(busyFlow(seed));
      const past = await whole(flow, seed, { onFailure: "stop" });
      for (let k = seed % 3; k < countOf(past); k += 3) {
        const { faults } = await checked(flow, past, k, seed, { onFailure: "stop" });
        if (faults.length > 0) return faults;
      }
      return [];
    });
  },
  TIMEOUT_MS,
);

/** Bodies that write and were at work when the process died, each with what became of it when that is wrong. */
function secondDeliveries(kept: readonly Written[], events: readonly ExecutionEvent[]): string[] {
  const before = kept.flatMap((one) => ("event" in one ? [one.event] : []));
  const view = createView();
  for (const event of before) foldEvents(view, event);
  const ends = endsOf(events);
  const writes = [...view.nodes.values()].filter(
    ({ type, state }) => type === "test.writes" && state === "running",
  );
  interruptedWrites += writes.length;
  return writes.flatMap(({ node }) => {
    if (world.entered.some((entry) => pathOf(entry) === node)) return [`${node} is entered twice`];
    const state = ends.get(node)?.state ?? "open";
    return /^(failed|cancelled)/.test(state) ? [] : [`${node} was interrupted and is ${state}`];
  });
}

let interruptedWrites = 0;

test(
  "what is to be delivered once at most is not begun again after a cut anywhere",
  async () => {
    await forSeedNumbers(10, FILE, async (seed) => {
      const flow = await flowOf(busyFlow(seed, { delivery: "atMostOnce" }));
      const past = await whole(flow, seed, {});
      for (let k = seed % 2; k < countOf(past); k += 2) {
        const { kept, clock, inner } = await resumed(flow, past, k, seed, {});
        const events = await storedEvents(inner);
        const faults = checkLog(events, { graph: flow.graph }).map(({ message }) => message);
        if (clock.pending > 0) faults.push(`${clock.pending} timers are left`);
        faults.push(...repeated(kept, events), ...secondDeliveries(kept, events));
        if (faults.length > 0) return faults.map((text) => `cut after ${k}: ${text}`);
      }
      return [];
    });
    if (process.env["MILLRACE_SEED"] === undefined) expect(interruptedWrites).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
