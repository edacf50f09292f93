/**
 * Values of the text as values of the graph, and back: `{"$"}` is an expression, `{"$t"}` a template, `{"$lit"}` protects one
 * level of keys, all else is data as it is.
 */

import type { FieldValue, Json, JsonObject } from "@millrace/contracts";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { isMarker, isObject, markerOf, setMember } from "../data.ts";
import { childrenOf, type Expression, ownEntries } from "../syntax/ast.ts";
import { parseExpression } from "../syntax/parse-expression.ts";
import { printExpression } from "../syntax/print-expression.ts";

/** Where graph places are in the text; collected only for `locate`. */
export interface Marks {
  add(pointer: string, start: number, end: number, expression?: Expression): void;
}

/** The graph form of a value. Recursion goes as deep as the text nests. */
export function toFieldValue(e: Expression, pointer: string, marks: Marks | undefined): FieldValue {
  marks?.add(pointer, e.start, e.end, e);
  switch (e.kind) {
    case "literal":
      return e.value;
    case "list":
      return e.elements.map((element, index) =>
        toFieldValue(element, marks ? `${pointer}/${index}` : "", marks),
      );
    case "object": {
      const entries = ownEntries(e);
      const single = entries.length === 1 ? entries[0] : undefined;
      const wrapped = single !== undefined && isMarker(single.key);
      const inside = wrapped ? `${pointer}/$lit` : pointer;
      if (wrapped) marks?.add(inside, e.start, e.end);
      const members: Record<string, Json> = {};
      for (const { key, value } of entries) {
        const place = marks ? inside + pointerSegment(key) : "";
        setMember(members, key, toFieldValue(value, place, marks));
      }
      return wrapped ? { $lit: members } : members;
    }
    case "template":
      marks?.add(`${pointer}/$t`, e.start, e.end);
      return {
        $t: e.parts.map((part, index) => {
          if (typeof part === "string") return part;
          marks?.add(`${pointer}/$t/${index}`, part.start, part.end, part);
          marks?.add(`${pointer}/$t/${index}/$`, part.start, part.end, part);
          return { $: printExpression(part) };
        }),
      };
    default:
      marks?.add(`${pointer}/$`, e.start, e.end, e);
      return { $: printExpression(e) };
  }
}

/** The data that an expression writes out, or `undefined` when a part of it has to be evaluated. */
export function toLiteral(
  e: Expression,
  pointer: string,
  marks: Marks | undefined,
): Json | undefined {
  marks?.add(pointer, e.start, e.end);
  if (e.kind === "literal") return e.value;
  if (e.kind === "list") {
    const elements: Json[] = [];
    for (const [index, element] of e.elements.entries()) {
      const value = toLiteral(element, marks ? `${pointer}/${index}` : "", marks);
      if (value === undefined) return undefined;
      elements.push(value);
    }
    return elements;
  }
  if (e.kind !== "object") return undefined;
  const members: Record<string, Json> = {};
  for (const { key, value } of ownEntries(e)) {
    const data = toLiteral(value, marks ? pointer + pointerSegment(key) : "", marks);
    if (data === undefined) return undefined;
    setMember(members, key, data);
  }
  return members;
}

/** The first part of a value that is no literal. */
export function firstEvaluated(e: Expression): Expression | undefined {
  if (e.kind === "literal") return undefined;
  const inner = e.kind === "list" ? e.elements : e.kind === "object" ? e.entries : undefined;
  if (!inner) return e;
  for (const part of inner) {
    const found = firstEvaluated("value" in part && "key" in part ? part.value : part);
    if (found) return found;
  }
  return undefined;
}

/** Told about a value that has no text: malformed, a source with errors, or nested too deep. May throw. */
export type Refuse = (pointer: string, message: string) => void;

interface Walk {
  readonly refuse: Refuse;
  readonly maxDepth: number;
  /** It is no value but data: nothing in it has a meaning. */
  readonly isData?: boolean;
}

const NOWHERE = { start: 0, end: 0 };

/** The expression that a value of the graph stands for; undefined when `refuse` returned. */
export function toExpression(
  value: FieldValue,
  pointer: string,
  walk: Walk,
  depth = 0,
): Expression | undefined {
  if (typeof value !== "object" || value === null) return literal(value, pointer, walk);
  if (depth >= walk.maxDepth) return tooDeep(walk, pointer);
  if (Array.isArray(value)) return listOf(value, pointer, walk, depth);
  const object = value as JsonObject;
  const marker = walk.isData ? undefined : markerOf(object);
  if (marker === undefined) return objectOf(object, pointer, walk, depth);
  const inner = object[marker] as Json;
  const place = `${pointer}/${marker}`;
  if (marker === "$") return sourceOf(inner, place, walk, depth);
  if (marker === "$t") return templateOf(inner, place, walk, depth);
  // Inside `$lit` one level of keys means nothing.
  return isObject(inner) && markerOf(inner) !== undefined
    ? objectOf(inner, place, walk, depth)
    : toExpression(inner, place, walk, depth);
}

/** A value that JSON does not have (`undefined` in a list, `NaN`, a big integer, a function) has no text either. */
function literal(
  value: null | boolean | number | string,
  pointer: string,
  walk: Walk,
): Expression | undefined {
  const isData =
    typeof value === "number"
      ? Number.isFinite(value)
      : value === null || typeof value === "string" || typeof value === "boolean";
  if (isData) return { kind: "literal", value: value === 0 ? 0 : value, ...NOWHERE };
  walk.refuse(
    pointer,
    "must be JSON: a string, a finite number, true, false, null, a list or an object",
  );
  return undefined;
}

function tooDeep(walk: Walk, pointer: string): undefined {
  walk.refuse(pointer, `is nested deeper than ${walk.maxDepth} levels`);
  return undefined;
}

function listOf(
  list: readonly Json[],
  pointer: string,
  walk: Walk,
  depth: number,
): Expression | undefined {
  const elements: Expression[] = [];
  for (const [index, value] of list.entries()) {
    const element = toExpression(value, `${pointer}/${index}`, walk, depth + 1);
    if (!element) return undefined;
    elements.push(element);
  }
  return { kind: "list", elements, ...NOWHERE };
}

function objectOf(
  object: JsonObject,
  pointer: string,
  walk: Walk,
  depth: number,
): Expression | undefined {
  const entries: { key: string; value: Expression }[] = [];
  for (const key of memberNames(object)) {
    const value = toExpression(object[key] as Json, pointer + pointerSegment(key), walk, depth + 1);
    if (!value) return undefined;
    entries.push({ key, value });
  }
  return { kind: "object", entries, ...NOWHERE };
}

function sourceOf(
  source: Json,
  pointer: string,
  walk: Walk,
  depth: number,
): Expression | undefined {
  if (typeof source !== "string") {
    walk.refuse(pointer, "must be a string, the source of an expression");
    return undefined;
  }
  const { ast, diagnostics } = parseExpression(source);
  if (!ast) {
    const error = diagnostics.find((diagnostic) => diagnostic.severity === "error");
    walk.refuse(pointer, `is not an expression: ${error?.message ?? "no value"}`);
    return undefined;
  }
  // A source cannot nest deeper than it is long; longer ones are measured.
  if (depth + source.length > walk.maxDepth && depth + nesting(ast) > walk.maxDepth) {
    return tooDeep(walk, pointer);
  }
  return ast;
}

function templateOf(
  template: Json,
  pointer: string,
  walk: Walk,
  depth: number,
): Expression | undefined {
  if (!Array.isArray(template)) {
    walk.refuse(pointer, "must be a list of strings and expressions");
    return undefined;
  }
  const parts: (string | Expression)[] = [];
  let text = "";
  for (const [index, part] of (template as readonly Json[]).entries()) {
    if (typeof part === "string") {
      text += part;
      continue;
    }
    const place = `${pointer}/${index}`;
    if (!isObject(part) || markerOf(part) !== "$") {
      walk.refuse(place, "must be a string or an expression");
      return undefined;
    }
    const hole = sourceOf(part["$"] as Json, `${place}/$`, walk, depth + 1);
    if (!hole) return undefined;
    if (text !== "") parts.push(text);
    text = "";
    parts.push(hole);
  }
  if (parts.length === 0) return { kind: "literal", value: text, ...NOWHERE };
  if (text !== "") parts.push(text);
  return { kind: "template", parts, ...NOWHERE };
}

/** Brackets, holes, prefix operators and arms on the longest way down, parentheses as if all were needed. */
function nesting(e: Expression): number {
  const deepest = (inner: readonly Expression[]): number =>
    inner.reduce((most, part) => Math.max(most, nesting(part)), 0);
  switch (e.kind) {
    case "list":
    case "object":
    case "template":
    case "call":
      return 1 + deepest(childrenOf(e));
    case "member":
      return operand(e.object);
    case "index":
      return Math.max(operand(e.object), 1 + nesting(e.index));
    case "unary":
      return 1 + operand(e.operand);
    case "binary":
      return Math.max(
        e.left.kind === "binary" ? nesting(e.left) : operand(e.left),
        operand(e.right),
      );
    case "conditional":
      return 1 + Math.max(operand(e.test), nesting(e.then), nesting(e.otherwise));
    default:
      return 0;
  }
}

/** An operand that is itself made with operators may stand in parentheses. */
function operand(e: Expression): number {
  const composed = e.kind === "binary" || e.kind === "conditional" || e.kind === "unary";
  return nesting(e) + (composed ? 1 : 0);
}
