/**
 * What of an earlier run a new one need not do again. A node of the flow is reused when it is what it was, reads what it read,
 * had succeeded, and follows nothing that runs again.
 */
import type { FlowGraph, FlowNode, Json, JsonObject } from "@millrace/contracts";
import { compileValue, impliedEdges, type Reference } from "@millrace/dsl";
import { type Plan, partsOf } from "../compile/plan.ts";
import type { Host } from "../host.ts";
import { digestOf } from "../values.ts";
import type { Past } from "./past.ts";
import { SUCCEEDED } from "./states.ts";

/** A run that has a log. */
export interface Earlier {
  readonly graph: FlowGraph;
  readonly inputs: JsonObject;
  readonly planDigest: string;
  readonly past: Past;
}

/** Ids of the nodes that are reused. `from`: ids that run again with all that follows; absent: what had not succeeded. */
export function reusableNodes(
  earlier: Earlier,
  now: { plan: Plan; inputs: JsonObject; from: readonly string[] | undefined },
  host: Host,
): ReadonlySet<string> {
  const { graph } = partsOf(now.plan);
  const sameFlows = earlier.planDigest === now.plan.digest;
  const before = identities(earlier.graph, earlier.inputs, host);
  const after = identities(graph, now.inputs, host);
  const asked = new Set(now.from ?? []);
  const again = graph.nodes.filter((node) => {
    const { id } = node;
    const same = before.get(id) === after.get(id) && (sameFlows || !callsFlows(node));
    const succeeded = earlier.past.nodes.get(id)?.state === SUCCEEDED;
    return !same || !succeeded || asked.has(id);
  });
  const follow = followers(
    graph,
    again.map(({ id }) => id),
  );
  return new Set(graph.nodes.map(({ id }) => id).filter((id) => !follow.has(id)));
}

/** What each node is, with the inputs that it reads; the nodes that it reads are edges. */
function identities(graph: FlowGraph, inputs: JsonObject, host: Host): ReadonlyMap<string, string> {
  return new Map(
    graph.nodes.map((node): [string, string] => {
      const { type, typeVersion, fields, body, policy } = node;
      const read = [...inputsRead(node)].sort().map((name) => [name, inputs[name] ?? null]);
      const whole = {
        type,
        ...(typeVersion !== undefined && { typeVersion }),
        fields,
        ...(body !== undefined && { body: body as unknown as Json }),
        ...(policy?.onError !== undefined && { onError: policy.onError }),
        ...(policy?.retry?.if !== undefined && { if: policy.retry.if }),
        inputs: read,
      };
      return [node.id, digestOf(whole as Json, host)];
    }),
  );
}

/** Names of the flow's inputs that a node reads, its body included; every input when it reads them as a whole. */
function inputsRead(node: FlowNode): Set<string> {
  const names = new Set<string>();
  const stack: FlowNode[] = [node];
  const take = (references: readonly Reference[]) => {
    for (const { root, path } of references) if (root === "inputs") names.add(path[0] ?? "*");
  };
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    take(compileValue(next.fields).references);
    if (next.policy !== undefined) take(compileValue(next.policy as unknown as Json).references);
    if (next.body?.output !== undefined) take(compileValue(next.body.output).references);
    stack.push(...(next.body?.nodes ?? []));
  }
  return names;
}

function callsFlows(node: FlowNode): boolean {
  return node.type === "subflow" || (node.body?.nodes ?? []).some(callsFlows);
}

/** Nodes of the flow that come after any of `ids`, by edges or references; they themselves too. */
function followers(graph: FlowGraph, ids: readonly string[]): ReadonlySet<string> {
  const next = new Map<string, string[]>();
  const top = (path: string) => path.split("/")[0] as string;
  const link = (from: string, to: string) => {
    const list = next.get(from);
    if (list === undefined) next.set(from, [to]);
    else list.push(to);
  };
  for (const { from, to } of graph.edges) link(from, to);
  for (const { from, to } of impliedEdges(graph)) link(top(from), top(to));
  const found = new Set<string>();
  const stack = [...ids];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    stack.push(...(next.get(id) ?? []));
  }
  return found;
}
