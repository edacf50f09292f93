/**
 * From JSON Schema (2020-12) to types. What has no type of its own (patterns, ranges, formats, conditions) is left out, so
 * the type admits at least what the schema admits.
 */

import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { pointerKey } from "@millrace/contracts/kit";
import { isObject } from "../data.ts";
import { memberOf } from "../expression/data.ts";
import { fits } from "./fits.ts";
import {
  ANY,
  BOOL,
  type FlowType,
  INT,
  LIST,
  listOf,
  mayBeNull,
  NEVER,
  NULL,
  NUMBER,
  OBJECT,
  type ObjectType,
  objectOf,
  STRING,
  unionOf,
  unionOfAll,
  withoutNull,
} from "./flow-type.ts";

/** References followed on one path: enough for a recursive schema to describe any data that people write. */
const MAX_REFERENCES = 32;
/** Subschemas of one schema that are read; data that shares its parts may have no end of them. */
const MAX_SCHEMAS = 100_000;
/** Subschemas in subschemas; more is not a schema that a person wrote. */
const MAX_NESTING = 200;

/**
 * The type of the values that a JSON Schema admits, from `type enum const properties required additionalProperties items
 * prefixItems anyOf oneOf`, `allOf` of objects and local `$ref`; all else is `any`. A property that is not required is
 * `T | null`.
 */
export function typeFromSchema(schema: JsonSchema): FlowType {
  return new Reader(schema).read(schema, 0, 0);
}

class Reader {
  readonly #root: JsonSchema;
  readonly #known = new Map<string, FlowType>();
  #left = MAX_SCHEMAS;

  constructor(root: JsonSchema) {
    this.#root = root;
  }

  read(schema: Json, references: number, nesting: number): FlowType {
    if (schema === false) return NEVER;
    this.#left -= 1;
    if (!isObject(schema) || nesting > MAX_NESTING || this.#left < 0) return ANY;
    const ref = memberOf(schema, "$ref");
    if (typeof ref === "string") return this.#follow(ref, references, nesting);
    if (Object.hasOwn(schema, "const")) return literalType(memberOf(schema, "const"));
    const values = memberOf(schema, "enum");
    if (Array.isArray(values)) return unionOfAll(values.map(literalType));
    const part = (inner: Json): FlowType => this.read(inner, references, nesting + 1);
    const all = memberOf(schema, "allOf");
    return intersect([this.#own(schema, part), ...(Array.isArray(all) ? all.map(part) : [])]);
  }

  #own(schema: JsonObject, part: (inner: Json) => FlowType): FlowType {
    const type = memberOf(schema, "type");
    if (typeof type === "string") return ofKind(type, schema, part);
    if (Array.isArray(type)) {
      return unionOfAll(type.map((kind) => ofKind(String(kind), schema, part)));
    }
    for (const key of ["anyOf", "oneOf"]) {
      const options = memberOf(schema, key);
      if (Array.isArray(options)) return unionOfAll(options.map(part));
    }
    return ANY;
  }

  #follow(ref: string, references: number, nesting: number): FlowType {
    if (references >= MAX_REFERENCES) return ANY;
    const key = `${references} ${ref}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const target = resolvePointer(this.#root, ref);
    const type = target === undefined ? ANY : this.read(target, references + 1, nesting + 1);
    this.#known.set(key, type);
    return type;
  }
}

const SCALARS: { readonly [kind: string]: FlowType } = {
  null: NULL,
  boolean: BOOL,
  integer: INT,
  number: NUMBER,
  string: STRING,
};

function ofKind(kind: string, schema: JsonObject, part: (inner: Json) => FlowType): FlowType {
  if (kind === "array") return listOf(elementType(schema, part));
  if (kind === "object") return objectType(schema, part);
  return Object.hasOwn(SCALARS, kind) ? (SCALARS[kind] as FlowType) : ANY;
}

function elementType(schema: JsonObject, part: (inner: Json) => FlowType): FlowType {
  const first = memberOf(schema, "prefixItems");
  const rest = Object.hasOwn(schema, "items") ? part(memberOf(schema, "items")) : ANY;
  return unionOfAll([...(Array.isArray(first) ? first.map(part) : []), rest]);
}

function objectType(schema: JsonObject, part: (inner: Json) => FlowType): FlowType {
  const properties = memberOf(schema, "properties");
  const required = memberOf(schema, "required");
  const needed = new Set(Array.isArray(required) ? required : []);
  const props = isObject(properties)
    ? Object.keys(properties).map((name): [string, FlowType] => {
        const type = part(memberOf(properties, name));
        return [name, needed.has(name) ? type : unionOf(type, NULL)];
      })
    : [];
  const closed = memberOf(schema, "additionalProperties") === false;
  return objectOf(props, !closed || Object.hasOwn(schema, "patternProperties"));
}

/** The type of one JSON value: texts and truth values exactly, data by its kind. */
export function literalType(value: Json): FlowType {
  if (value === null) return NULL;
  if (typeof value === "string") return { kind: "string", values: [value] };
  if (typeof value === "boolean") return { kind: "bool", value };
  if (typeof value === "number") return Number.isInteger(value) ? INT : NUMBER;
  return Array.isArray(value) ? LIST : OBJECT;
}

/** The intersection of the types, as far as it can be expressed: objects are merged, else the first specific type counts. */
function intersect(types: readonly FlowType[]): FlowType {
  const known = types.filter(({ kind }) => kind !== "any");
  const objects = known.filter((type) => type.kind === "object");
  if (objects.length !== known.length) return known[0] ?? ANY;
  const [first, ...others] = objects;
  return first === undefined ? ANY : others.reduce(mergeObjects, first);
}

function mergeObjects(a: ObjectType, b: ObjectType): ObjectType {
  const props = new Map(a.props);
  for (const [name, type] of b.props) {
    const other = props.get(name);
    props.set(name, other === undefined ? type : narrower(other, type));
  }
  return { kind: "object", props, open: a.open && b.open };
}

function narrower(a: FlowType, b: FlowType): FlowType {
  if (fits(a, b) === "yes") return a;
  if (fits(b, a) === "yes") return b;
  return mayBeNull(b) ? a : withoutNull(a);
}

/** The target of `#/a/b` (RFC 6901, section 6); undefined when it is not there or not local. */
function resolvePointer(root: JsonSchema, ref: string): Json | undefined {
  if (!ref.startsWith("#")) return undefined;
  let at: Json = root;
  for (const token of ref.slice(1).split("/").slice(1)) {
    const name = decodeToken(token);
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, name)) return undefined;
    at = (at as JsonObject)[name] ?? null;
  }
  return ref === "#" || ref.startsWith("#/") ? at : undefined;
}

function decodeToken(token: string): string {
  try {
    return pointerKey(decodeURIComponent(token));
  } catch {
    return token;
  }
}
