/**
 * The names around a cursor. The identifier at the cursor is replaced by a name that nothing bears, and the text is read once: where
 * that name stands in the tree says what is in scope and what is read of what.
 *   S1  where the name breaks an item that could be read, no name belongs there.
 *   S2  an item that cannot be read anyway is read up to the cursor, with its open brackets closed; where that cannot be read
 *       either, the chain in front of the cursor is typed in the scope of the block.
 */

import type { Diagnostic, Range } from "@millrace/contracts";
import type { BodyModel, NodeModel } from "../../check/model/bodies.ts";
import { findMacro } from "../../expression/functions/macros.ts";
import { itemsOf } from "../../expression/functions/numbers.ts";
import { childrenOf, type Expression } from "../../syntax/ast.ts";
import { parseExpression } from "../../syntax/parse-expression.ts";
import { lineEnd } from "../../syntax/skip.ts";
import { ANY, type FlowType, unionOfAll } from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import { findTypes } from "../../types/infer.ts";
import type { TypeEnv } from "../../types/scope.ts";
import type { Level } from "../cursor-place.ts";
import { Reading } from "../reading.ts";
import type { CursorContext } from "./context.ts";
import type { ValuePlace } from "./values.ts";

/** Stands for the identifier at the cursor. */
const PLACEHOLDER = "cursor_placeholder";

/** A macro variable in scope. */
type Variable = readonly [name: string, type: FlowType];

/** Where the cursor stands among names. */
export interface Scope {
  readonly body: BodyModel;
  readonly roots: readonly string[];
  readonly env: TypeEnv;
  readonly variables: readonly Variable[];
  /** The object whose member is at the cursor; undefined: a name is. */
  readonly object: Expression | undefined;
  /** The type that the place takes. */
  readonly expected: FlowType;
  /** The node whose value it is. */
  readonly reader: NodeModel | undefined;
}

/** The scope of the identifier at the cursor; undefined: no name of the flow belongs there. */
export function scopeAt(context: CursorContext, value: ValuePlace): Scope | undefined {
  const { reading, from, to } = context;
  const { text, project } = reading;
  const changed = new Reading(text.slice(0, from) + PLACEHOLDER + text.slice(to), project);
  const isSound = slipsOf(reading).every(({ range }) => !isInItem(context, range));
  if (isSound && slipsOf(changed).length > slipsOf(reading).length) return undefined;
  const written = changed.expressionAt(from);
  const leaf = written?.leaf;
  const env = leaf && changed.types(leaf.site.body).env(leaf.site.body, leaf.roots);
  const found = written && env && find(written.tree, env, []);
  if (leaf === undefined || env === undefined || found === undefined) {
    return partScope(context, value);
  }
  const { body, reader } = leaf.site;
  const isWhole = found.node === written?.tree && leaf.hole < 0;
  const expected = isWhole ? expectedOf(leaf.schemas) : ANY;
  return scopeOf(found, { body, roots: leaf.roots, env, expected, reader });
}

/** The scope of the text in an index, `nodes["…"]`, read as a member of what stands before the bracket. */
export function indexScope(context: CursorContext, value: ValuePlace): Scope | undefined {
  const { reading, block, place } = context;
  const bracket = block.inner.at(-1)?.at ?? -1;
  if (reading.text.slice(bracket + 1, place.start).trim() !== "") return undefined;
  const before = reading.text.slice(0, bracket);
  return readBefore(context, value, block.inner.slice(0, -1), `${before}.`);
}

/** The findings of a text about its form. */
function slipsOf({ parsed }: Reading): readonly Diagnostic[] {
  return parsed.diagnostics.filter(({ code }) => /^FLOW[01]/.test(code));
}

/** Whether a stretch lies between the start of the item around the cursor and the end of the cursor's line. */
function isInItem({ reading, block, offset }: CursorContext, range: Range | undefined): boolean {
  if (range === undefined) return false;
  const isBefore = range.start.offset <= lineEnd(reading.text, offset);
  return isBefore && range.end.offset >= block.level.itemStart;
}

/** A name with what is read of it, and the dot at the end. */
const CHAIN =
  /(?:[A-Za-z_][\w-]*)(?:\s*\??\.\s*(?:[A-Za-z_][\w-]*|"(?:[^"\\\n]|\\.)*")|\[\d+\]|\["(?:[^"\\\n]|\\.)*"\])*\s*\??\.$/;

/** Text in front of the cursor in which a chain is looked for. */
const MAX_CHAIN = 1000;

/** The end of an operand: an operator follows, not a name. `in` and the like are operators themselves. */
const OPERAND = /(?:[\])}"']|(?<![\w.])(?!(?:in|and|or|not)$)[\w-]*\w)$/;

/** The scope in an item that cannot be read. */
function partScope(context: CursorContext, value: ValuePlace): Scope | undefined {
  const { reading, block, from } = context;
  const { inner } = block;
  const read = readBefore(context, value, inner, reading.text.slice(0, from));
  if (read !== undefined) return read;
  const before = reading.text.slice(Math.max(0, from - MAX_CHAIN), from).trimEnd();
  const scope = blockScope(context, value);
  if (before.endsWith(".")) {
    const chain = CHAIN.exec(before)?.[0].replace(/\s*\??\.$/, "");
    const object = chain === undefined ? undefined : parseExpression(chain).ast;
    return object && { ...scope, object };
  }
  const last = inner.at(-1)?.kind;
  const isSeparated = (last === "list" || last === "object") && isFirstOfLine(reading.text, from);
  return !isSeparated && OPERAND.test(before) ? undefined : scope;
}

function isFirstOfLine(text: string, at: number): boolean {
  return text.slice(text.lastIndexOf("\n", at - 1) + 1, at).trim() === "";
}

/** Closing bracket of each container in an expression. */
const CLOSERS: { readonly [kind in Level["kind"]]?: string } = {
  list: "]",
  group: ")",
  object: "}",
};

/** The scope by the text of the value, or of the innermost hole in it, up to a place; open brackets are closed. */
function readBefore(
  context: CursorContext,
  value: ValuePlace,
  levels: readonly Level[],
  before: string,
): Scope | undefined {
  const scope = blockScope(context, value);
  const hole = levels.findLastIndex(({ kind }) => kind === "hole");
  const start = levels[hole]?.at ?? context.block.level.equalsAt - 1;
  const closers = levels.slice(hole + 1).map(({ kind }) => CLOSERS[kind] ?? "");
  const source = before.slice(start + 2) + PLACEHOLDER + closers.reverse().join("");
  const tree = parseExpression(source).ast;
  const found = tree && find(tree, scope.env, []);
  return found && scopeOf(found, scope);
}

/** The scope of the block around the cursor. */
function blockScope({ reading, block }: CursorContext, { roots }: ValuePlace): Scope {
  const { body, node, kind } = block;
  const env = reading.types(body).env(body, roots);
  const reader = kind === "node" ? node : body.owner;
  return { body, roots, env, reader, variables: [], object: undefined, expected: ANY };
}

interface Found {
  /** Undefined: it is the name of a new variable, which is the author's own. */
  readonly node: Expression | undefined;
  readonly variables: readonly Variable[];
}

function scopeOf(
  { node, variables }: Found,
  scope: Omit<Scope, "variables" | "object">,
): Scope | undefined {
  if (node === undefined) return undefined;
  const object = node.kind === "member" ? node.object : undefined;
  return { ...scope, env: withVariables(scope.env, variables), variables, object };
}

/** The placeholder in a tree, with the macro variables around it. Trees are not deeper than `MAX_EXPRESSION_HEIGHT`. */
function find(tree: Expression, env: TypeEnv, variables: readonly Variable[]): Found | undefined {
  if ((tree.kind === "name" || tree.kind === "member") && tree.name === PLACEHOLDER) {
    return { node: tree, variables };
  }
  if (tree.kind === "call" && findMacro(tree.name) !== undefined) {
    const [list, variable, body] = tree.args;
    if (list !== undefined && variable?.kind === "name") {
      if (variable.name === PLACEHOLDER) return { node: undefined, variables };
      const { type } = findTypes(list, withVariables(env, variables));
      const inner: readonly Variable[] = [...variables, [variable.name, itemsOf(type)]];
      return find(list, env, variables) ?? (body && find(body, env, inner));
    }
  }
  for (const part of childrenOf(tree)) {
    const found = find(part, env, variables);
    if (found !== undefined) return found;
  }
  return undefined;
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

function expectedOf(schemas: readonly unknown[]): FlowType {
  return schemas.length === 0
    ? ANY
    : unionOfAll(schemas.map((schema) => typeFromSchema(schema as { [key: string]: never })));
}
