/** From text or graph to what is stored of a flow. Nothing is executed, and no socket is opened. */
import type { Digest, FlowGraph, FlowNode } from "@millrace/contracts";
import {
  DslError,
  digest,
  type FlowDocument,
  formatFlow,
  parseFlow,
  printFlow,
  reconcile,
  validateFlow,
} from "@millrace/dsl";
import type { ServerLimits } from "../config/limits.ts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";
import { flowInvalid, readDsl } from "../runs/index.ts";

/** A flow as a template keeps it: canonical text, the graph that it means, the identity of that. */
export interface ReadFlow {
  readonly dsl: string;
  readonly graph: FlowGraph;
  readonly digest: Digest;
}

/** Where a flow is read: which node types there are, and how large it may be. */
export interface FlowReader {
  readonly host: Pick<ServerHost, "registry">;
  readonly limits: Pick<ServerLimits, "maxDslBytes" | "maxNodes">;
}

/** Reads a text. Throws `flow_invalid` with what is wrong, line by line. */
export function readText(text: string, reader: FlowReader): ReadFlow {
  const { graph, document } = readDsl(
    text,
    reader.limits.maxDslBytes,
    reader.host.registry.catalog(),
  );
  checkFlow(graph, reader, document);
  return { dsl: formatFlow(text).text, graph, digest: digestOf(graph) };
}

/** Reads a graph; with the text of its last version, the comments of that stay. Throws `flow_invalid`. */
export function readGraph(
  graph: FlowGraph,
  last: string | undefined,
  reader: FlowReader,
): ReadFlow {
  checkFlow(graph, reader);
  const text = textOf(graph, last);
  const read = readDsl(text, reader.limits.maxDslBytes).graph;
  return { dsl: text, graph: read, digest: digestOf(read) };
}

function textOf(graph: FlowGraph, last: string | undefined): string {
  try {
    if (last === undefined) return printFlow(graph);
    const text = printFlow(reconcile(parseFlow(last).document, graph));
    const isWhole = digest(parseFlow(text).graph) === digest(graph);
    return isWhole ? text : printFlow(graph);
  } catch (error) {
    if (!DslError.isInstance(error)) throw error;
    throw new ProblemError("flow_invalid", { detail: error.message, cause: error });
  }
}

function checkFlow(graph: FlowGraph, { host, limits }: FlowReader, document?: FlowDocument): void {
  checkSize(graph, limits.maxNodes);
  const diagnostics = validateFlow(graph, host.registry.catalog(), {
    ...(document !== undefined && { document }),
  });
  if (diagnostics.some(({ severity }) => severity === "error")) {
    throw flowInvalid(diagnostics, document);
  }
}

function checkSize(graph: FlowGraph, maxNodes: number): void {
  let count = 0;
  const stack: (readonly FlowNode[])[] = [graph.nodes];
  for (let nodes = stack.pop(); nodes !== undefined; nodes = stack.pop()) {
    count += nodes.length;
    for (const { body } of nodes) if (body !== undefined) stack.push(body.nodes);
  }
  if (count <= maxNodes) return;
  const message = `the flow has ${count} nodes; the limit is ${maxNodes}`;
  throw new ProblemError("flow_invalid", {
    errors: [{ pointer: "/nodes", code: "limit_exceeded", message }],
  });
}

const digestOf = (graph: FlowGraph): Digest => digest(graph) as Digest;
