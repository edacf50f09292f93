/** Completions in expressions: names in scope, members of the object before the dot, functions. */

import { NodeModel } from "../../check/model/bodies.ts";
import { lookUp, visibleNames, visibleNode } from "../../check/model/resolve.ts";
import { listFunctions } from "../../expression/functions/list.ts";
import type { Expression } from "../../syntax/ast.ts";
import { isBareName } from "../../syntax/parse-operand.ts";
import { nameText, quoteText } from "../../syntax/print-expression.ts";
import { fits } from "../../types/fits.ts";
import { ANY, describeType, type FlowType, membersOf } from "../../types/flow-type.ts";
import { findTypes } from "../../types/infer.ts";
import { type CursorContext, stringAt } from "./context.ts";
import { type Offer, RANK } from "./offer.ts";
import { indexScope, type Scope, scopeAt } from "./scope.ts";
import type { ValuePlace } from "./values.ts";

/** Names, members and functions that may stand at the cursor. */
export function* expressionOffers(context: CursorContext, value: ValuePlace): Generator<Offer> {
  const scope = scopeAt(context, value);
  if (scope === undefined) return;
  if (scope.object !== undefined) {
    yield* memberOffers(scope, scope.object);
    if (isRoot("vars", scope.object, scope)) yield* varOffers(context);
  } else {
    const isCalled = /^\s*\(/.test(context.reading.text.slice(context.to));
    if (!isCalled) yield* nameOffers(scope);
    yield* functionOffers();
  }
}

/** In the text of an index, such as `nodes["…"]`: members of what stands before it. */
export function* indexOffers(context: CursorContext, value: ValuePlace): Generator<Offer> {
  const scope = indexScope(context, value);
  if (scope?.object === undefined) return;
  for (const offer of memberOffers(scope, scope.object)) {
    yield { ...offer, insert: stringAt(context, offer.label) };
  }
}

function* memberOffers(scope: Scope, object: Expression): Generator<Offer> {
  const { env, expected } = scope;
  if (isRoot("nodes", object, scope)) yield* idOffers(scope);
  const { type } = findTypes(object, env);
  for (const each of membersOf(type)) {
    if (each.kind !== "object") continue;
    for (const [label, member] of each.props) {
      const detail = describeType(member);
      const rank = RANK.member + distance(member, expected);
      yield { label, insert: nameText(label), kind: "property", rank, detail };
    }
  }
}

function* nameOffers(scope: Scope): Generator<Offer> {
  const { body, roots, env, variables, reader, expected } = scope;
  const offer = (label: string, kind: Offer["kind"], group: number, type: FlowType): Offer => ({
    ...{ label, kind },
    insert: isBareName(label) || kind !== "node" ? label : `nodes[${quoteText(label)}]`,
    rank: group + distance(type, expected),
    detail: describeType(type),
  });
  for (const [name, type] of variables) yield offer(name, "local", RANK.local, type);
  for (const name of new Set(visibleNames(body, roots))) {
    const found = lookUp(name, body, roots);
    const type = env.get(name) ?? ANY;
    if (found instanceof NodeModel) {
      if (isAround(found, reader)) continue;
      const group = found.body === body ? RANK.sameBody : RANK.outside;
      yield { ...offer(name, "node", group, type), detail: found.node.type };
    } else if (found?.kind === "local" || found?.kind === "root") {
      yield offer(name, "local", RANK.local, type);
    } else yield { label: name, kind: "property", rank: RANK.root };
  }
}

function* functionOffers(): Generator<Offer> {
  for (const { name, signature, summary } of listFunctions()) {
    const documentation = (): string => summary;
    yield { label: name, kind: "function", rank: RANK.function, detail: signature, documentation };
  }
}

/** Whether an expression is a root of the language, such as `nodes`, which reads nodes by their ids. */
function isRoot(
  kind: "nodes" | "vars",
  object: Expression,
  { body, roots, variables }: Scope,
): boolean {
  if (object.kind !== "name" || variables.some(([name]) => name === object.name)) return false;
  const found = lookUp(object.name, body, roots);
  return !(found instanceof NodeModel) && found?.kind === kind;
}

/** Variables that the operator has set, and those that the flow reads elsewhere. */
function* varOffers({ reading, from, to }: CursorContext): Generator<Offer> {
  const others = reading.text.slice(0, from) + reading.text.slice(to);
  const read = [...others.matchAll(/\bvars\??\.([A-Za-z_]\w*)/g)].map(([, name = ""]) => name);
  for (const label of new Set([...(reading.project.vars?.() ?? []), ...read]))
    yield { label, insert: nameText(label), kind: "property", rank: RANK.member };
}

/** The ids of the nodes that may be read. */
function* idOffers({ body, reader }: Scope): Generator<Offer> {
  for (const label of new Set(visibleNames(body, []))) {
    const node = visibleNode(label, body);
    if (node === undefined || isAround(node, reader)) continue;
    const rank = node.body === body ? RANK.sameBody : RANK.outside;
    yield { label, insert: nameText(label), kind: "node", rank, detail: node.node.type };
  }
}

/** Whether a node is the reader itself or holds it. */
function isAround(node: NodeModel, reader: NodeModel | undefined): boolean {
  for (let at = reader; at !== undefined; at = at.body.owner) if (at === node) return true;
  return false;
}

/** 0: every value fits; 1: some may; 2: none does. */
function distance(type: FlowType, expected: FlowType): number {
  if (expected.kind === "any") return 0;
  const answer = fits(type, expected);
  return answer === "yes" ? 0 : answer === "maybe" ? 1 : 2;
}
