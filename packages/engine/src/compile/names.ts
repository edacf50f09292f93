/**
 * Which node a name means. Each level (flow, body within a body) has its locals and its nodes; a name is looked up from
 * the innermost level outwards, and only then as `inputs`, `nodes` or `run`.
 */
import type { Reference } from "@millrace/dsl";

/** Names of one level. */
export interface Names {
  readonly locals: ReadonlySet<string>;
  readonly nodes: ReadonlyMap<string, number>;
  readonly outer: Names | null;
}

/** A node that a value reads: `up` levels outwards, by its index there. */
export interface Read {
  readonly up: number;
  readonly node: number;
  /** An absent node reads as null. */
  readonly optional: boolean;
  /** `x.error`: present when x left by its `error` port. */
  readonly error: boolean;
}

/** Nodes among the references of an expression; `roots` are the extra names of a deferred field. */
export function readsOf(
  references: readonly Reference[],
  names: Names,
  roots: ReadonlySet<string>,
): Read[] {
  const reads: Read[] = [];
  for (const { root, path, optional } of references) {
    if (roots.has(root)) continue;
    const named = root === "nodes" && !names.nodes.has("nodes");
    const id = named ? path[0] : root;
    const found = typeof id === "string" ? findNode(id, names, !named) : undefined;
    if (found !== undefined) {
      reads.push({ ...found, optional, error: path[named ? 1 : 0] === "error" });
    }
  }
  return reads;
}

/** Outside names that a flow reads; `*` stands for a computed name. */
export interface OutsideNames {
  readonly vars: Set<string>;
  readonly secrets: Set<string>;
}

/** Notes the variables and secrets among the references of an expression. */
export function noteOutside(
  references: readonly Reference[],
  names: Names,
  { vars, secrets }: OutsideNames,
): void {
  for (const { root, path } of references) {
    if (root !== "vars" && root !== "secrets") continue;
    if (isLocal(root, names) || findNode(root, names, true) !== undefined) continue;
    (root === "vars" ? vars : secrets).add(path[0] ?? "*");
  }
}

function isLocal(name: string, names: Names | null): boolean {
  return names !== null && (names.locals.has(name) || isLocal(name, names.outer));
}

function findNode(
  id: string,
  names: Names,
  withLocals: boolean,
): { up: number; node: number } | undefined {
  let up = 0;
  for (let level: Names | null = names; level !== null; level = level.outer, up += 1) {
    if (withLocals && level.locals.has(id)) return undefined;
    const node = level.nodes.get(id);
    if (node !== undefined) return { up, node };
  }
  return undefined;
}
