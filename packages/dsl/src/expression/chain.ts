/**
 * Closures of names with their members and indexes.
 *   C1  only own properties of objects and elements of lists are read.
 *   C2  `?.` on null makes the whole rest of its chain null; inside a chain that is `undefined`, which no value is.
 */
import type { Json } from "@millrace/contracts";
import { isObject } from "../data.ts";
import type {
  Expression,
  IndexExpression,
  MemberExpression,
  NameExpression,
  Span,
} from "../syntax/ast.ts";
import { type Evaluation, fail, overSteps } from "./budget.ts";
import { kindName, memberOf } from "./data.ts";
import { chainOf, type Link } from "./references.ts";
import { type Closure, findVariable, type Root, type Unit, type Variables } from "./unit.ts";

type Read = (ev: Evaluation) => Json | undefined;

/** The closure of `a.b?.c[i]…`; `compile` makes those of its indexes and of a base that is no name. */
export function chainClosure(
  node: NameExpression | MemberExpression | IndexExpression,
  unit: Unit,
  variables: Variables | null,
  compile: (node: Expression) => Closure,
): Closure {
  if (node.kind === "name") return nameClosure(node, unit, variables);
  const { base, links } = chainOf(node);
  const optional = links.some((link) => link.kind === "member" && link.optional);
  const ofNodes =
    base.kind === "name" &&
    base.name === "nodes" &&
    !unit.locals.includes("nodes") &&
    findVariable(variables, "nodes") === undefined;
  let closure: Read = compile(base);
  const [first, ...rest] = links;
  const isMember = first?.kind === "member" && base.kind === "name" && !ofNodes;
  if (isMember) closure = nameMember(first, base, rootOrSlot(base, unit, variables));
  for (const link of isMember ? rest : links) {
    const key = link.kind === "index" ? compile(link.index) : undefined;
    if (ofNodes && link === first) closure = nodeLink(link, closure, key);
    else if (link.kind === "member") closure = memberLink(link, closure);
    else closure = indexLink(link, closure, key as Closure);
  }
  if (!optional) return closure as Closure;
  const chain = closure;
  return (ev) => chain(ev) ?? null;
}

function nameClosure(node: NameExpression, unit: Unit, variables: Variables | null): Closure {
  const from = rootOrSlot(node, unit, variables);
  if (typeof from === "number") {
    return (ev) => {
      if (--ev.steps < 0) overSteps(ev, node);
      return ev.slots[from] as Json;
    };
  }
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    return readRoot(ev, from, node);
  };
}

/** What a name means: the slot of a macro variable, or a root. */
function rootOrSlot(node: NameExpression, unit: Unit, variables: Variables | null): Root | number {
  return findVariable(variables, node.name) ?? unit.root(node.name, variables !== null);
}

/** A name and its first member at once: most of what expressions read. */
function nameMember(node: MemberExpression, base: NameExpression, from: Root | number): Read {
  if (typeof from === "number") {
    return (ev) => {
      ev.steps -= 2;
      if (ev.steps < 0) overSteps(ev, node);
      return readMember(node, ev.slots[from] as Json);
    };
  }
  return (ev) => {
    ev.steps -= 2;
    if (ev.steps < 0) overSteps(ev, node);
    return readMember(node, readRoot(ev, from, base));
  };
}

function readRoot(ev: Evaluation, { slot, name }: Root, node: NameExpression): Json {
  const known = slot < 0 ? undefined : ev.slots[slot];
  if (known !== undefined) return known;
  const value = ev.scope.get(name);
  if (value === undefined) fail(node, "unknown_name", `unknown name ${name}`);
  if (slot >= 0) ev.slots[slot] = value;
  return value;
}

function memberLink(node: MemberExpression, object: Read): Read {
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const value = object(ev);
    return value === undefined ? undefined : readMember(node, value);
  };
}

function readMember(node: MemberExpression, value: Json): Json | undefined {
  const { name } = node;
  if (isObject(value)) return memberOf(value, name);
  if (value === null) return node.optional ? undefined : nullAccess(node, `member ${name}`);
  const found = kindName(value);
  fail(node, "type_mismatch", `${found} has no member ${name}: only objects have members`);
}

function indexLink(node: IndexExpression, object: Read, index: Closure): Read {
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const value = object(ev);
    if (value === undefined) return undefined;
    if (value === null) return nullAccess(node, "an element");
    const at = index(ev);
    if (Array.isArray(value)) {
      if (typeof at === "number" && Number.isInteger(at) && at >= 0) return value[at] ?? null;
      fail(
        node,
        "type_mismatch",
        `a list is indexed by a whole number from 0, found ${describeIndex(at)}`,
      );
    }
    if (!isObject(value)) fail(node, "type_mismatch", `${kindName(value)} cannot be indexed`);
    if (typeof at !== "string") {
      fail(node, "type_mismatch", `an object is indexed by a string, found ${kindName(at)}`);
    }
    return memberOf(value, at);
  };
}

/** `nodes[id]`: an id that no visible node bears is an unknown name, not an absent member. */
function nodeLink(node: Link, object: Read, index: Closure | undefined): Read {
  return (ev) => {
    if (--ev.steps < 0) overSteps(ev, node);
    const nodes = object(ev);
    const id = node.kind === "member" ? node.name : (index as Closure)(ev);
    if (typeof id !== "string") {
      fail(node, "type_mismatch", `nodes is indexed by a string, found ${kindName(id)}`);
    }
    if (!isObject(nodes) || !Object.hasOwn(nodes, id) || nodes[id] === undefined) {
      fail(node, "unknown_name", "no visible node bears this id");
    }
    return nodes[id];
  };
}

function nullAccess(node: Span, what: string): never {
  fail(node, "null_access", `cannot read ${what} of null`);
}

function describeIndex(at: Json): string {
  if (typeof at !== "number") return kindName(at);
  return at < 0 ? "a negative number" : "a number with a fraction";
}
