/**
 * What an expression reads from outside. Macro variables and locals are not references; `nodes["x"]` is one with the root
 * `nodes` and the path `["x", …]`.
 */

import {
  type CallExpression,
  childrenOf,
  type Expression,
  type IndexExpression,
  type MemberExpression,
  type NameExpression,
  type Span,
} from "../syntax/ast.ts";
import { findMacro } from "./functions/macros.ts";

/** A read of a name from outside the expression. */
export interface Reference {
  readonly root: string;
  /** Members read from it, as far as they are literal names: `a.b["c"][0].d` reads `["b", "c"]` of `a`. */
  readonly path: readonly string[];
  /** An absent node reads as null: the root is followed by `?.`, or stands alone on the left of `??`. */
  readonly optional: boolean;
}

/** One place where a reference stands; `name` is the stretch of the root (of `nodes["x"]` the whole). */
export interface ReferencePlace extends Reference, Span {
  readonly name: Span;
}

/**
 * The node that a reference means when its root is a node id or `nodes`: `{ id, path }`, the path being that within the
 * node's output. Undefined for `nodes[…]` with a computed id. Whether such a node exists is for the caller to know.
 */
export function nodeReference(
  reference: Reference,
): { readonly id: string; readonly path: readonly string[] } | undefined {
  const { root, path } = reference;
  if (root !== "nodes") return { id: root, path };
  const [id, ...rest] = path;
  return id === undefined ? undefined : { id, path: rest };
}

const NONE: ReadonlySet<string> = new Set();

/** Every place where an expression reads a name that is neither a macro variable nor in `locals`, in source order. */
export function findReferences(
  ast: Expression,
  locals: readonly string[] = [],
): readonly ReferencePlace[] {
  const found: ReferencePlace[] = [];
  visit(ast, locals.length === 0 ? NONE : new Set(locals), false, found);
  return found;
}

/** The distinct references of some places, without the places. */
export function distinctReferences(places: readonly ReferencePlace[]): readonly Reference[] {
  const distinct = new Map<string, Reference>();
  for (const { root, path, optional } of places) {
    const key = `${root}${optional ? "?" : "."}${path.length > 1 ? JSON.stringify(path) : path.join()}`;
    if (!distinct.has(key)) distinct.set(key, { root, path, optional });
  }
  return [...distinct.values()];
}

/** `coalesced`: the expression is the left side of `??`. */
function visit(
  node: Expression,
  bound: ReadonlySet<string>,
  coalesced: boolean,
  found: ReferencePlace[],
): void {
  switch (node.kind) {
    case "name":
    case "member":
    case "index":
      visitChain(node, bound, coalesced, found);
      return;
    case "call":
      visitCall(node, bound, found);
      return;
    case "binary":
      visit(node.left, bound, node.op === "??", found);
      visit(node.right, bound, false, found);
      return;
    default:
      for (const part of childrenOf(node)) visit(part, bound, false, found);
  }
}

function visitCall(
  node: CallExpression,
  bound: ReadonlySet<string>,
  found: ReferencePlace[],
): void {
  const macro = macroParts(node);
  if (macro === undefined) {
    for (const argument of node.args) visit(argument, bound, false, found);
    return;
  }
  visit(macro.list, bound, false, found);
  visit(macro.body, new Set([...bound, macro.variable.name]), false, found);
}

/** The arguments of a call of a macro; undefined for any other call. */
export function macroParts({
  name,
  args,
}: CallExpression):
  | { readonly list: Expression; readonly variable: NameExpression; readonly body: Expression }
  | undefined {
  const [list, variable, body, ...others] = args;
  if (findMacro(name) === undefined || variable?.kind !== "name") return undefined;
  return list && body && others.length === 0 ? { list, variable, body } : undefined;
}

/** A member or an index of a chain. */
export type Link = MemberExpression | IndexExpression;

/** `a.b["c"]` as its base `a` and the links behind it, in order. */
export function chainOf(node: Expression): {
  readonly base: Expression;
  readonly links: readonly Link[];
} {
  let links: Link[] | undefined;
  let base = node;
  for (; base.kind === "member" || base.kind === "index"; base = base.object) {
    if (links === undefined) links = [base];
    else links.push(base);
  }
  return { base, links: links?.reverse() ?? [] };
}

/** A name with its members and indexes. */
function visitChain(
  top: Expression,
  bound: ReadonlySet<string>,
  coalesced: boolean,
  found: ReferencePlace[],
): void {
  const { base, links } = chainOf(top);
  if (base.kind !== "name") visit(base, bound, false, found);
  else if (!bound.has(base.name)) found.push(toReference(base, links, top, coalesced));
  for (const link of links) if (link.kind === "index") visit(link.index, bound, false, found);
}

function toReference(
  base: Expression & { kind: "name" },
  links: readonly Link[],
  top: Expression,
  coalesced: boolean,
): ReferencePlace {
  const computed = links.findIndex((link) => literalStep(link) === undefined);
  const literal = computed < 0 ? links : links.slice(0, computed);
  const path = literal.map(literalStep) as string[];
  // `nodes["x"]` stands for the name x: what follows it decides whether the read is optional.
  const rootLinks = base.name === "nodes" && path.length > 0 ? 1 : 0;
  const name = rootLinks === 0 ? base : (links[0] as Link);
  const optional =
    links.some((link, at) => at <= rootLinks && link.kind === "member" && link.optional) ||
    (coalesced && links.length === rootLinks);
  return {
    root: base.name,
    path,
    optional,
    start: top.start,
    end: top.end,
    name: { start: base.start, end: name.end },
  };
}

/** The name that a link reads when it is literal: `.a` or `["a"]`. */
export function literalStep(link: Link): string | undefined {
  if (link.kind === "member") return link.name;
  const { index } = link;
  return index.kind === "literal" && typeof index.value === "string" ? index.value : undefined;
}
