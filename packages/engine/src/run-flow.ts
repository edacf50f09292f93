/** A flow in one call: read, compiled, run, and everything closed behind it. */
import type { ExecutionEvent, FlowGraph, Summary } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { compileFlow } from "./compile/compile-flow.ts";
import type { TypeSource } from "./definitions.ts";
import { createEngine, type Engine } from "./engine.ts";
import { EngineError } from "./errors.ts";
import type { EngineOptions, RunOptions, SubflowPort } from "./options.ts";
import { createRegistry } from "./registry.ts";
import type { Run } from "./run/run.ts";

/** Options of one run, and what its engine is made of. */
export interface RunFlowOptions extends RunOptions {
  /** Node types beside the control types, such as `[nodePack()]`. */
  readonly types?: readonly TypeSource[];
  /** Where flows that this one calls come from; absent: there is none. */
  readonly subflows?: SubflowPort;
  /** Host, ports, policies and limits; default: no network, no files, no journal. */
  readonly engine?: EngineOptions;
}

/** A flow that runs. */
export interface FlowRun {
  /**
   * Its events from the first to `summary`; throws what `result` rejects with. A reader that is more than 10,000 events behind gets a
   * `snapshot` in place of those it missed, as does one that begins after the end.
   */
  readonly events: AsyncIterable<ExecutionEvent>;
  /**
   * Resolves with the summary whatever the outcome, once the engine is closed. Rejects with `EngineError` `flow_invalid` (with `diagnostics`)
   * and with what `createEngine`, `Engine.run` and `Run.result` throw.
   */
  readonly result: Promise<Summary>;
}

/**
 * Runs a flow, given as text or as a graph, on an engine of its own.
 * @example
 * import { runFlow } from "@millrace/engine";
 *
 * const { events, result } = runFlow("flow 1 sum\ninput a: int\noutput b: int = inputs.a + 1", { a: 2 });
 * for await (const event of events) console.log(event.kind);
 * console.log((await result).outputs);
 */
export function runFlow(
  flow: string | FlowGraph,
  inputs: { readonly [name: string]: unknown } = {},
  options: RunFlowOptions = {},
): FlowRun {
  const started = start(flow, inputs, options);
  const result = started.then(({ engine, run }) => run.result.finally(() => engine.close()));
  result.catch(() => {}); // readers of events alone get it there
  return { events: { [Symbol.asyncIterator]: () => eventsOf(started) }, result };
}

interface Started {
  readonly engine: Engine;
  readonly run: Run;
}

async function start(
  flow: string | FlowGraph,
  inputs: { readonly [name: string]: unknown },
  { types = [], subflows, engine: engineOptions = {}, ...options }: RunFlowOptions,
): Promise<Started> {
  const parsed = typeof flow === "string" ? parseFlow(flow) : undefined;
  if (parsed?.ok === false) throw invalidFlow(parsed.diagnostics);
  const compiled = await compileFlow(parsed?.graph ?? (flow as FlowGraph), {
    registry: createRegistry(types),
    ...(subflows && { subflows }),
    ...(parsed && { document: parsed.document }),
    ...(engineOptions.limits && { limits: engineOptions.limits }),
  });
  if (!compiled.ok) throw invalidFlow(compiled.diagnostics);
  const engine = createEngine(engineOptions);
  try {
    return { engine, run: engine.run(compiled.plan, inputs, options) };
  } catch (error) {
    await engine.close();
    throw error;
  }
}

async function* eventsOf(started: Promise<Started>): AsyncGenerator<ExecutionEvent, void> {
  yield* (await started).run;
}

function invalidFlow(diagnostics: EngineError["diagnostics"]): EngineError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const text = errors.map(({ message }) => message).join("; ");
  return new EngineError("flow_invalid", text, { diagnostics });
}
