/**
 * Types as text and as JSON Schema: an exact two-way map. A schema that no type says is written as a schema.
 *   T1  schemaOf(typeOf(schema)) equals schema whenever typeOf answers; typeOf(schemaOf(type)) is type.
 */

import { type Json, type JsonSchema, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { isObject, memberNames, nearestName } from "@millrace/contracts/kit";
import { setMember } from "../data.ts";
import { isIdent } from "../syntax/chars.ts";
import { nameText, quoteText } from "../syntax/print-expression.ts";
import type { TypeField, TypeNode } from "./items.ts";

/** Names whose schema is `{ type }` alone; with `?` they become a list of two types. */
const PLAIN: { readonly [name: string]: string } = {
  string: "string",
  number: "number",
  int: "integer",
  bool: "boolean",
  null: "null",
  object: "object",
};
/** Names that are strings of a format. */
const FORMATS: { readonly [name: string]: string } = {
  date: "date",
  datetime: "date-time",
  uri: "uri",
};
/** The names that a type is written with, without `[]` and `?`. */
export const TYPE_NAMES: readonly string[] =
  "string number int bool null object any date datetime uri".split(" ");

/** Types as other languages name them. */
export const SLIP_TYPES: { readonly [name: string]: string } = {
  array: "any[]",
  boolean: "bool",
  dict: "object",
  double: "number",
  float: "number",
  integer: "int",
  json: "any",
  list: "any[]",
  map: "object",
  str: "string",
  text: "string",
  timestamp: "datetime",
  unknown: "any",
  url: "uri",
};

/** A type on one line. */
export function typeText(type: TypeNode): string {
  let suffix = "";
  let core = type;
  while ("of" in core) {
    suffix = `${core.kind === "array" ? "[]" : "?"}${suffix}`;
    core = core.of;
  }
  if (core.kind === "name") {
    const name = core.name.split(".").every(isIdent) ? core.name : quoteText(core.name);
    return `${name}${core.version === undefined ? "" : `@${core.version}`}${suffix}`;
  }
  const fields = core.fields.map((field) => `${nameText(field.name)}: ${typeText(field.type)}`);
  return `${fields.length === 0 ? "{}" : `{ ${fields.join(", ")} }`}${suffix}`;
}

/** A type as one word, for places that take a name: `oauth`, `basic@2`. */
export function typeName(type: TypeNode): string {
  if (type.kind !== "name") return typeText(type);
  return type.version === undefined ? type.name : `${type.name}@${type.version}`;
}

/** The schema of a type; reports FLOW3012 and gives `undefined` for a type that there is not. */
export function schemaOf(type: TypeNode, report: ReportType): JsonSchema | undefined {
  switch (type.kind) {
    case "name":
      return namedSchema(type, report);
    case "array": {
      const items = schemaOf(type.of, report);
      return items && { type: "array", items };
    }
    case "optional":
      return optionalSchema(type, report);
    case "object": {
      const properties: Record<string, Json> = {};
      const required: string[] = [];
      let isWhole = true;
      for (const field of type.fields) {
        if (Object.hasOwn(properties, field.name)) continue; // set twice: the first counts
        const schema = schemaOf(field.type, report);
        if (schema) setMember(properties, field.name, schema);
        else isWhole = false;
        if (field.type.kind !== "optional") required.push(field.name);
      }
      if (!isWhole) return undefined;
      return { type: "object", properties, ...(required.length > 0 && { required }) };
    }
  }
}

/** Told about a type that there is not, and how it is spelled right. */
type ReportType = (type: TypeNode, mended: string | undefined) => void;

function namedSchema(
  type: TypeNode & { kind: "name" },
  report: ReportType,
): JsonSchema | undefined {
  const { name } = type;
  if (type.version === undefined) {
    if (Object.hasOwn(PLAIN, name)) return { type: PLAIN[name] as string };
    if (Object.hasOwn(FORMATS, name)) return { type: "string", format: FORMATS[name] as string };
    if (name === "any") return {};
  }
  const plain = name.toLowerCase();
  const known = Object.hasOwn(SLIP_TYPES, plain) ? SLIP_TYPES[plain] : undefined;
  const mended =
    known ?? TYPE_NAMES.find((each) => each === plain) ?? nearestName(plain, TYPE_NAMES);
  report(type, mended);
  return undefined;
}

function optionalSchema(
  type: TypeNode & { kind: "array" | "optional" },
  report: ReportType,
): JsonSchema | undefined {
  const inner = type.of;
  const plain = inner.kind === "name" && Object.hasOwn(PLAIN, inner.name) ? PLAIN[inner.name] : "";
  const holdsNull =
    inner.kind === "optional" || (inner.kind === "name" && ["any", "null"].includes(inner.name));
  if (holdsNull) {
    report(type, typeText(inner));
    return undefined;
  }
  const schema = schemaOf(inner, report);
  if (!schema) return undefined;
  return plain ? { type: [plain, "null"] } : { anyOf: [schema, { type: "null" }] };
}

/** The type whose schema this is, if there is one. */
export function typeOf(schema: JsonSchema, depth = 0): TypeNode | undefined {
  if (depth > MAX_JSON_DEPTH) return undefined;
  const names = memberNames(schema);
  if (names.length === 0) return named("any");
  if (names.length === 1 && names[0] === "anyOf") return optionalOf(schema["anyOf"], depth);
  const { type } = schema;
  if (Array.isArray(type)) {
    const plain = plainName(type[0]);
    const isNullable = names.length === 1 && type.length === 2 && type[1] === "null";
    return isNullable && plain && plain !== "null" ? optional(named(plain)) : undefined;
  }
  if (names.length === 1) {
    const plain = plainName(type);
    return plain ? named(plain) : undefined;
  }
  if (type === "string" && names.length === 2) {
    const format = Object.keys(FORMATS).find((name) => FORMATS[name] === schema["format"]);
    return format ? named(format) : undefined;
  }
  if (type === "array" && names.length === 2 && isObject(schema["items"])) {
    const of = typeOf(schema["items"], depth + 1);
    return of && { kind: "array", of, start: 0, end: 0 };
  }
  return type === "object" ? objectTypeOf(schema, names, depth) : undefined;
}

function objectTypeOf(
  schema: JsonSchema,
  names: readonly string[],
  depth: number,
): TypeNode | undefined {
  const { properties, required } = schema;
  if (!isObject(properties)) return undefined;
  if (names.length !== (required === undefined ? 2 : 3)) return undefined;
  const fields: TypeField[] = [];
  for (const name of memberNames(properties)) {
    const value = properties[name];
    const type = isObject(value) ? typeOf(value, depth + 1) : undefined;
    if (!type) return undefined;
    fields.push({ name, type, start: 0 });
  }
  const wanted = fields
    .filter((field) => field.type.kind !== "optional")
    .map((field) => field.name);
  if (required === undefined) {
    return wanted.length === 0 ? { kind: "object", fields, start: 0, end: 0 } : undefined;
  }
  if (!Array.isArray(required) || required.length === 0) return undefined;
  const same =
    required.length === wanted.length && wanted.every((name, at) => required[at] === name);
  return same ? { kind: "object", fields, start: 0, end: 0 } : undefined;
}

function optionalOf(anyOf: Json | undefined, depth: number): TypeNode | undefined {
  if (!Array.isArray(anyOf) || anyOf.length !== 2) return undefined;
  const [first, last] = anyOf as Json[];
  if (!isObject(first) || !isObject(last)) return undefined;
  if (last["type"] !== "null" || memberNames(last).length !== 1) return undefined;
  const of = typeOf(first, depth + 1);
  if (!of || of.kind === "optional") return undefined;
  if (of.kind === "name" && (of.name === "any" || Object.hasOwn(PLAIN, of.name))) return undefined;
  return optional(of);
}

function plainName(type: Json | undefined): string | undefined {
  return Object.keys(PLAIN).find((name) => PLAIN[name] === type);
}

function named(name: string): TypeNode {
  return { kind: "name", name, nameEnd: 0, version: undefined, start: 0, end: 0 };
}

function optional(of: TypeNode): TypeNode {
  return { kind: "optional", of, start: 0, end: 0 };
}
