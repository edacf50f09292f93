/** Reading flows: from text or graph to a graph, or to what is stored, with what is wrong as problems. Nothing is executed. */
import type { Diagnostic, Digest, FlowGraph, FlowNode, Problem } from "@millrace/contracts";
import {
  checkFlow as checkText,
  DslError,
  digest,
  type FlowCatalog,
  type FlowDocument,
  formatFlow,
  locate,
  parseFlow,
  printFlow,
  reconcile,
  validateFlow,
} from "@millrace/dsl";
import type { ServerLimits } from "../config/limits.ts";
import { ProblemError } from "../errors.ts";
import type { ServerHost } from "../ports.ts";

/** Reads a text. Throws `flow_invalid` with what is wrong, line by line; with a catalog also with what is wrong with the rest. */
export function readDsl(
  text: string,
  maxBytes: number,
  catalog?: FlowCatalog,
): { readonly graph: FlowGraph; readonly document: FlowDocument } {
  const tooLong = sizeProblem(text, maxBytes);
  if (tooLong !== undefined) throw flowInvalid([tooLong]);
  const { graph, document, diagnostics, ok } = parseFlow(text);
  if (!ok) {
    throw flowInvalid(catalog === undefined ? diagnostics : checkText(text, catalog).diagnostics);
  }
  return { graph, document };
}

/** A text that is longer than the server reads. */
export function sizeProblem(text: string, maxBytes: number): Diagnostic | undefined {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return undefined;
  return {
    code: "limit_exceeded",
    severity: "error",
    pointer: "/dsl",
    message: `the text has ${bytes} bytes; the limit is ${maxBytes}`,
  };
}

/** The refusal of a flow; with its text, each problem has a line. */
export function flowInvalid(
  diagnostics: readonly Diagnostic[],
  document?: FlowDocument,
): ProblemError {
  return new ProblemError("flow_invalid", { errors: toProblems(diagnostics, document) });
}

/** Errors alone: warnings do not keep a flow from running. */
export function toProblems(
  diagnostics: readonly Diagnostic[],
  document?: FlowDocument,
): readonly Problem[] {
  return diagnostics.filter(isError).map(({ code, message, pointer = "", range }) => {
    const place = range ?? (document === undefined ? undefined : locate(document, pointer));
    return {
      pointer,
      code,
      message,
      ...(place === undefined ? {} : { line: place.start.line, column: place.start.column }),
    };
  });
}

/** A flow as a template keeps it: canonical text, the graph that it means, the identity of that. */
export interface ReadFlow {
  readonly dsl: string;
  readonly graph: FlowGraph;
  readonly digest: Digest;
  /** As it was written, where it came as text. */
  readonly text?: string;
}

/** Where a flow is read: which node types there are, and how large it may be. */
export interface FlowReader {
  readonly host: Pick<ServerHost, "registry">;
  readonly limits: Pick<ServerLimits, "maxDslBytes" | "maxNodes">;
  /** Whether a flow is taken that does not run yet. Default false. */
  readonly takesErrors?: boolean;
}

/** Reads a text. Throws `flow_invalid` with what is wrong, line by line. */
export function readText(text: string, reader: FlowReader): ReadFlow {
  const { host, limits } = reader;
  const { graph, document } = readDsl(text, limits.maxDslBytes, host.registry.catalog());
  checkFlow(graph, reader, document);
  return { dsl: formatFlow(text).text, graph, digest: digestOf(graph), text };
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
  if (last === undefined) return print(graph);
  const text = print(graph, (whole) => printFlow(reconcile(parseFlow(last).document, whole)));
  return digest(parseFlow(text).graph) === digest(graph) ? text : print(graph);
}

/** The text of a graph. Throws `flow_invalid` for one that no text means. */
export function print(graph: FlowGraph, printed: (graph: FlowGraph) => string = printFlow): string {
  try {
    return printed(graph);
  } catch (error) {
    if (!DslError.isInstance(error)) throw error;
    throw new ProblemError("flow_invalid", { detail: error.message, cause: error });
  }
}

function checkFlow(graph: FlowGraph, reader: FlowReader, document?: FlowDocument): void {
  const { host, limits, takesErrors = false } = reader;
  checkSize(graph, limits.maxNodes);
  if (takesErrors) return;
  const options = document === undefined ? {} : { document };
  const diagnostics = validateFlow(graph, host.registry.catalog(), options);
  if (diagnostics.some(isError)) throw flowInvalid(diagnostics, document);
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

/** Warnings keep no flow from running. */
export const isError = ({ severity }: Diagnostic): boolean => severity === "error";

const digestOf = (graph: FlowGraph): Digest => digest(graph) as Digest;
