/** Types of names with their members and indexes. */

import type { TextFix } from "../diagnostics/bag.ts";
import { replacement } from "../diagnostics/bag.ts";
import { quoted } from "../diagnostics/quote.ts";
import { chainOf, type Link, literalStep } from "../expression/references.ts";
import type { Expression, IndexExpression, NameExpression } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";
import {
  ANY,
  type FlowType,
  mayBeNull,
  membersOf,
  NULL,
  unionOf,
  unionOfAll,
  withoutNull,
} from "./flow-type.ts";
import type { Inference } from "./inference.ts";
import { has } from "./operator-types.ts";
import { ALWAYS_PRESENT, type TypeScope } from "./scope.ts";
import { fromTheEnd, isNegative, noMember, unknownName } from "./unknown-names.ts";

type Chain = NameExpression | Link;

/** The type of `a.b?.c[i]…`. */
export function chainType(node: Chain, inference: Inference): FlowType {
  const { scope } = inference;
  const { base, links } = chainOf(node);
  const [first] = links;
  const named = first !== undefined && isNodes(base, scope) ? first : undefined;
  const root = named ?? base;
  const from = named === undefined ? 0 : 1;
  let type = named === undefined ? rootType(base, links, inference) : nodeType(named, inference);
  if (readsAbsent(root, links[from], scope) && !isGiven(root, scope)) type = unionOf(type, NULL);
  let shortened = false;
  for (let at = from; at < links.length; at += 1) {
    const link = links[at] as Link;
    if (link.kind === "member" && link.optional && mayBeNull(type)) shortened = true;
    type = linkType(link, type, links[at + 1], inference);
    if (mayBeNull(type) && isGiven(link, scope)) {
      type = withoutNull(type);
      shortened = false;
    }
  }
  return shortened ? unionOf(type, NULL) : type;
}

/** Whether a chain from a root reads it optionally while it may be absent; macro variables never are. */
function readsAbsent(base: Expression, next: Link | undefined, scope: TypeScope): boolean {
  if (next?.kind !== "member" || !next.optional) return false;
  // Beside names only `nodes["id"]` is a base that is read from outside, and any node may be skipped.
  if (base.kind !== "name") return base.kind === "member" || base.kind === "index";
  if (scope.variable(base.name) !== undefined) return false;
  return scope.env.mayBeAbsent?.(base.name) ?? !ALWAYS_PRESENT.has(base.name);
}

function rootType(base: Expression, links: readonly Link[], inference: Inference): FlowType {
  if (base.kind !== "name") return inference.of(base);
  const { scope } = inference;
  const type = scope.variable(base.name)?.type ?? scope.env.get(base.name);
  if (type === undefined) {
    unknownName(base, links, inference);
    return ANY;
  }
  return isGiven(base, scope) ? withoutNull(type) : type;
}

/** Whether a condition around the place has ruled out null. */
function isGiven(node: Expression | undefined, scope: TypeScope): boolean {
  const key = node === undefined || scope.facts.size === 0 ? undefined : scope.keyOf(node);
  return key !== undefined && scope.facts.has(key);
}

/** Whether a base is the `nodes` of which the environment knows the ids. */
function isNodes(base: Expression, scope: TypeScope): boolean {
  return (
    base.kind === "name" &&
    base.name === "nodes" &&
    scope.env.node !== undefined &&
    scope.variable("nodes") === undefined
  );
}

/** The type of `nodes["id"]`; a computed id may be that of any node. */
function nodeType(link: Link, inference: Inference): FlowType {
  const id = literalStep(link);
  if (id === undefined) {
    if (link.kind === "index") inference.of(link.index);
    return ANY;
  }
  const type = inference.scope.env.node?.(id);
  if (type === undefined) {
    inference.findings.add("FLOW5001", link, { parts: { name: quoted(id) }, hint: null });
  }
  return type ?? ANY;
}

function linkType(
  link: Link,
  object: FlowType,
  next: Link | undefined,
  inference: Inference,
): FlowType {
  const index = link.kind === "index" ? inference.of(link.index) : undefined;
  const rest = withoutNull(object);
  if (mayBeNull(object) && !(link.kind === "member" && link.optional)) {
    if (membersOf(rest).length === 0) {
      // Of what is always null nothing can be read.
      inference.mayBeNull(link.object);
      return ANY;
    }
    inference.mayBeNull(link.object, optionalFix(link));
  }
  return link.kind === "member"
    ? memberType(link, link.name, rest, inference, next)
    : indexType(link, index as FlowType, rest, inference);
}

function optionalFix(link: Link): TextFix | undefined {
  if (link.kind !== "member") return undefined;
  const newText = printExpression({ ...link, optional: true });
  return replacement(`read \`${quoted(newText)}\``, link.start, link.end, newText);
}

function memberType(
  link: Link,
  name: string,
  type: FlowType,
  inference: Inference,
  next?: Link,
): FlowType {
  let found: FlowType[] | undefined;
  for (const member of membersOf(type)) {
    if (member.kind === "any") return ANY;
    if (member.kind !== "object") continue;
    const prop = member.props.get(name);
    if (prop !== undefined) found = found === undefined ? [prop] : [...found, prop];
    else if (member.open) {
      if (member.others === undefined) return ANY;
      found = [...(found ?? []), unionOf(member.others, NULL)];
    }
  }
  if (found !== undefined) return unionOfAll(found);
  // Nothing can be read optionally from what is always null; that is no error.
  if (membersOf(type).length > 0) noMember(link, name, type, inference, next);
  return ANY;
}

function indexType(
  link: IndexExpression,
  index: FlowType,
  type: FlowType,
  inference: Inference,
): FlowType {
  const at = inference.solid(link.index, index);
  const literal = literalStep(link);
  if (literal !== undefined && !has(type, "list")) {
    return memberType(link, literal, type, inference);
  }
  const found: FlowType[] = [];
  for (const member of membersOf(type)) {
    if (member.kind === "any") return ANY;
    if (member.kind === "list" && has(at, "int", "number")) {
      if (isNegative(link.index)) {
        fromTheEnd(link, inference);
        return ANY;
      }
      found.push(member.items);
    }
    if (member.kind === "object" && has(at, "string")) {
      const { others, props } = member;
      const other = others === undefined || props.size > 0 ? ANY : unionOf(others, NULL);
      found.push((literal === undefined ? undefined : props.get(literal)) ?? other);
    }
  }
  if (found.length > 0 || membersOf(type).length === 0) return unionOfAll(found);
  return inference.mismatch(link, "[ ]", "a list and a number, or an object and a string", [
    type,
    index,
  ]);
}
