/**
 * What a name means at a place: extra roots of a deferred field first, then level by level outwards the locals and the
 * nodes of a body, then `inputs`, `nodes` and `run`.
 */
import type { Reference } from "../expression/references.ts";
import type { BodyModel, NodeModel } from "./bodies.ts";

/** A name with its meaning. `path` is what is read of it. */
export type Meaning =
  | { readonly kind: "node"; readonly node: NodeModel; readonly path: readonly string[] }
  | { readonly kind: "local"; readonly name: string; readonly body: BodyModel }
  | { readonly kind: "root"; readonly name: string }
  | { readonly kind: "inputs" | "run" | "nodes" }
  | { readonly kind: "unknown"; readonly name: string };

/** The node or other thing that a reference reads. */
export function meaningOf(
  reference: Reference,
  body: BodyModel,
  roots: readonly string[],
): Meaning {
  const { root, path } = reference;
  if (roots.includes(root)) return { kind: "root", name: root };
  const found = lookUp(root, body);
  if (found !== undefined) return "id" in found ? { kind: "node", node: found, path } : found;
  if (root === "inputs" || root === "run") return { kind: root };
  if (root !== "nodes") return { kind: "unknown", name: root };
  const [id, ...rest] = path;
  if (id === undefined) return { kind: "nodes" };
  const node = visibleNode(id, body);
  return node === undefined ? { kind: "unknown", name: id } : { kind: "node", node, path: rest };
}

/** The node that bears an id and is visible in a body, whatever locals hide it. */
export function visibleNode(id: string, body: BodyModel): NodeModel | undefined {
  for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) {
    const node = at.byId.get(id);
    if (node !== undefined) return node;
  }
  return undefined;
}

/** Every name that an expression in a body may start with. */
export function* visibleNames(body: BodyModel, roots: readonly string[]): Generator<string> {
  yield* roots;
  for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) {
    yield* at.locals;
    yield* at.byId.keys();
  }
  yield* ["inputs", "nodes", "run"];
}

function lookUp(
  name: string,
  body: BodyModel,
):
  | NodeModel
  | { readonly kind: "local"; readonly name: string; readonly body: BodyModel }
  | undefined {
  for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) {
    if (at.locals.includes(name)) return { kind: "local", name, body: at };
    const node = at.byId.get(name);
    if (node !== undefined) return node;
  }
  return undefined;
}
