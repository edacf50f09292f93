/** One node of a flow on the real engine and the real host of Node, with its log checked. */

import {
  assertLog,
  type ErrorInfo,
  type ExecutionEvent,
  type FieldValue,
  type FlowConnection,
  type Json,
  type Policy,
} from "@millrace/contracts";
import {
  compileFlow,
  createEngine,
  createRegistry,
  type EgressPolicy,
  type EngineOptions,
  type TypeSource,
} from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { graphWith } from "../graph.ts";
import { STANDARD_TYPES } from "./standard-types.ts";

/** A client that may reach 127.0.0.1, by its address, and nothing else that is private. */
export function client(
  policy: EgressPolicy = {},
  resolve?: (host: string) => Promise<readonly string[]>,
) {
  const allow = [{ cidr: "127.0.0.1/32" }, ...(policy.allow ?? [])];
  return createNodeHost(resolve === undefined ? {} : { resolve }).openFetch({ ...policy, allow });
}

/** How the one node of a run ended; `output` and `error` are undefined where it has none. */
export interface NodeEnd {
  readonly output: Json | undefined;
  readonly error: ErrorInfo | undefined;
  readonly events: readonly ExecutionEvent[];
}

/**
 * Runs a flow of one node named `node` on an engine of its own, which may reach 127.0.0.1, and holds its log against the laws of events.
 * Throws the diagnostics of a flow that does not compile.
 */
export async function runNode(
  type: string,
  fields: { readonly [name: string]: FieldValue },
  options: EngineOptions & {
    policy?: Policy;
    connections?: readonly FlowConnection[];
    types?: readonly TypeSource[];
  } = {},
): Promise<NodeEnd> {
  const { policy, connections = [], types = [], ...engineOptions } = options;
  const graph = graphWith({
    id: "one",
    nodes: [{ id: "node", type, fields, ...(policy !== undefined && { policy }) }],
    connections,
  });
  const compiled = await compileFlow(graph, {
    registry: createRegistry([STANDARD_TYPES, ...types]),
  });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics, null, 1));
  const engine = createEngine({
    host: createNodeHost(),
    egress: { allow: [{ cidr: "127.0.0.1/32" }] },
    ...engineOptions,
  });
  const run = engine.run(compiled.plan);
  const events: ExecutionEvent[] = [];
  for await (const batch of run.batches()) events.push(...batch);
  assertLog(events, { graph });
  const end = events.find(({ kind }) => kind === "node.succeeded" || kind === "node.failed");
  return {
    output: end?.kind === "node.succeeded" ? end.output : undefined,
    error: end?.kind === "node.failed" ? end.error : undefined,
    events,
  };
}
