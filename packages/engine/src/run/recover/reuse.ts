/**
 * What of an earlier run a new one need not do again.
 *   U1  A node is reused when it is what it was, reads what it read, had succeeded, and follows nothing that runs again.
 *   U2  Of a node with a body that had not succeeded, U1 holds for the nodes of each of its rounds: finished items of a map and
 *       finished rounds of a loop are taken over.
 *       So they are of a map that has succeeded without some of its items, where those are asked for.
 *   U3  A secret in an output is gone with the run; such a node runs again.
 */
import type { FlowBody, FlowGraph, FlowNode, Json, JsonObject } from "@millrace/contracts";
import { compileValue, impliedEdges, type Reference } from "@millrace/dsl";
import { type Plan, partsOf } from "../../compile/plan.ts";
import { EngineError } from "../../errors.ts";
import type { Host } from "../../host.ts";
import { digestOf, workOf } from "../../values.ts";
import { SKIPPED, SUCCEEDED } from "../frame.ts";
import { MARK } from "../redact.ts";
import type { RecoveredNode, RecoveredRun } from "./recovered-run.ts";

/** A run that has a log. */
export interface Earlier {
  readonly graph: FlowGraph;
  readonly inputs: JsonObject;
  readonly planDigest: string;
  readonly recovered: RecoveredRun;
}

/** Results that are handed on without running their nodes, by path. `inputs`: digest of the fields that they are results of. */
export type Reused = ReadonlyMap<
  string,
  { readonly port: string; readonly output: Json; readonly inputs?: string }
>;

/** Nodes to run again. `from`: ids, with all that follows; absent: what had not succeeded, with `failedItems` also of maps that have. */
export interface Again {
  readonly from?: readonly string[] | undefined;
  readonly failedItems?: true | undefined;
}

/** The results to reuse. Throws `EngineError` `input_invalid` for failed items whose events are in the log of a run before the earlier one. */
export function reusableResults(
  earlier: Earlier,
  now: { readonly plan: Plan; readonly inputs: JsonObject } & Again,
  host: Host,
): Reused {
  const { graph, flows } = partsOf(now.plan);
  const sameFlows = earlier.planDigest === now.plan.digest;
  const before = identities(earlier.graph, earlier.inputs, host);
  const after = identities(graph, now.inputs, host);
  const asked = new Set(now.from ?? []);
  const { nodes, rounds } = pathsOf(earlier.recovered);
  const reused = new Map<string, { port: string; output: Json; inputs?: string }>();
  const whole = orderOf(graph);

  take(whole, "", (node) => {
    const same = before.get(node.id) === after.get(node.id) && (sameFlows || !callsFlows(node));
    return !same || asked.has(node.id);
  });
  return reused;

  /** Takes over what may be taken of one round, or of the flow itself; `base` is what stands before its ids in paths. */
  function take(order: Order, base: string, isChanged: (node: FlowNode) => boolean): void {
    const isDone = (node: FlowNode): boolean => {
      const path = base + node.id;
      const was = nodes.get(path);
      if (was?.state === SKIPPED) return base !== ""; // of a flow, what was skipped is decided anew
      if (was?.state !== SUCCEEDED || JSON.stringify(was.output).includes(MARK)) return false;
      return now.failedItems !== true || !lacksItems(node, order, path);
    };
    const again = order.nodes.filter((node) => isChanged(node) || !isDone(node));
    const follow = order.followers(again.map(({ id }) => id));
    for (const node of order.nodes) {
      const path = base + node.id;
      const was = nodes.get(path);
      if (was === undefined) continue;
      if (!follow.has(node.id)) {
        if (was.state === SUCCEEDED) reused.set(path, resultOf(was, base));
      } else if (!isChanged(node) && !order.before(node.id).some((id) => follow.has(id))) {
        const inner = innerOf(node, order);
        if (inner === undefined) continue;
        for (const round of rounds.get(path) ?? []) take(inner, round, () => false);
      }
    }
  }

  /** Whether a map has succeeded without some of its items; or one within a node. */
  function lacksItems(node: FlowNode, order: Order, path: string): boolean {
    const { errors } = (nodes.get(path)?.output ?? {}) as { readonly errors?: readonly Json[] };
    const isLacking = node.type === "map" && (errors ?? []).length > 0;
    const inner = innerOf(node, order);
    if (earlier.recovered.isRerun && nodes.get(path)?.cached === true) {
      // Of what was taken over as a whole this log has no rounds.
      if (isLacking || inner?.nodes.some((each) => collects(each, inner))) {
        const where = `the items of ${path} are in the log of the run that this one repeats`;
        throw new EngineError("input_invalid", `${where}; retry that one`);
      }
      return false;
    }
    if (isLacking) return true;
    if (inner === undefined) return false;
    return [...(rounds.get(path) ?? [])].some((round) =>
      inner.nodes.some((each) => lacksItems(each, inner, round + each.id)),
    );
  }

  /** Whether a node is a map that may succeed without some of its items, or has one within. */
  function collects(node: FlowNode, order: Order): boolean {
    if (node.type === "map" && node.policy?.onError === "collect") return true;
    const inner = innerOf(node, order);
    return inner?.nodes.some((each) => collects(each, inner)) ?? false;
  }

  function innerOf(node: FlowNode, order: Order): Order | undefined {
    if (node.body !== undefined) return order.inside(node.id, node.body);
    const called = node.type === "subflow" ? flows.get(String(node.fields["flow"])) : undefined;
    return called && orderOf(called.graph);
  }
}

/** A node of the flow itself is known by U1 to read what it read; within a round that is seen when its fields are there. */
function resultOf({ port, output, inputs }: RecoveredNode, base: string) {
  return base === "" ? { port, output } : { port, output, inputs: inputs ?? "unknown" };
}

/** Ended and open nodes by their paths without attempts, the latest attempt last; and where the rounds of a node are. */
function pathsOf({ nodes: all }: RecoveredRun) {
  const nodes = new Map<string, RecoveredNode>();
  const rounds = new Map<string, Set<string>>();
  for (const [path, node] of all) {
    const plain = path.replace(/~\d+/g, "");
    nodes.set(plain, node);
    const base = plain.slice(0, plain.lastIndexOf("/") + 1);
    const owner = base.replace(/(?:\[\d+\])?\/$/, "");
    if (base === "") continue;
    const known = rounds.get(owner);
    if (known === undefined) rounds.set(owner, new Set([base]));
    else known.add(base);
  }
  return { nodes, rounds };
}

/** Order of the nodes of a flow or a body. */
interface Order {
  readonly nodes: readonly FlowNode[];
  /** Nodes that come directly before a node. */
  before(id: string): readonly string[];
  /** Nodes that come after any of `ids`, by edges or references; they themselves too. */
  followers(ids: readonly string[]): ReadonlySet<string>;
  /** The order in the body of a node. */
  inside(id: string, body: FlowBody): Order;
}

function orderOf(
  graph: FlowGraph,
  body: Pick<FlowBody, "nodes" | "edges"> = graph,
  place = "",
  implied: ReturnType<typeof impliedEdges> = impliedEdges(graph),
): Order {
  const next = new Map<string, string[]>();
  const before = new Map<string, string[]>();
  const inner = new Map<string, Order>();
  const add = (to: Map<string, string[]>, key: string, id: string): void => {
    const known = to.get(key);
    if (known === undefined) to.set(key, [id]);
    else known.push(id);
  };
  const link = (from: string, to: string): void => {
    if (from === to) return;
    add(next, from, to);
    add(before, to, from);
  };
  const idOf = (path: string): string => path.slice(place.length).split("/")[0] as string;
  for (const { from, to } of body.edges) link(from, to);
  for (const { from, to } of implied) {
    if (from.startsWith(place) && to.startsWith(place)) link(idOf(from), idOf(to));
  }
  return {
    nodes: body.nodes,
    before: (id) => before.get(id) ?? [],
    followers(ids) {
      const found = new Set<string>();
      const stack = [...ids];
      for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
        if (found.has(id)) continue;
        found.add(id);
        stack.push(...(next.get(id) ?? []));
      }
      return found;
    },
    inside(id, inside) {
      const made = inner.get(id) ?? orderOf(graph, inside, `${place}${id}/`, implied);
      inner.set(id, made);
      return made;
    },
  };
}

/** Identity of each node, with the inputs that it reads; the nodes that it reads are edges. */
function identities(graph: FlowGraph, inputs: JsonObject, host: Host): ReadonlyMap<string, string> {
  return new Map(
    graph.nodes.map((node): [string, string] => {
      const { type, typeVersion } = node;
      const read = [...inputsRead(node)].sort().map((name) => [name, inputs[name] ?? null]);
      const whole = {
        type,
        ...(typeVersion !== undefined && { typeVersion }),
        ...workOf(node),
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
