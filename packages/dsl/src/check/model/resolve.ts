/**
 * What a name means at a place: extra roots of a deferred field first, then level by level outwards the locals and the
 * nodes of a body, then `inputs`, `nodes`, `run`, `vars` and `secrets`.
 */

import { findReferences } from "../../expression/references.ts";
import type { Expression } from "../../syntax/ast.ts";
import { type BodyModel, isWithin, NodeModel } from "./bodies.ts";
import type { Site } from "./sites.ts";

/** Meaning of a known root name. */
export type Found =
  | NodeModel
  | { readonly kind: "root" | "inputs" | "run" | "nodes" | "vars" | "secrets" }
  | { readonly kind: "local"; readonly body: BodyModel };

/** A read of an expression with its meaning. */
export interface Read {
  readonly kind: Exclude<Found, NodeModel>["kind"] | "node" | "unknown";
  /** The root, or the id in `nodes["id"]`. */
  readonly name: string;
  /** The node that is read; absent for all that is no node. */
  readonly node: NodeModel | undefined;
  /** The body whose local is read. */
  readonly body: BodyModel | undefined;
  /** The first member that is read of it, when it is a literal name. */
  readonly member: string | undefined;
  /** An absent node reads as null. */
  readonly optional: boolean;
  /** Its place among the references of the expression. */
  readonly index: number;
}

const ROOT = { kind: "root" } as const;
const NODES = { kind: "nodes" } as const;
const FLOW_ROOTS: ReadonlyMap<string, Found> = new Map<string, Found>([
  ["inputs", { kind: "inputs" }],
  ["run", { kind: "run" }],
  ["nodes", NODES],
  ["vars", { kind: "vars" }],
  ["secrets", { kind: "secrets" }],
]);

/** Everything that an expression at a place reads, in its order. */
export function readsOf(
  tree: Expression,
  body: BodyModel,
  roots: readonly string[],
): readonly Read[] {
  const references = findReferences(tree);
  return references.length === 0
    ? NO_READS
    : references.map((reference, index) => {
        const { root, path } = reference;
        let found = lookUp(root, body, roots);
        let name = root;
        let member = path[0];
        if (found === NODES && member !== undefined) {
          name = member;
          found = visibleNode(name, body);
          member = path[1];
        }
        const node = found instanceof NodeModel ? found : undefined;
        const kind = found instanceof NodeModel ? "node" : (found?.kind ?? "unknown");
        const of =
          found !== undefined && "body" in found && node === undefined ? found.body : undefined;
        return { kind, name, node, body: of, member, optional: reference.optional, index };
      });
}

const NO_READS: readonly Read[] = [];

/** The meaning of a root name. */
export function lookUp(name: string, body: BodyModel, roots: readonly string[]): Found | undefined {
  if (roots.includes(name)) return ROOT;
  for (let at: BodyModel | undefined = body; at !== undefined; at = at.outer) {
    if (at.locals.includes(name)) return { kind: "local", body: at };
    const node = at.byId.get(name);
    if (node !== undefined) return node;
  }
  return FLOW_ROOTS.get(name);
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
  yield* FLOW_ROOTS.keys();
}

/** Whether a site waits for a node: a body's output reads the nodes of the body, but its owner only holds those. */
export function waitsFor({ kind, reader }: Site, node: NodeModel): boolean {
  if (reader === undefined) return false;
  return kind !== "body-output" || node === reader || !isWithin(node, reader);
}
