/** Expressions inside the values of a graph: data in which `{"$"}`, `{"$t"}` and `{"$lit"}` have meaning, at any depth. */
import { type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { isObject, markerOf, own } from "../../data.ts";
import { schemasAt } from "./deferred.ts";

/** A container inside a value: one pointerSegment inwards from the container around it; the outermost has none. */
export interface ValuePath {
  readonly outer: ValuePath | undefined;
  readonly key: string | number;
  /** The pointerSegment is part of the pointer but not of the data: `$lit`, `$t`. */
  readonly isMarker: boolean;
  readonly value: unknown;
  /** Schemas of this place; several where it has alternatives. */
  readonly schemas: readonly unknown[];
  readonly depth: number;
}

/** Callbacks of a walk over a value, in order. */
export interface ValueVisitor {
  /** `hole`: its place in a template, -1 outside; `alone`: it is all that its template holds. */
  expression?(source: string, path: ValuePath | undefined, hole: number, alone: boolean): void;
  /** A literal text, and the member of `path` that it is; none when it is the whole value. */
  text?(text: string, path: ValuePath | undefined, key: string | number | undefined): void;
}

const NO_SCHEMAS: readonly unknown[] = [];

/** Walks through a value. Reading stops at data deeper than `MAX_JSON_DEPTH`. */
export function visitValue(
  value: unknown,
  visitor: ValueVisitor,
  schemas: readonly unknown[] = NO_SCHEMAS,
): void {
  if (typeof value === "string") visitor.text?.(value, undefined, undefined);
  if (typeof value !== "object" || value === null) return;
  const open: ValuePath[] = [];
  enter(value, undefined, schemas, visitor, open);
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_JSON_DEPTH) return;
    enter(next.value as object, next, next.schemas, visitor, open);
  }
}

function enter(
  value: object,
  path: ValuePath | undefined,
  schemas: readonly unknown[],
  visitor: ValueVisitor,
  open: ValuePath[],
): void {
  const object = value as JsonObject;
  const isProtected = path?.isMarker === true && path.key === "$lit";
  const marker = isProtected || Array.isArray(value) ? undefined : markerOf(object);
  if (marker === "$") {
    const source = own(value, "$");
    if (typeof source === "string") visitor.expression?.(source, path, -1, false);
    return;
  }
  if (marker === "$t") {
    enterTemplate(own(value, "$t"), path, schemas, visitor);
    return;
  }
  const into = (key: string | number, inner: unknown, isMarker: boolean): void => {
    if (typeof inner === "string") visitor.text?.(inner, path, key);
    if (typeof inner !== "object" || inner === null) return;
    const below = isMarker ? schemas : schemasBelow(schemas, key);
    const depth = (path?.depth ?? 0) + 1;
    open.push({ outer: path, key, isMarker, value: inner, schemas: below, depth });
  };
  if (Array.isArray(value)) {
    for (let i = value.length - 1; i >= 0; i -= 1) into(i, value[i], false);
    return;
  }
  if (marker === "$lit") into(marker, own(value, marker), true);
  else for (const key of memberNames(object).reverse()) into(key, object[key], false);
}

function enterTemplate(
  parts: unknown,
  path: ValuePath | undefined,
  schemas: readonly unknown[],
  visitor: ValueVisitor,
): void {
  if (!Array.isArray(parts)) return;
  const depth = (path?.depth ?? 0) + 1;
  const inside = { outer: path, key: "$t", isMarker: true, value: parts, schemas, depth };
  for (let i = 0; i < parts.length; i += 1) {
    const part = parts[i];
    if (typeof part === "string") visitor.text?.(part, inside, i);
    const source = own(part, "$");
    if (typeof source === "string") visitor.expression?.(source, path, i, parts.length === 1);
  }
}

function schemasBelow(schemas: readonly unknown[], key: string | number): readonly unknown[] {
  if (schemas.length < 2) return schemas.length === 0 ? schemas : schemasAt(schemas[0], key);
  return schemas.flatMap((schema) => schemasAt(schema, key));
}

/** The JSON Pointer of a container of the value at `pointer`. */
export function pointerTo(pointer: string, path: ValuePath | undefined): string {
  let inside = "";
  for (let at = path; at !== undefined; at = at.outer) inside = pointerSegment(at.key) + inside;
  return pointer + inside;
}

/** Keys and indexes of the data that lead to a container. */
export function keysTo(path: ValuePath | undefined): readonly (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = path; at !== undefined; at = at.outer) if (!at.isMarker) keys.push(at.key);
  return keys.reverse();
}

/** The pointers of the expressions of a value, which is at `pointer`. */
export function expressionsOf(value: unknown, pointer = ""): readonly string[] {
  const found: string[] = [];
  visitValue(value, {
    expression: (_, path, hole) =>
      void found.push(pointerTo(pointer, path) + (hole < 0 ? "" : `/$t/${hole}`)),
  });
  return found;
}

/** The pointer of the first expression of a value; undefined: it is literal. */
export function firstExpression(value: unknown, pointer = ""): string | undefined {
  return expressionsOf(value, pointer)[0];
}

/**
 * The data that a literal value stands for: `{"$lit"}` and templates without holes are resolved. Not for values that
 * `countMembers` refuses.
 */
export function literalData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(literalData);
  if (!isObject(value)) return value;
  const marker = markerOf(value);
  if (marker === "$t") {
    const parts = own(value, "$t");
    return Array.isArray(parts) ? parts.join("") : value;
  }
  if (marker !== "$lit") return mapMembers(value);
  const inner = own(value, "$lit");
  return isObject(inner) ? mapMembers(inner) : literalData(inner);
}

function mapMembers(value: JsonObject): JsonObject {
  return Object.fromEntries(
    memberNames(value).map((key) => [key, literalData(value[key])]),
  ) as JsonObject;
}

/** The literal text of a value, if it is one; a template without holes is. */
export function literalText(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  const parts = isObject(value) && markerOf(value) === "$t" ? own(value, "$t") : undefined;
  const isText = Array.isArray(parts) && parts.every((part) => typeof part === "string");
  return isText ? parts.join("") : undefined;
}
