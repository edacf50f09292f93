/** Expressions inside the values of a graph: data in which `{"$"}`, `{"$t"}` and `{"$lit"}` have meaning, at any depth. */
import { type JsonObject, MAX_JSON_DEPTH } from "@millrace/contracts";
import { schemasAt } from "./deferred.ts";
import { isObject, keysOf, own, step } from "./plain.ts";

/** One expression of a value. */
export interface Leaf {
  readonly source: string;
  /** JSON Pointer of the `{"$"}` object. */
  readonly pointer: string;
  /** It stands in a template: its value becomes text. */
  readonly hole: boolean;
  /** It is all that its template holds. */
  readonly alone: boolean;
  /** Keys and indexes from the value's root. */
  readonly path: readonly (string | number)[];
  /** What a schema says of this place; several where it has alternatives. */
  readonly schemas: readonly unknown[];
}

/** What an object of a value stands for. */
export type Marker = "expression" | "template" | "protected" | "data";

const MARKERS: readonly (readonly [string, Marker])[] = [
  ["$", "expression"],
  ["$t", "template"],
  ["$lit", "protected"],
];

/** What an object means by its keys. */
export function markerOf(value: JsonObject): Marker {
  for (const [key, marker] of MARKERS) {
    if (Object.hasOwn(value, key)) return keysOf(value).length === 1 ? marker : "data";
  }
  return "data";
}

/** Whether a value holds no expression and no template with holes. */
export function isLiteral(value: unknown): boolean {
  return leavesOf(value, "").length === 0;
}

/**
 * The data that a literal value stands for: `{"$lit"}` and templates without holes are resolved. Not for values that
 * `isTooDeep` refuses.
 */
export function literalData(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(literalData);
  if (!isObject(value)) return value;
  const marker = markerOf(value);
  if (marker === "template") {
    const parts = own(value, "$t");
    return Array.isArray(parts) ? parts.join("") : value;
  }
  if (marker !== "protected") return mapMembers(value);
  const inner = own(value, "$lit");
  return isObject(inner) ? mapMembers(inner) : literalData(inner);
}

function mapMembers(value: JsonObject): JsonObject {
  return Object.fromEntries(
    keysOf(value).map((key) => [key, literalData(value[key])]),
  ) as JsonObject;
}

interface Open {
  readonly value: unknown;
  readonly pointer: string;
  readonly path: readonly (string | number)[];
  readonly schemas: readonly unknown[];
  readonly depth: number;
  readonly protect: boolean;
}

/** Whether data is nested deeper than `MAX_JSON_DEPTH`, or holds itself. */
export function isTooDeep(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const open = [{ value: value as object, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_JSON_DEPTH) return true;
    for (const inner of Object.values(next.value)) {
      if (typeof inner === "object" && inner !== null) {
        open.push({ value: inner, depth: next.depth + 1 });
      }
    }
  }
  return false;
}

/** Every expression of a value, in order. Reading stops at data deeper than `MAX_JSON_DEPTH`. */
export function leavesOf(value: unknown, pointer: string, schema?: unknown): readonly Leaf[] {
  if (typeof value !== "object" || value === null) return NO_LEAVES;
  const leaves: Leaf[] = [];
  const open: Open[] = [
    {
      value,
      pointer,
      path: [],
      schemas: schema === undefined ? [] : [schema],
      depth: 0,
      protect: false,
    },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_JSON_DEPTH) break;
    enter(next, open, leaves);
  }
  return leaves;
}

const NO_LEAVES: readonly Leaf[] = [];

function enter(at: Open, open: Open[], leaves: Leaf[]): void {
  const { value, pointer, path, schemas } = at;
  const child = (key: string | number, inner: unknown): void => {
    if (typeof inner !== "object" || inner === null) return;
    open.push({
      value: inner,
      pointer: pointer + step(key),
      path: [...path, key],
      schemas: schemas.flatMap((schema) => schemasAt(schema, key)),
      depth: at.depth + 1,
      protect: false,
    });
  };
  if (Array.isArray(value)) {
    for (let i = value.length - 1; i >= 0; i -= 1) child(i, value[i]);
    return;
  }
  if (!isObject(value)) return;
  const marker = at.protect ? "data" : markerOf(value);
  if (marker === "data") {
    for (const key of keysOf(value).reverse()) child(key, value[key]);
  } else if (marker === "protected") {
    const inner = own(value, "$lit");
    open.push({
      ...at,
      value: inner,
      pointer: `${pointer}/$lit`,
      depth: at.depth + 1,
      protect: true,
    });
  } else if (marker === "expression") {
    const source = own(value, "$");
    if (typeof source === "string")
      leaves.push({ source, pointer, hole: false, alone: false, path, schemas });
  } else {
    const parts = own(value, "$t");
    if (!Array.isArray(parts)) return;
    parts.forEach((part, i) => {
      const source = own(part, "$");
      if (typeof source === "string") {
        const alone = parts.length === 1;
        leaves.push({ source, pointer: `${pointer}/$t/${i}`, hole: true, alone, path, schemas });
      }
    });
  }
}
