/** Flows that a flow calls, and those that they call: read once each, before anything is laid out. */
import type { Diagnostic, FlowGraph, FlowNode } from "@millrace/contracts";
import { completeGraph, digest, type FlowCatalog, validateFlow } from "@millrace/dsl";
import type { SubflowPort } from "../options.ts";
import { flowOf, toolRefs } from "./tools.ts";

/** Reference to a flow, from the field `flow` of a node. */
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
 * Reads all flows that `graph` calls, each once. A flow that is not there, one that calls itself, and a chain of calls that is
 * longer than a run may be deep are errors; the pointer is the place in `graph` where the way to it begins.
 */
export async function resolveSubflows(
  graph: FlowGraph,
  { port, catalog, depth }: Sources,
): Promise<{ flows: ReadonlyMap<string, Called>; diagnostics: Diagnostic[] }> {
  const walk: Walk = {
    flows: new Map(),
    missing: new Set(),
    heights: new Map(),
    ...{ port, catalog, depth },
  };
  const diagnostics: Diagnostic[] = [];
  for (const { text, pointer } of callsOf(graph)) {
    const found = await walkFrom(text, walk);
    if (found !== null) diagnostics.push({ severity: "error", pointer, ...found });
  }
  return { flows: walk.flows, diagnostics };
}

interface Sources {
  readonly port: SubflowPort | undefined;
  readonly catalog: FlowCatalog;
  /** Most levels of flows below the graph. */
  readonly depth: number;
}

interface Walk extends Sources {
  readonly flows: Map<string, Called>;
  readonly missing: Set<string>;
  /** Levels of the flows that were read to their end, themselves included. */
  readonly heights: Map<string, number>;
}

/** A flow on the way down, and which of its calls are still to be followed. */
interface Step {
  readonly text: string;
  readonly slug: string;
  readonly rest: string[];
  height: number;
}

type Problem = Pick<Diagnostic, "code" | "message">;

/** Reads one flow and what it calls, depth first; the first problem. */
async function walkFrom(first: string, walk: Walk): Promise<Problem | null> {
  const path: Step[] = [];
  let problem = await enter(first, path, walk);
  while (problem === null && path.length > 0) {
    const step = path.at(-1) as Step;
    const next = step.rest.pop();
    if (next !== undefined) {
      problem = await enter(next, path, walk);
      continue;
    }
    path.pop();
    walk.heights.set(step.text, step.height);
    raise(path.at(-1), step.height);
  }
  return problem;
}

/** Goes into a flow, unless all below it is known. */
async function enter(text: string, path: Step[], walk: Walk): Promise<Problem | null> {
  const { flows, missing, heights, port, catalog, depth } = walk;
  const ref = parseFlowRef(text);
  if (ref === undefined) return unusable(`flow ${text} is no name of a flow`);
  const { slug } = ref;
  if (path.some((step) => step.slug === slug)) {
    const way = [...path.map((step) => step.slug), slug].join(" -> ");
    return unusable(`flow ${slug} calls itself: ${way}`);
  }
  if (missing.has(text)) return unusable(`flow ${text} does not exist`);
  const height = heights.get(text);
  if (path.length + (height ?? 1) > depth) {
    const message = `limit depth: flow ${path[0]?.slug ?? slug} calls flows within flows; at most ${depth} levels`;
    return { code: "limit_exceeded", message };
  }
  if (height !== undefined) {
    raise(path.at(-1), height);
    return null;
  }
  const got = await port?.get(ref);
  if (got === undefined || got === null) {
    missing.add(text);
    return unusable(`flow ${text} does not exist`);
  }
  const graph = completeGraph(got.graph);
  const problem = shapeProblem(graph, catalog);
  if (problem !== null) return unusable(`in flow ${text}: ${problem}`);
  flows.set(text, { graph, digest: digest(graph) });
  path.push({ text, slug, rest: callsOf(graph).map((call) => call.text), height: 1 });
  return null;
}

/** A flow is a level above what it calls. */
function raise(step: Step | undefined, below: number): void {
  if (step !== undefined) step.height = Math.max(step.height, below + 1);
}

function unusable(message: string): Problem {
  return { code: "FLOW4010", message };
}

/** Why the flows that a graph calls cannot be read; everything else about it is found later. */
function shapeProblem(graph: FlowGraph, catalog: FlowCatalog): string | null {
  const shape = validateFlow(graph, catalog).find(({ code }) => code === "FLOW1006");
  return shape === undefined ? null : `${shape.message} (${shape.pointer ?? ""})`;
}
