/** References to tools as a flow writes them: `flow:<slug>`, `action:<adapter>.<action>`, `mcp:<server>/<tool>`. */
import type { FlowNode } from "@millrace/contracts";

/** The type whose nodes have tools. */
const WITH_TOOLS = "ai";

const FLOW = "flow:";
const ACTION = "action:";

/** The references of a node's tools, with the index of each in its list. */
export function toolRefs(node: FlowNode): readonly { readonly ref: string; readonly at: number }[] {
  const tools = node.type === WITH_TOOLS ? node.fields["tools"] : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool: unknown, at) => {
    const ref = typeof tool === "string" ? tool : (tool as { ref?: unknown } | null)?.ref;
    return typeof ref === "string" ? [{ ref, at }] : [];
  });
}

/** The flow of a reference `flow:<slug>`. */
export function flowOf(ref: string): string | undefined {
  return ref.startsWith(FLOW) ? ref.slice(FLOW.length) : undefined;
}

/** The node type of a reference `action:<type>`. */
export function actionOf(ref: string): string | undefined {
  return ref.startsWith(ACTION) ? ref.slice(ACTION.length) : undefined;
}
