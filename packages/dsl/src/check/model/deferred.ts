/**
 * Names that a field sees beside nodes and inputs: the locals of a body, and the extra roots of fields that a node
 * evaluates later. A catalog says it with `x-millrace.deferred`; for the core types it is also known without one.
 */
import type { CatalogEntry, FlowNode, JsonObject } from "@millrace/contracts";
import { isObject, own } from "../../data.ts";

const LOCAL_DEFAULTS: ReadonlyMap<string, string> = new Map([
  ["map", "item"],
  ["loop", "state"],
]);

const AI_ROOTS = ["output", "text", "label", "labels", "usage", "costUsd", "latencyMs", "finish"];

const deferred = (...roots: string[]): JsonObject => ({ "x-millrace": { deferred: roots } });

const CORE_FIELDS: ReadonlyMap<string, JsonObject> = new Map([
  [
    "ai",
    {
      properties: {
        expect: deferred(...AI_ROOTS),
        tools: { items: { properties: { confirm: deferred("args") } } },
      },
    },
  ],
  ["loop", { properties: { until: deferred("index"), while: deferred("index") } }],
]);

/** The names that the body of a node reads: its `as` (`item` of a map, `state` of a loop by default) and `index`. */
export function bodyLocals(node: FlowNode): readonly string[] {
  const named = own(node.fields, "as");
  const name = typeof named === "string" ? named : LOCAL_DEFAULTS.get(node.type);
  return name === undefined ? ["index"] : [name, "index"];
}

/** The schema in which the hints of a node's fields are looked up: the catalog's, else what is known of core types. */
export function fieldHints(
  node: FlowNode,
  entry: CatalogEntry | undefined,
): JsonObject | undefined {
  return entry?.fields ?? CORE_FIELDS.get(node.type);
}

/** What a schema says of a value in one member of its `x-millrace`. */
export function hintOf(schema: unknown, name: string): unknown {
  return own(own(schema, "x-millrace"), name);
}

/** Whether one of the schemas says so of a value. */
export function isHinted(schemas: readonly unknown[], name: string, hint: unknown = true): boolean {
  return schemas.some((schema) => hintOf(schema, name) === hint);
}

const NO_ROOTS: readonly string[] = [];

/** The extra roots that a schema gives; those of a node with a body have the body's locals, too. */
export function deferredRoots(schema: unknown, node: FlowNode): readonly string[] {
  const roots = hintOf(schema, "deferred");
  if (!Array.isArray(roots)) return NO_ROOTS;
  const names = roots.filter((root): root is string => typeof root === "string");
  return isObject(node.body) || LOCAL_DEFAULTS.has(node.type)
    ? [...bodyLocals(node), ...names]
    : names;
}

const ALTERNATIVES = ["anyOf", "oneOf", "allOf"] as const;

/** The schemas that say something of one member or element of a value of `schema`; alternatives are all looked into. */
export function schemasAt(schema: unknown, key: string | number): readonly unknown[] {
  if (!isObject(schema)) return NO_SCHEMAS;
  let known = members.get(schema);
  if (known === undefined) {
    known = new Map();
    members.set(schema, known);
  }
  let found = known.get(key);
  if (found === undefined) {
    found = findSchemas(schema, key);
    if (known.size < MAX_KEPT) known.set(key, found);
  }
  return found;
}

const NO_SCHEMAS: readonly unknown[] = [];
/** Schemas of members, kept as long as the catalog that holds the schema. */
const members = new WeakMap<object, Map<string | number, readonly unknown[]>>();
/** A schema has fewer members than this; graphs may ask for any number. */
const MAX_KEPT = 256;

function findSchemas(schema: unknown, key: string | number): readonly unknown[] {
  const found: unknown[] = [];
  const open = [schema];
  for (let at = 0; at < open.length && at < MAX_ALTERNATIVES; at += 1) {
    const one = open[at];
    for (const word of ALTERNATIVES) {
      const branches = own(one, word);
      if (Array.isArray(branches)) for (const branch of branches) open.push(branch);
    }
    const inner =
      typeof key === "string"
        ? (own(own(one, "properties"), key) ?? own(one, "additionalProperties"))
        : (own(own(one, "prefixItems"), String(key)) ?? own(one, "items"));
    if (isObject(inner)) found.push(inner);
  }
  return found;
}

/** A schema with more branches than this is not read further for hints. */
const MAX_ALTERNATIVES = 64;
