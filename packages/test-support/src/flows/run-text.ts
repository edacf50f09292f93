/** Runs of flow text on a simulated clock. Every log that passes through here is checked against all invariants. */

import {
  assertLog,
  type ExecutionEvent,
  type FlowGraph,
  type Kind,
  type NodeSucceeded,
  type Summary,
} from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import {
  compileFlow,
  createEngine,
  createRegistry,
  type Engine,
  type EngineOptions,
  type Limits,
  type Plan,
  type Run,
  type RunOptions,
  type SubflowPort,
  type TypeSource,
} from "@millrace/engine";
import { createSimClock, type SimClock } from "@millrace/engine/testing";
import { STANDARD_TYPES } from "./standard-types.ts";

export interface Setup {
  readonly inputs?: { readonly [name: string]: unknown };
  readonly types?: readonly TypeSource[];
  readonly engine?: EngineOptions;
  readonly run?: RunOptions;
  readonly subflows?: SubflowPort;
  readonly limits?: Partial<Limits>;
}

export interface Started {
  readonly run: Run;
  readonly clock: SimClock;
  readonly engine: Engine;
  readonly graph: FlowGraph;
  readonly plan: Plan;
  readonly events: ExecutionEvent[];
  /** Lets time pass until the run ends, checks its log, and answers its summary. */
  end(): Promise<Summary>;
}

/** The graph of a flow in text; `flow 1 t` is put in front when it is not there. */
export function graphOf(text: string): FlowGraph {
  const { graph, diagnostics } = parseFlow(/^\s*flow\b/.test(text) ? text : `flow 1 t\n${text}`);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join("\n"));
  return graph;
}

export async function planOf(source: string | FlowGraph, setup: Setup = {}): Promise<Plan> {
  const graph = typeof source === "string" ? graphOf(source) : source;
  const { types = [], subflows, limits } = setup;
  const compiled = await compileFlow(graph, {
    registry: createRegistry([STANDARD_TYPES, ...types]),
    ...(subflows !== undefined && { subflows }),
    ...(limits !== undefined && { limits }),
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics, null, 1));
  return compiled.plan;
}

/** Starts a flow; its first events are there. */
export async function start(source: string | FlowGraph, setup: Setup = {}): Promise<Started> {
  const graph = typeof source === "string" ? graphOf(source) : source;
  const plan = await planOf(graph, setup);
  const clock = createSimClock();
  const engine = createEngine({ host: clock, freeze: true, ...setup.engine });
  const run = engine.run(plan, setup.inputs ?? {}, setup.run);
  const events: ExecutionEvent[] = [];
  const reading = collect(run, events);
  reading.catch(() => {}); // what it throws is what the result rejects with
  await clock.settle();
  return {
    run,
    clock,
    engine,
    graph,
    plan,
    events,
    async end() {
      await clock.run();
      const summary = await run.result;
      await reading;
      assertLog(events, { graph });
      if (clock.pending > 0) throw new Error(`${clock.pending} timers are left after the run`);
      return summary;
    },
  };
}

export async function finish(
  source: string | FlowGraph,
  setup: Setup = {},
): Promise<{ summary: Summary; events: ExecutionEvent[] }> {
  const started = await start(source, setup);
  const summary = await started.end();
  return { summary, events: started.events };
}

async function collect(run: Run, into: ExecutionEvent[]): Promise<void> {
  for await (const batch of run.batches()) into.push(...batch);
}

export function kinds(events: readonly ExecutionEvent[], node?: string): Kind[] {
  return of(events, node).map(({ kind }) => kind);
}

/** Events of one node; without a path all of them. */
export function of(events: readonly ExecutionEvent[], node?: string): ExecutionEvent[] {
  return node === undefined ? [...events] : events.filter((e) => "node" in e && e.node === node);
}

/** The last state of each node of the flow itself, by id: `succeeded`, `failed:port`, `skipped:dead`, `cancelled:…`. */
export function states(events: readonly ExecutionEvent[]): { [node: string]: string } {
  const found: { [node: string]: string } = {};
  for (const e of events) {
    if (!("node" in e) || e.node === undefined || e.node.includes("/")) continue;
    if (e.kind === "node.succeeded") found[e.node] = "succeeded";
    if (e.kind === "node.failed") found[e.node] = `failed:${e.routed}`;
    if (e.kind === "node.skipped") found[e.node] = `skipped:${e.why}`;
    if (e.kind === "node.cancelled") found[e.node] = `cancelled:${e.reason}`;
  }
  return found;
}

/** The first event of a kind, of a node if one is named. */
export function one<K extends Kind>(
  events: readonly ExecutionEvent[],
  kind: K,
  node?: string,
): Extract<ExecutionEvent, { kind: K }> {
  const found = of(events, node).find((e) => e.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}${node === undefined ? "" : ` of ${node}`}`);
  return found as Extract<ExecutionEvent, { kind: K }>;
}

export function outputOf(events: readonly ExecutionEvent[], node: string): unknown {
  return (one(events, "node.succeeded", node) as NodeSucceeded).output;
}

export function portOf(events: readonly ExecutionEvent[], node: string): string {
  return one(events, "node.succeeded", node).ports?.[0] ?? "out";
}
