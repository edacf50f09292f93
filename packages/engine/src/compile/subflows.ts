/** Flows that a flow calls, and those that they call: read once each, before anything is laid out. */
import type { Diagnostic, FlowGraph, FlowNode } from "@millrace/contracts";
import { digest, type FlowCatalog, validateFlow } from "@millrace/dsl";
import type { SubflowPort } from "../options.ts";
import { flowOf, toolRefs } from "./tools.ts";

/** What a node's `flow` names. */
export interface FlowRef {
  readonly slug: string;
  readonly version?: number;
  readonly digest?: string;
}

/** A flow that is called, under the text that names it. */
export interface Called {
  readonly graph: FlowGraph;
  readonly digest: string;
}

const REF = /^(?<slug>[^@#\s]+?)(?:@(?<version>[1-9]\d*)|#(?<digest>sha256:[0-9a-f]{64}))?$/;

/** Reads `slug`, `hub/slug`, `slug@3`, `slug#sha256:…`; `undefined` for anything else. */
export function parseFlowRef(text: string): FlowRef | undefined {
  const parts = REF.exec(text)?.groups;
  if (parts?.["slug"] === undefined) return undefined;
  const { slug, version, digest: hash } = parts;
  return {
    slug,
    ...(version !== undefined && { version: Number(version) }),
    ...(hash !== undefined && { digest: hash }),
  };
}

/** A node that calls another flow, with the JSON Pointer of its field. */
interface Call {
  readonly text: string;
  readonly pointer: string;
}

/** Every `subflow` node of a graph and every flow that a node has as a tool, bodies included. */
export function callsOf(graph: FlowGraph): Call[] {
  const calls: Call[] = [];
  const stack: { nodes: readonly FlowNode[]; at: string }[] = [
    { nodes: graph.nodes, at: "/nodes" },
  ];
  for (let level = stack.pop(); level !== undefined; level = stack.pop()) {
    for (const [i, node] of level.nodes.entries()) {
      const pointer = `${level.at}/${i}`;
      const text = node.fields["flow"];
      if (node.type === "subflow" && typeof text === "string") {
        calls.push({ text, pointer: `${pointer}/fields/flow` });
      }
      for (const { ref, at } of toolRefs(node)) {
        const called = flowOf(ref);
        if (called !== undefined) {
          calls.push({ text: called, pointer: `${pointer}/fields/tools/${at}` });
        }
      }
      if (node.body !== undefined) {
        stack.push({ nodes: node.body.nodes, at: `${pointer}/body/nodes` });
      }
    }
  }
  return calls;
}

/**
 * Reads all flows that `graph` calls, at any depth. A flow that is not there and a flow that calls itself are errors; the
 * pointer is the place in `graph` where the way to it begins.
 */
export async function resolveSubflows(
  graph: FlowGraph,
  { port, catalog }: { port: SubflowPort | undefined; catalog: FlowCatalog },
): Promise<{ flows: ReadonlyMap<string, Called>; diagnostics: Diagnostic[] }> {
  const flows = new Map<string, Called>();
  const missing = new Set<string>();
  const diagnostics: Diagnostic[] = [];
  for (const { text, pointer } of callsOf(graph)) {
    const found = await walk(text, { flows, missing, port, catalog });
    if (found !== null) diagnostics.push(finding(pointer, found));
  }
  return { flows, diagnostics };
}

interface Walk {
  readonly flows: Map<string, Called>;
  readonly missing: Set<string>;
  readonly port: SubflowPort | undefined;
  readonly catalog: FlowCatalog;
}

/** Reads one flow and what it calls, depth first; the first problem as a sentence. */
async function walk(
  first: string,
  { flows, missing, port, catalog }: Walk,
): Promise<string | null> {
  const path: { text: string; slug: string; rest: string[] }[] = [];
  const enter = async (text: string): Promise<string | null> => {
    const ref = parseFlowRef(text);
    if (ref === undefined) return `flow ${text} is no name of a flow`;
    if (path.some(({ slug }) => slug === ref.slug)) {
      return `flow ${ref.slug} calls itself: ${[...path.map(({ slug }) => slug), ref.slug].join(" -> ")}`;
    }
    if (missing.has(text)) return `flow ${text} does not exist`;
    let called = flows.get(text);
    if (called === undefined) {
      const got = await port?.get(ref);
      if (got === undefined || got === null) {
        missing.add(text);
        return `flow ${text} does not exist`;
      }
      const problem = shapeProblem(got.graph, catalog);
      if (problem !== null) return `in flow ${text}: ${problem}`;
      called = { graph: got.graph, digest: digest(got.graph) };
      flows.set(text, called);
    }
    path.push({ text, slug: ref.slug, rest: callsOf(called.graph).map((call) => call.text) });
    return null;
  };
  let problem = await enter(first);
  while (problem === null && path.length > 0) {
    const next = path.at(-1)?.rest.pop();
    if (next === undefined) path.pop();
    else problem = await enter(next);
  }
  return problem;
}

/** Why the flows that a graph calls cannot be read; everything else about it is found later. */
function shapeProblem(graph: FlowGraph, catalog: FlowCatalog): string | null {
  const shape = validateFlow(graph, catalog).find(({ code }) => code === "FLOW1006");
  return shape === undefined ? null : `${shape.message} (${shape.pointer ?? ""})`;
}

function finding(pointer: string, message: string): Diagnostic {
  return { code: "FLOW4010", severity: "error", message, pointer };
}
