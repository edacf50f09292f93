/** Tools of a node, as far as the flow alone decides what they are: flows and actions. Tools of servers are known to a run. */
import type { FlowGraph, FlowInput, FlowNode } from "@millrace/contracts";
import type { NodeType } from "../node-type.ts";
import type { Registry } from "../registry.ts";
import type { Layout } from "./layout.ts";

/** A flow as a tool. */
export interface FlowTool {
  readonly layout: Layout;
  readonly title: string | undefined;
  readonly inputs: readonly FlowInput[];
}

/** Tools by what follows `flow:` and `action:` in their reference. */
export interface NodeTools {
  readonly flows: ReadonlyMap<string, FlowTool>;
  readonly actions: ReadonlyMap<string, NodeType>;
}

/** Of a node without tools. */
export const NO_TOOLS: NodeTools = Object.freeze({ flows: new Map(), actions: new Map() });

/** The type whose nodes have tools. */
const WITH_TOOLS = "ai";

const FLOW = "flow:";
const ACTION = "action:";

/** What a node names as its tools, with the index of each. */
export function toolRefs(node: FlowNode): readonly { readonly ref: string; readonly at: number }[] {
  const tools = node.type === WITH_TOOLS ? node.fields["tools"] : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, at) => {
    const ref = typeof tool === "string" ? tool : (tool as { ref?: unknown } | null)?.ref;
    return typeof ref === "string" ? [{ ref, at }] : [];
  });
}

/** The flow that a reference names, if it names one. */
export function flowOf(ref: string): string | undefined {
  return ref.startsWith(FLOW) ? ref.slice(FLOW.length) : undefined;
}

/** The tools of a node; null: it has none. */
export function toolsOf(
  node: FlowNode,
  registry: Registry,
  flow: (text: string) => { readonly layout: Layout; readonly graph: FlowGraph } | null,
): NodeTools | null {
  const refs = toolRefs(node);
  if (refs.length === 0) return null;
  const flows = new Map<string, FlowTool>();
  const actions = new Map<string, NodeType>();
  for (const { ref } of refs) {
    const called = flowOf(ref);
    if (called !== undefined) {
      const found = flow(called);
      if (found === null) continue;
      const { layout, graph } = found;
      flows.set(called, { layout, title: graph.title, inputs: graph.inputs });
    } else if (ref.startsWith(ACTION)) {
      const name = ref.slice(ACTION.length);
      const type = registry.get(name);
      if (type !== undefined) actions.set(name, type);
    }
  }
  return { flows, actions };
}
