/**
 * The smallest value that fits a JSON Schema, for models that only pretend to think. An enum takes the first member that
 * occurs in `text` (case ignored), else its first.
 */
import type { Json } from "@millrace/contracts";

interface SchemaObject {
  readonly [keyword: string]: unknown;
}

/** Deepest reference followed: a schema that contains itself has a smallest value only where it is optional. */
const MAX_LEVELS = 32;

/** Not every schema can be met by looking at it once; where this one cannot, the answer is near, and refused by a check. */
export function smallestValue(schema: unknown, text: string): Json {
  return fitting(schema, { root: asSchema(schema), text: text.toLowerCase(), taken: [] }, 0);
}

interface Asked {
  readonly root: SchemaObject;
  readonly text: string;
  /** Values that a list of different ones has already. */
  readonly taken: readonly Json[];
}

function fitting(given: unknown, asked: Asked, level: number): Json {
  const schema = resolved(asSchema(given), asked.root);
  if (level > MAX_LEVELS) return null;
  if (schema["const"] !== undefined) return schema["const"] as Json;
  if (Array.isArray(schema["enum"])) return memberOf(schema["enum"] as Json[], asked);
  for (const key of ["anyOf", "oneOf"]) {
    const branches = schema[key];
    if (Array.isArray(branches)) return fitting(branches[0], asked, level + 1);
  }
  if (Array.isArray(schema["allOf"])) {
    const merged = Object.assign({}, ...schema["allOf"].map(asSchema), schema, {
      allOf: undefined,
    });
    return fitting(merged, asked, level + 1);
  }
  switch (typeOf(schema)) {
    case "object":
      return objectOf(schema, asked, level);
    case "array":
      return listOf(schema, asked, level);
    case "string":
      return "x".repeat(Math.min(numberOf(schema["minLength"]) ?? 0, 10_000));
    case "integer":
      return Math.ceil(least(schema, 1));
    case "number":
      return least(schema, Number.EPSILON);
    case "boolean":
      return false;
    default:
      return null;
  }
}

function objectOf(schema: SchemaObject, asked: Asked, level: number): Json {
  const properties = asSchema(schema["properties"]);
  const required = Array.isArray(schema["required"]) ? (schema["required"] as string[]) : [];
  const members = required.map((name): [string, Json] => [
    name,
    fitting(properties[name], { ...asked, taken: [] }, level + 1),
  ]);
  return Object.fromEntries(members);
}

function listOf(schema: SchemaObject, asked: Asked, level: number): Json {
  const first = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const length = Math.min(numberOf(schema["minItems"]) ?? 0, 1_000);
  const list: Json[] = [];
  for (let at = 0; at < length; at += 1) {
    const taken = schema["uniqueItems"] === true ? list : [];
    list.push(fitting(first[at] ?? schema["items"], { ...asked, taken }, level + 1));
  }
  return list;
}

function memberOf(members: readonly Json[], { text, taken }: Asked): Json {
  const free = members.filter((member) => !taken.includes(member));
  const named = free.find(
    (member) => typeof member === "string" && text.includes(member.toLowerCase()),
  );
  return named ?? free[0] ?? members[0] ?? null;
}

/** The number nearest to 0 that the bounds allow. */
function least(schema: SchemaObject, step: number): number {
  const above = numberOf(schema["exclusiveMinimum"]);
  const below = numberOf(schema["exclusiveMaximum"]);
  const low = Math.max(
    numberOf(schema["minimum"]) ?? Number.NEGATIVE_INFINITY,
    above === undefined ? Number.NEGATIVE_INFINITY : next(above, step),
  );
  const high = Math.min(
    numberOf(schema["maximum"]) ?? Number.POSITIVE_INFINITY,
    below === undefined ? Number.POSITIVE_INFINITY : next(below, -step),
  );
  const near = Math.min(Math.max(0, low), high);
  const multiple = numberOf(schema["multipleOf"]);
  return multiple === undefined ? near : Math.ceil(near / multiple) * multiple;
}

function next(bound: number, step: number): number {
  return bound + step * Math.max(1, Math.abs(bound));
}

function typeOf(schema: SchemaObject): unknown {
  const { type } = schema;
  if (Array.isArray(type)) return type[0];
  if (type !== undefined) return type;
  if (schema["properties"] !== undefined) return "object";
  return schema["items"] === undefined ? undefined : "array";
}

function resolved(schema: SchemaObject, root: SchemaObject): SchemaObject {
  let at = schema;
  for (let hops = 0; typeof at["$ref"] === "string" && hops < MAX_LEVELS; hops += 1) {
    const name = /^#\/\$defs\/(.+)$/.exec(at["$ref"])?.[1];
    const definitions = asSchema(root["$defs"]);
    at = name === undefined ? {} : asSchema(definitions[name]);
  }
  return at;
}

function asSchema(value: unknown): SchemaObject {
  return typeof value === "object" && value !== null ? (value as SchemaObject) : {};
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
