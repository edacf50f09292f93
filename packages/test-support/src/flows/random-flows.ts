/** Random flows on the real engine, on a simulated clock. */

import {
  checkLog,
  type ExecutionEvent,
  type FlowGraph,
  type Json,
  type Summary,
  serialiseEvent,
} from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createRegistry,
  type Engine,
  type EngineOptions,
  type NodeType,
  type Plan,
  type Registry,
  type Run,
  type RunOptions,
} from "@millrace/engine";
import { createRandom, createSimClock, type SimClock } from "@millrace/engine/testing";
import { casesOf } from "@millrace/test-support";
import { randomFlow } from "./random-flow.ts";
import { referenceRun } from "./reference-run.ts";
import { scriptedNode } from "./scripted-node.ts";

export interface Ran {
  readonly graph: FlowGraph;
  readonly events: readonly ExecutionEvent[];
  readonly summary: Summary;
  readonly clock: SimClock;
}

const registries = new WeakMap<NodeType, Registry>();

/** A graph with its plan. Throws with the diagnostics of a graph that is not valid. */
export async function compiled(
  graph: FlowGraph,
  scripted: NodeType = scriptedNode,
): Promise<{ graph: FlowGraph; plan: Plan }> {
  const registry = registries.get(scripted) ?? createRegistry([scripted]);
  registries.set(scripted, registry); // its schemas are compiled once
  const result = await compileFlow(graph, { registry });
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics, null, 1));
  return { graph, plan: result.plan };
}

/** Runs a plan to its end. `watch` sees every batch of events as it comes, `begun` the run before its first event is read. */
export async function runPlan(
  { graph, plan }: { graph: FlowGraph; plan: Plan },
  options: {
    random?: number;
    run?: RunOptions;
    engine?: EngineOptions;
    begun?: (run: Run, engine: Engine) => void;
    watch?: (events: readonly ExecutionEvent[]) => void;
  } = {},
): Promise<Ran> {
  const clock = createSimClock({ random: createRandom(options.random ?? 7) });
  const engine = createEngine({ host: clock, freeze: true, ...options.engine });
  const run = engine.run(plan, {}, { runId: "property", ...options.run });
  options.begun?.(run, engine);
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) {
      events.push(...batch);
      options.watch?.(batch);
    }
  })();
  await clock.run();
  const standing = clock.settle().then(() => null);
  const summary = await Promise.race([run.result, standing]);
  if (summary === null) throw new Error(`the run stands still after event ${events.length}`);
  await reading;
  return { graph, events, summary, clock };
}

/** What a log does wrong, and what is left after the run; empty: nothing. */
export function faultsOf({ graph, events, clock }: Ran): string[] {
  const faults = checkLog(events, { graph }).map(
    ({ invariant, seq, message }) => `${invariant} at seq ${seq}: ${message}`,
  );
  if (clock.pending > 0) faults.push(`${clock.pending} timers are left`);
  return faults;
}

export function ndjson(events: readonly ExecutionEvent[]): string {
  return events.map((event) => `${serialiseEvent(event)}\n`).join("");
}

/** How a node ended, in the words of `referenceRun`. */
export interface Ended {
  readonly state: string;
  readonly port?: string | undefined;
  readonly record?: Json | undefined;
}

export function endsOf(events: readonly ExecutionEvent[]): Map<string, Ended> {
  const ends = new Map<string, Ended>();
  for (const event of events) {
    if (event.kind === "node.succeeded") {
      const { ports = ["out"], output } = event;
      ends.set(event.node, { state: "succeeded", port: ports[0], record: output });
    } else if (event.kind === "node.failed") {
      const port = { port: "error", default: "out", none: undefined, parent: undefined }[
        event.routed
      ];
      ends.set(event.node, { state: `failed:${event.routed}`, port, record: event.output });
    } else if (event.kind === "node.skipped") {
      ends.set(event.node, { state: `skipped:${event.why}` });
    } else if (event.kind === "node.cancelled") {
      ends.set(event.node, { state: `cancelled:${event.reason}` });
    }
  }
  return ends;
}

/** A record without what depends on the order of settling or on wording: order and first of a join, texts of errors. */
export function settled(record: Json | undefined): string {
  return JSON.stringify(record, (key, value) => {
    if (key === "first") return value === null ? null : "one";
    if (key === "from" && Array.isArray(value)) return value.length === 0 ? [] : ["some"];
    if (key === "error") return undefined;
    return value;
  });
}

export function differences(ran: Pick<Ran, "events" | "summary">, graph: FlowGraph): string[] {
  const reference = referenceRun(graph);
  const ends = endsOf(ran.events);
  const found = [...reference.nodes].flatMap(([path, wanted]) => {
    const end = ends.get(path);
    const says = `${wanted.state} by ${wanted.port} with ${settled(wanted.record)}`;
    if (end === undefined) return [`${path} has no end, the reference says ${says}`];
    const record = wanted.state === "failed:port" ? end.record : wanted.record;
    const same =
      end.state === wanted.state &&
      end.port === wanted.port &&
      settled(end.record) === settled(record);
    return same
      ? []
      : [
          `${path}: ${end.state} by ${end.port} with ${settled(end.record)}, the reference says ${says}`,
        ];
  });
  const { status, outputs } = ran.summary;
  if (status !== reference.status) found.push(`${status}, the reference says ${reference.status}`);
  if (JSON.stringify(outputs) !== JSON.stringify(reference.outputs)) {
    found.push(
      `outputs ${JSON.stringify(outputs)}, the reference: ${JSON.stringify(reference.outputs)}`,
    );
  }
  return found;
}

/** For one property: more seeds than usual may take longer. */
export const TIMEOUT_MS: number = 120_000 + 50 * Number(process.env["MILLRACE_SEEDS"] ?? 0);

/** So few that every property still meets what it is about. */
const MIN_SEEDS = 10;

/** Seeds of a property: `MILLRACE_SEED` runs one alone, `MILLRACE_SEEDS` so many. */
function seeds(count: number): number[] {
  const one = process.env["MILLRACE_SEED"];
  if (one !== undefined) return [Number(one)];
  return Array.from(
    { length: Number(process.env["MILLRACE_SEEDS"] ?? Math.max(MIN_SEEDS, casesOf(count))) },
    (_, seed) => seed,
  );
}

export function forSeeds(
  count: number,
  file: string,
  property: (seed: number, graph: FlowGraph) => Promise<readonly string[]>,
): Promise<void> {
  return forSeedNumbers(count, file, (seed) => property(seed, randomFlow(seed)));
}

/** Holds a property for each seed. The first that fails says how to see it again, in one line. */
export async function forSeedNumbers(
  count: number,
  file: string,
  property: (seed: number) => Promise<readonly string[]>,
): Promise<void> {
  for (const seed of seeds(count)) {
    const faults = await property(seed).catch((error) => [String(error?.stack ?? error)]);
    if (faults.length === 0) continue;
    const again = `MILLRACE_SEED=${seed} npx vitest run --project engine ${file}`;
    throw new Error([`seed ${seed}: ${again}`, ...faults.slice(0, 5)].join("\n"));
  }
}
