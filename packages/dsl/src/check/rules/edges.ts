/** Edges: their ends, their ports, and what must be there (FLOW4001, 4002, 4008, 4009, 4012, 4014, 4016, 4017). */

import { own } from "../../data.ts";
import { PORT_ALIASES } from "../../diagnostics/aliases.ts";
import { replacing, writing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { Span } from "../../syntax/ast.ts";
import { nameText } from "../../syntax/print-expression.ts";
import type { BodyModel, EdgeModel, NodeModel } from "../model/bodies.ts";
import { listed, type Validation } from "../validation.ts";
import { onErrorOf } from "./policies.ts";

/** Checks the edges of every body. */
export function checkEdges(ctx: Validation): void {
  for (const body of ctx.model.bodies) {
    const leaving = new Map<NodeModel, Set<string>>();
    const arriving = new Int32Array(body.nodes.length);
    for (const edge of body.edges) {
      checkEnd(ctx, body, edge, "from");
      checkEnd(ctx, body, edge, "to");
      const { from, to, port } = edge;
      if (to !== undefined) arriving[to.index] = (arriving[to.index] ?? 0) + 1;
      if (from === undefined) continue;
      checkPort(ctx, edge, from);
      if (!CHOOSING.has(from.node.type)) continue;
      const ports = leaving.get(from);
      if (ports === undefined) leaving.set(from, new Set([port]));
      else ports.add(port);
    }
    for (const node of body.nodes) {
      checkJoin(ctx, node, arriving[node.index] ?? 0);
      checkExits(ctx, node, leaving.get(node) ?? NONE);
    }
  }
}

/** Types that say something when an exit leads nowhere. */
const CHOOSING: ReadonlySet<string> = new Set(["switch", "confirm"]);
const NONE: ReadonlySet<string> = new Set();

function checkEnd(ctx: Validation, body: BodyModel, edge: EdgeModel, side: "from" | "to"): void {
  if (edge[side] !== undefined) return;
  const id = edge.edge[side];
  const pointer = `${edge.pointer}/${side}`;
  if (ctx.anywhere(id) !== undefined) {
    ctx.report("FLOW4012", pointer);
    return;
  }
  const other = edge.edge[side === "from" ? "to" : "from"];
  const ids = [...body.byId.keys()].filter((known) => known !== other); // a node cannot lead to itself
  const near = ctx.nearest(id, ids, pointer, nameText);
  ctx.report("FLOW4001", pointer, { ...near, parts: { id: shown(id), ...near.parts } });
}

/** The whole of a written `@on-error`. */
function policySpan(ctx: Validation, { pointer }: NodeModel): Span | undefined {
  const value = ctx.map.exact(`${pointer}/policy/onError`);
  const start = ctx.map.source?.lastIndexOf("@", value?.start) ?? -1;
  return value === undefined || start === -1 ? undefined : { start, end: value.end };
}

function checkPort(ctx: Validation, edge: EdgeModel, from: NodeModel): void {
  const { port } = edge;
  const onError = onErrorOf(from);
  if (port === "error" && onError !== undefined && onError !== "port") {
    ctx.report("FLOW4014", edge.pointer, {
      parts: { node: shown(from.id), value: onError },
      hint: "remove one",
      related: { pointer: `${from.pointer}/policy/onError`, message: "set here" },
      fix: replacing("remove @on-error", policySpan(ctx, from), ""),
    });
  }
  const { names, open } = ctx.ports.of(from);
  if (open || names.has(port)) return;
  const near = ctx.near(port, names, PORT_ALIASES);
  const pointer = `${edge.pointer}/port`;
  const span = ctx.map.exact(pointer);
  ctx.report("FLOW4002", pointer, {
    parts: {
      node: shown(from.id),
      type: shown(from.node.type),
      port: shown(port),
      list: listed(names),
    },
    fix: writing(near, span, near === "out" ? "" : `.${nameText(near ?? "")}`),
  });
}

function checkJoin(ctx: Validation, node: NodeModel, incoming: number): void {
  const join = own(node.node.policy, "join");
  if (typeof join === "number" && join > incoming) {
    ctx.report("FLOW4008", `${node.pointer}/policy/join`, {
      message: `@join ${join} of ${incoming}`,
    });
  } else if (node.node.type === "join" && incoming < 2) {
    ctx.report("FLOW4008", `${node.pointer}/id`);
  }
}

/** FLOW4017 for conditions that no edge leaves and no expression reads. */
export function checkUnused(ctx: Validation, read: ReadonlySet<NodeModel>): void {
  for (const { nodes, edges } of ctx.model.bodies) {
    const used = new Set(edges.filter(({ port }) => port !== "error").map(({ from }) => from));
    for (const node of nodes) {
      if (node.node.type !== "condition" || used.has(node) || read.has(node)) continue;
      ctx.report("FLOW4017", `${node.pointer}/id`, { parts: { node: shown(node.id) } });
    }
  }
}

function checkExits(ctx: Validation, node: NodeModel, leaving: ReadonlySet<string>): void {
  const { type, policy } = node.node;
  if (type === "switch" && leaving.size > 0 && !leaving.has("default")) {
    ctx.report("FLOW4009", `${node.pointer}/id`, { parts: { node: shown(node.id) } });
  }
  if (type !== "confirm" || leaving.has("error") || (onErrorOf(node) ?? "fail") !== "fail") return;
  const ports = own(policy, "timeoutMs") === undefined ? ["rejected"] : ["rejected", "expired"];
  for (const port of ports) {
    if (!leaving.has(port)) {
      ctx.report("FLOW4016", `${node.pointer}/id`, { parts: { node: shown(node.id), port } });
    }
  }
}
