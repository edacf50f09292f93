/**
 * What may stand in an expression. The identifier at the cursor is replaced by a name that nothing bears, and the text is read once:
 * where that name stands in the tree says what is in scope and what is read of what. Where its item cannot be read, the chain in
 * front of the cursor is typed in the scope of the block.
 */

import { type BodyModel, NodeModel } from "../../check/model/bodies.ts";
import { lookUp, visibleNames } from "../../check/model/resolve.ts";
import { listFunctions } from "../../expression/functions/list.ts";
import { findMacro } from "../../expression/functions/table.ts";
import { childrenOf, type Expression } from "../../syntax/ast.ts";
import { isIdent } from "../../syntax/chars.ts";
import { parseExpression } from "../../syntax/parse-expression.ts";
import { readsAsWord } from "../../syntax/parse-operand.ts";
import { nameText, quoteText } from "../../syntax/print-expression.ts";
import { fits } from "../../types/fits.ts";
import { ANY, describeType, type FlowType, membersOf, unionOfAll } from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import { findTypes } from "../../types/infer.ts";
import type { TypeEnv } from "../../types/scope.ts";
import { Reading } from "../reading.ts";
import type { CursorContext } from "./context.ts";
import { type Offer, RANK } from "./offer.ts";
import type { ValuePlace } from "./values.ts";

/** Stands for the identifier at the cursor. */
const PLACEHOLDER = "cursor_placeholder";

/** A macro variable in scope. */
type Variable = readonly [name: string, type: FlowType];

/** Where the cursor stands among names. */
interface Scope {
  readonly body: BodyModel;
  readonly roots: readonly string[];
  readonly env: TypeEnv;
  readonly variables: readonly Variable[];
  /** What is read of; undefined: a name belongs at the cursor. */
  readonly object: Expression | undefined;
  /** The type that the place takes. */
  readonly expected: FlowType;
  /** The node whose value it is. */
  readonly reader: NodeModel | undefined;
}

/** Names, members and functions that may stand at the cursor. */
export function* expressionOffers(context: CursorContext, value: ValuePlace): Generator<Offer> {
  const { reading, from, to } = context;
  if (reading.text.slice(from, to) === "in") return; // an operator: no name may take its place
  const scope = readScope(context) ?? blockScope(context, value);
  if (scope === undefined) return;
  if (scope.object !== undefined) yield* memberOffers(scope, scope.object);
  else yield* nameOffers(scope);
}

/** The scope by the tree in which the placeholder stands. */
function readScope({ reading, from, to }: CursorContext): Scope | undefined {
  const { text, project } = reading;
  const changed = new Reading(text.slice(0, from) + PLACEHOLDER + text.slice(to), project);
  const written = changed.expressionAt(from);
  if (written === undefined) return undefined;
  const { leaf, tree } = written;
  const { site, roots } = leaf;
  const env = changed.types(site.body).env(site.body, roots);
  const found = find(tree, env, []);
  if (found === undefined) return undefined;
  const { node, variables } = found;
  return {
    ...{ body: site.body, roots, variables, reader: site.reader },
    env: withVariables(env, variables),
    object: node.kind === "member" ? node.object : undefined,
    expected: node === tree && leaf.hole < 0 ? expectedOf(leaf.schemas) : ANY,
  };
}

interface Found {
  readonly node: Expression;
  readonly variables: readonly Variable[];
}

/** The placeholder in a tree, with the macro variables around it. Trees are not deeper than `MAX_EXPRESSION_HEIGHT`. */
function find(tree: Expression, env: TypeEnv, variables: readonly Variable[]): Found | undefined {
  if ((tree.kind === "name" || tree.kind === "member") && tree.name === PLACEHOLDER) {
    return { node: tree, variables };
  }
  if (tree.kind === "call" && findMacro(tree.name) !== undefined) {
    const [list, variable, body] = tree.args;
    if (list !== undefined && variable?.kind === "name" && body !== undefined) {
      // The name of a new variable is the author's own.
      if (variable.name === PLACEHOLDER) return undefined;
      const { type } = findTypes(list, withVariables(env, variables));
      const inner: readonly Variable[] = [...variables, [variable.name, elementsOf(type)]];
      return find(list, env, variables) ?? find(body, env, inner);
    }
  }
  for (const part of childrenOf(tree)) {
    const found = find(part, env, variables);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The type of the elements of a list. */
function elementsOf(type: FlowType): FlowType {
  const lists = membersOf(type).filter((each) => each.kind === "list");
  return lists.length === 0 ? ANY : unionOfAll(lists.map(({ items }) => items));
}

function withVariables(env: TypeEnv, variables: readonly Variable[]): TypeEnv {
  if (variables.length === 0) return env;
  const known = new Map(variables);
  return {
    ...env,
    get: (root) => known.get(root) ?? env.get(root),
    mayBeAbsent: (root) => !known.has(root) && (env.mayBeAbsent?.(root) ?? false),
  };
}

/** A name with what is read of it, and the dot at the end. */
const CHAIN =
  /(?:[A-Za-z_][\w-]*)(?:\s*\??\.\s*(?:[A-Za-z_][\w-]*|"(?:[^"\\\n]|\\.)*")|\[\d+\]|\["(?:[^"\\\n]|\\.)*"\])*\s*\??\.$/;

/** Text in front of the cursor in which a chain is looked for. */
const MAX_CHAIN = 1000;

/** The scope by the words around the cursor, for an item that cannot be read. */
function blockScope(context: CursorContext, value: ValuePlace): Scope | undefined {
  const { reading, block, from } = context;
  const { body, node } = block;
  const { roots } = value;
  const before = reading.text.slice(Math.max(0, from - MAX_CHAIN), from).trimEnd();
  let object: Expression | undefined;
  if (before.endsWith(".")) {
    const chain = CHAIN.exec(before)?.[0].replace(/\s*\??\.$/, "");
    object = chain === undefined ? undefined : parseExpression(chain).ast;
    if (object === undefined) return undefined;
  }
  return {
    ...{ body, roots, object, variables: [], expected: ANY },
    env: reading.types(body).env(body, roots),
    reader: block.kind === "node" ? node : body.owner,
  };
}

function expectedOf(schemas: readonly unknown[]): FlowType {
  return schemas.length === 0
    ? ANY
    : unionOfAll(schemas.map((schema) => typeFromSchema(schema as { [key: string]: never })));
}

function* memberOffers({ env, expected }: Scope, object: Expression): Generator<Offer> {
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
    insert: rootText(label, kind),
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
  for (const { name, signature, summary } of listFunctions()) {
    const documentation = (): string => summary;
    yield { label: name, kind: "function", rank: RANK.function, detail: signature, documentation };
  }
}

/** Whether a node is the reader itself or holds it. */
function isAround(node: NodeModel, reader: NodeModel | undefined): boolean {
  for (let at = reader; at !== undefined; at = at.body.owner) if (at === node) return true;
  return false;
}

function rootText(name: string, kind: Offer["kind"]): string {
  const isBare = isIdent(name) && !readsAsWord(name);
  return isBare || kind !== "node" ? name : `nodes[${quoteText(name)}]`;
}

/** 0: every value fits; 1: some may; 2: none does. */
function distance(type: FlowType, expected: FlowType): number {
  if (expected.kind === "any") return 0;
  const answer = fits(type, expected);
  return answer === "yes" ? 0 : answer === "maybe" ? 1 : 2;
}
