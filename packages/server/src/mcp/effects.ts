/** Effects of a whole flow: what its nodes do outside the process, as far as the text alone says it. */
import {
  type CatalogEntry,
  type Effect,
  type FlowGraph,
  type FlowNode,
  operationEffect,
  type ServiceOperation,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";

/** Effects of one flow, without the flows that it calls. */
export interface FlowEffects {
  readonly strongest: Effect;
  /** Doing it again does no harm. */
  readonly idempotent: boolean;
  /** Something outside of this installation takes part. */
  readonly open: boolean;
  /** Slugs of the flows that it calls. */
  readonly calls: readonly string[];
}

export type Entries = ReadonlyMap<string, CatalogEntry>;

const ORDER: readonly Effect[] = ["pure", "read", "write", "destructive"];

/** Nothing is known: as bad as it can be. */
export const UNKNOWN: FlowEffects = {
  strongest: "destructive",
  idempotent: false,
  open: true,
  calls: [],
};

/** The union of two effects. */
export function both(a: FlowEffects, b: FlowEffects): FlowEffects {
  return {
    strongest: ORDER.indexOf(a.strongest) < ORDER.indexOf(b.strongest) ? b.strongest : a.strongest,
    idempotent: a.idempotent && b.idempotent,
    open: a.open || b.open,
    calls: [...a.calls, ...b.calls],
  };
}

/** The effects of the nodes of a flow, bodies included. */
export function effectsOf(
  graph: Pick<FlowGraph, "nodes" | "connections">,
  entries: Entries,
): FlowEffects {
  let all: FlowEffects = { strongest: "pure", idempotent: true, open: false, calls: [] };
  const walk = (nodes: readonly FlowNode[]): void => {
    for (const node of nodes) {
      all = both(all, ofNode(node, graph, entries));
      if (node.body !== undefined) walk(node.body.nodes);
    }
  };
  walk(graph.nodes);
  return all;
}

function ofNode(
  { type, fields }: FlowNode,
  graph: Pick<FlowGraph, "connections">,
  entries: Entries,
): FlowEffects {
  const entry = entries.get(type);
  if (entry === undefined) return UNKNOWN;
  if (type === "subflow") return ofCall(fields["flow"]);
  if (type === "ai") return ofTools(fields["tools"], entries);
  if (type === "http.request") return ofRequest(fields["method"] ?? "GET");
  if (type === "service.call") return ofRequest(undefined, operationOf(fields, graph, entries));
  return ofEntry(entry);
}

function ofEntry({ effect, idempotent }: CatalogEntry): FlowEffects {
  const harmless = effect === "pure" || effect === "read";
  return {
    strongest: effect,
    idempotent: harmless || idempotent === true,
    open: effect !== "pure",
    calls: [],
  };
}

function ofRequest(method: unknown, operation?: ServiceOperation): FlowEffects {
  if (operation === undefined && typeof method !== "string") return UNKNOWN;
  const request = operation ?? { method: method as ServiceOperation["method"] };
  const strongest = operationEffect(request);
  const repeats = request.method === "PUT" || request.method === "DELETE";
  return { strongest, idempotent: strongest === "read" || repeats, open: true, calls: [] };
}

function operationOf(
  fields: FlowNode["fields"],
  { connections = [] }: Pick<FlowGraph, "connections">,
  entries: Entries,
): ServiceOperation | undefined {
  const name = fields["connection"];
  const declared = connections.find((each) => each.name === name);
  const service = declared?.service ?? declared?.slug ?? String(name);
  const operations = entries.get(`service.${service}`)?.serviceIntegration?.operations ?? [];
  return operations.find(({ id }) => id === fields["operation"]);
}

function ofCall(flow: unknown): FlowEffects {
  if (typeof flow !== "string") return UNKNOWN;
  return { strongest: "pure", idempotent: true, open: false, calls: [flow] };
}

/** A model reads its prompt elsewhere; its tools do what they do. */
function ofTools(tools: unknown, entries: Entries): FlowEffects {
  let all: FlowEffects = { strongest: "read", idempotent: true, open: true, calls: [] };
  if (tools !== undefined && !Array.isArray(tools)) return UNKNOWN;
  for (const tool of tools ?? []) {
    const ref = isObject(tool) ? tool["ref"] : tool;
    const [, kind, name = ""] = /^(flow|action):(.+)$/s.exec(String(ref)) ?? [];
    const entry = entries.get(name);
    if (kind === "flow") all = both(all, ofCall(name));
    else all = both(all, kind === "action" && entry !== undefined ? ofEntry(entry) : UNKNOWN);
  }
  return all;
}
