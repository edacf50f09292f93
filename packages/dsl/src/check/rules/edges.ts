/** Edges: their ends, their ports, and what must be there (FLOW4001, 4002, 4008, 4009, 4012, 4014, 4016). */

import { own } from "../../data.ts";
import type { Span } from "../../diagnostics/bag.ts";
import { replacing } from "../../diagnostics/bag.ts";
import { nameText } from "../../syntax/print-expression.ts";
import type { BodyModel, EdgeModel, NodeModel } from "../model/bodies.ts";
import { listed, shown, type Validation } from "../validation.ts";
import { onErrorOf } from "./policies.ts";

/** Checks the edges of every body. */
export function checkEdges(run: Validation): void {
  for (const body of run.model.bodies) {
    const leaving = new Map<NodeModel, Set<string>>();
    const arriving = new Int32Array(body.nodes.length);
    for (const edge of body.edges) {
      checkEnd(run, body, edge, "from");
      checkEnd(run, body, edge, "to");
      const { from, to, port } = edge;
      if (to !== undefined) arriving[to.index] = (arriving[to.index] ?? 0) + 1;
      if (from === undefined) continue;
      checkPort(run, edge, from);
      if (!CHOOSING.has(from.node.type)) continue;
      const ports = leaving.get(from);
      if (ports === undefined) leaving.set(from, new Set([port]));
      else ports.add(port);
    }
    for (const node of body.nodes) {
      checkJoin(run, node, arriving[node.index] ?? 0);
      checkExits(run, node, leaving.get(node) ?? NONE);
    }
  }
}

/** Types that say something when an exit leads nowhere. */
const CHOOSING: ReadonlySet<string> = new Set(["switch", "confirm"]);
const NONE: ReadonlySet<string> = new Set();

function checkEnd(run: Validation, body: BodyModel, edge: EdgeModel, side: "from" | "to"): void {
  if (edge[side] !== undefined) return;
  const id = edge.edge[side];
  const pointer = `${edge.pointer}/${side}`;
  if (run.anywhere(id) !== undefined) {
    run.report("FLOW4012", pointer);
    return;
  }
  const near = run.nearest(id, () => body.byId.keys(), pointer, nameText);
  run.report("FLOW4001", pointer, { ...near, parts: { id: shown(id), ...near.parts } });
}

/** The whole of a written `@on-error`. */
function policySpan(run: Validation, { pointer }: NodeModel): Span | undefined {
  const value = run.places.exact(`${pointer}/policy/onError`);
  const start = run.places.source?.lastIndexOf("@", value?.start) ?? -1;
  return value === undefined || start === -1 ? undefined : { start, end: value.end };
}

function checkPort(run: Validation, edge: EdgeModel, from: NodeModel): void {
  const { port } = edge;
  const onError = onErrorOf(from);
  if (port === "error" && onError !== undefined && onError !== "port") {
    run.report("FLOW4014", edge.pointer, {
      parts: { node: shown(from.id), value: onError },
      hint: "remove one",
      related: { pointer: `${from.pointer}/policy/onError`, message: "set here" },
      fix: replacing("remove @on-error", policySpan(run, from), ""),
    });
  }
  const { names, open } = run.ports.of(from);
  if (open || names.has(port)) return;
  const near = run.near(port, () => names);
  const pointer = `${edge.pointer}/port`;
  const span = run.places.exact(pointer);
  run.report("FLOW4002", pointer, {
    parts: {
      node: shown(from.id),
      type: shown(from.node.type),
      port: shown(port),
      list: listed(names),
    },
    fix:
      near === undefined
        ? undefined
        : replacing(`write ${near}`, span, near === "out" ? "" : `.${nameText(near)}`),
  });
}

function checkJoin(run: Validation, node: NodeModel, incoming: number): void {
  const join = own(node.node.policy, "join");
  if (typeof join === "number" && join > incoming) {
    run.report("FLOW4008", `${node.pointer}/policy/join`, {
      message: `@join ${join} of ${incoming}`,
    });
  } else if (node.node.type === "join" && incoming < 2) {
    run.report("FLOW4008", `${node.pointer}/id`);
  }
}

function checkExits(run: Validation, node: NodeModel, leaving: ReadonlySet<string>): void {
  const { type, policy } = node.node;
  const pointer = `${node.pointer}/id`;
  if (type === "switch" && leaving.size > 0 && !leaving.has("default")) {
    run.report("FLOW4009", pointer, { parts: { node: shown(node.id) } });
  }
  if (type !== "confirm" || leaving.has("error") || (onErrorOf(node) ?? "fail") !== "fail") return;
  const ports = own(policy, "timeoutMs") === undefined ? ["rejected"] : ["rejected", "expired"];
  for (const port of ports) {
    if (!leaving.has(port)) {
      run.report("FLOW4016", pointer, { parts: { node: shown(node.id), port } });
    }
  }
}
