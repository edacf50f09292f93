/** Runs whose journal is cut after some of their events, and taken up from there. */
import {
  type AnyEvent,
  assertLog,
  type EncodedEvent,
  type FlowGraph,
  type Journal,
  parseEvent,
  type Summary,
} from "@millrace/contracts";
import { createEngine, createMemoryJournal, type Plan, type RunOptions } from "@millrace/engine";
import { createSimClock, type SimClock } from "@millrace/engine/testing";
import { graphOf, planOf, type Setup } from "@millrace/test-support/flows";

export const utf8 = new TextDecoder();

/** The stored lines of a run. */
export async function linesOf(journal: Journal, runId: string): Promise<EncodedEvent[]> {
  const lines: EncodedEvent[] = [];
  for await (const page of journal.read(runId, 0)) {
    for (const stored of page) {
      lines.push({ ...stored, event: parseEvent(utf8.decode(stored.line)) as never });
    }
  }
  return lines;
}

export interface Whole {
  readonly graph: FlowGraph;
  readonly plan: Plan;
  readonly lines: readonly EncodedEvent[];
  readonly summary: Summary;
  readonly journal: Journal;
}

const approve: RunOptions = { confirm: async () => ({ decision: "approve", by: "auto" }) };

/** A run from beginning to end, with its journal. */
export async function whole(source: string | FlowGraph, setup: Setup = {}): Promise<Whole> {
  const graph = typeof source === "string" ? graphOf(source) : source;
  const plan = await planOf(graph, setup);
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const engine = createEngine({ host: clock, journal, ...setup.engine });
  const run = engine.run(plan, setup.inputs ?? {}, { runId: "r", ...approve, ...setup.run });
  await clock.run();
  return { graph, plan, summary: await run.result, lines: await linesOf(journal, "r"), journal };
}

/** A journal in which the run has come so far as its first `k` events, and nobody owns it. */
export async function cut(
  { journal: from, lines }: Whole,
  k: number,
  clock: SimClock,
): Promise<Journal> {
  const state = await from.load("r");
  if (state === null) throw new Error("no run");
  const journal = createMemoryJournal({ now: clock.now });
  const { epoch } = await journal.create(state);
  await journal.append("r", 0, lines.slice(0, k), { epoch, sync: true });
  for (const [key, value] of Object.entries(state.steps)) await journal.putValue("r", key, value);
  await journal.release("r", epoch);
  return journal;
}

/** Takes a run up after its first `k` events and runs it to its end; its log is checked as a whole. */
export async function resumed(run: Whole, k: number, setup: Setup = {}) {
  const last = run.lines[k - 1]?.event.ts ?? 0;
  const clock = createSimClock({ start: last + 60_000 });
  const journal = await cut(run, k, clock);
  const engine = createEngine({ host: clock, journal, freeze: true, ...setup.engine });
  const handle = await engine.resume("r", { plan: run.plan, ...approve, ...setup.run });
  await clock.run();
  const summary = await handle.result;
  const events = (await linesOf(journal, "r")).map(({ event }) => event);
  try {
    assertLog(events as AnyEvent[], { graph: run.graph });
  } catch (error) {
    const log = events.map((e) => `${e.seq} ${e.kind} ${"node" in e ? e.node : ""}`).join("\n");
    throw new Error(`cut after ${k}: ${(error as Error).message}\n${log}`);
  }
  if (clock.pending > 0) throw new Error(`cut after ${k}: ${clock.pending} timers are left`);
  return { summary, events, clock };
}
