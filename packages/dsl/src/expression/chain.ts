/**
 * Parts of names with their members and indexes.
 *   C1  only own properties of objects and elements of lists are read.
 *   C2  `?.` on null makes the whole rest of its chain null; inside a chain that is `undefined`, which no value is.
 */
import type { Json, JsonObject } from "@millrace/contracts";
import { isObject } from "../data.ts";
import type {
  Expression,
  IndexExpression,
  MemberExpression,
  NameExpression,
  Span,
} from "../syntax/ast.ts";
import { type Evaluation, fail, type Scope, wrongType } from "./budget.ts";
import { kindName, memberOf } from "./data.ts";
import { chainOf, type Link } from "./references.ts";
import {
  type Closure,
  findVariable,
  Part,
  pay,
  type Root,
  type Unit,
  type Variables,
} from "./unit.ts";

const ROOT = Object.prototype as unknown as { readonly [name: string]: unknown };

type Read = (ev: Evaluation) => Json | undefined;

/** The part of `a.b?.c[i]…`; `compile` makes those of its indexes and of a base that is no name. */
export function chainPart(
  node: NameExpression | MemberExpression | IndexExpression,
  unit: Unit,
  variables: Variables | null,
  compile: (node: Expression) => Part,
): Part {
  if (node.kind === "name") return namePart(node, unit, variables);
  const { base, links } = chainOf(node);
  const ofNodes =
    base.kind === "name" &&
    base.name === "nodes" &&
    !unit.locals.includes("nodes") &&
    findVariable(variables, "nodes") === undefined;
  const from = compile(base);
  let steps = from.steps + links.length;
  let closure: Read | undefined;
  let optional = false;
  for (const link of links) {
    const key = link.kind === "index" ? compile(link.index) : undefined;
    // Behind `?.` an index is evaluated only when there is something to be indexed.
    if (key !== undefined && !optional) steps += key.steps;
    if (closure === undefined) closure = firstLink(link, from, key, ofNodes);
    else if (link.kind === "member") closure = memberLink(link, closure);
    else closure = indexLink(link, closure, key as Part, optional);
    optional ||= link.kind === "member" && link.optional;
  }
  const chain = closure as Read;
  return new Part(optional ? (ev) => chain(ev) ?? null : (chain as Closure), steps);
}

function namePart(node: NameExpression, unit: Unit, variables: Variables | null): Part {
  const variable = findVariable(variables, node.name);
  if (variable !== undefined) return new Part((ev) => ev.slots[variable] as Json, 1);
  const root = unit.root(node.name, variables !== null);
  if (root.slot >= 0) return new Part(keptClosure(root, node), 1);
  const { name } = root;
  const part = new Part((ev) => {
    const value = (ev.scope as Scope).get(name);
    return value === undefined ? unknownName(node) : value;
  }, 1);
  root.onRepeat = () => {
    part.closure = keptClosure(root, node);
  };
  return part;
}

function keptClosure(root: Root, node: NameExpression): Closure {
  const { slot } = root;
  return (ev) => ev.slots[slot] ?? readKept(ev, root, node);
}

/** The value of a root that has a place: it is given there, or kept there once it was asked for. */
function readKept(ev: Evaluation, { slot, name }: Root, node: NameExpression): Json {
  const known = ev.slots[slot];
  if (known !== undefined) return known;
  const value = (ev.scope as Scope).get(name);
  if (value === undefined) return unknownName(node);
  ev.slots[slot] = value;
  return value;
}

function unknownName(node: NameExpression): never {
  fail(node, "unknown_name", `unknown name ${node.name}`);
}

function firstLink(link: Link, from: Part, key: Part | undefined, ofNodes: boolean): Read {
  if (ofNodes) return nodeLink(link, from, key);
  if (link.kind === "member") {
    return (ev) => readMember(link, from.closure(ev));
  }
  const index = key as Part;
  return (ev) => {
    const value = from.closure(ev);
    if (value === null) return nullAccess(link, "an element");
    return readElement(link, value, index.closure(ev));
  };
}

function memberLink(node: MemberExpression, object: Read): Read {
  return (ev) => {
    const value = object(ev);
    return value === undefined ? undefined : readMember(node, value);
  };
}

function indexLink(node: IndexExpression, object: Read, index: Part, isOptional: boolean): Read {
  return (ev) => {
    const value = object(ev);
    if (value === undefined) return undefined;
    if (value === null) return nullAccess(node, "an element");
    if (isOptional) pay(ev, index, node);
    return readElement(node, value, index.closure(ev));
  };
}

/** `readAnyMember`, in less time for a plain object; not for one of another realm, nor for a name that all objects have here. */
function readMember(node: MemberExpression, value: Json): Json | undefined {
  // biome-ignore lint/suspicious/noProto: V8 knows the prototype of a shape; `Object.getPrototypeOf` is a call
  if (value !== null && (value as { __proto__?: unknown }).__proto__ === ROOT) {
    const member = (value as JsonObject)[node.name];
    if (member === undefined) return null;
    if (ROOT[node.name] === undefined) return member;
  }
  return readAnyMember(node, value);
}

function readAnyMember(node: MemberExpression, value: Json): Json | undefined {
  if (isObject(value)) return memberOf(value, node.name);
  if (value === null) return node.optional ? undefined : nullAccess(node, `member ${node.name}`);
  const found = kindName(value);
  wrongType(node, `${found} has no member ${node.name}: only objects have members`);
}

function readElement(node: IndexExpression, value: Json, at: Json): Json {
  if (Array.isArray(value)) {
    if (typeof at === "number" && Number.isInteger(at) && at >= 0) return value[at] ?? null;
    wrongType(node, `a list is indexed by a whole number from 0, found ${describeIndex(at)}`);
  }
  if (!isObject(value)) wrongType(node, `${kindName(value)} cannot be indexed`);
  if (typeof at !== "string") {
    wrongType(node, `an object is indexed by a string, found ${kindName(at)}`);
  }
  return memberOf(value, at);
}

/** `nodes[id]`: an id that no visible node bears is an unknown name, not an absent member. */
function nodeLink(node: Link, from: Part, index: Part | undefined): Read {
  return (ev) => {
    const nodes = from.closure(ev);
    const id = node.kind === "member" ? node.name : (index as Part).closure(ev);
    if (typeof id !== "string") {
      wrongType(node, `nodes is indexed by a string, found ${kindName(id)}`);
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
