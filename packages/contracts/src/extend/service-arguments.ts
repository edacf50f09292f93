/** Effect and arguments of an operation: a flat list, each with its one place in the request. */

import type { JsonObject, JsonSchema } from "../json.ts";
import { isObject } from "../kit/objects.ts";
import type { Effect, ServiceOperation } from "../service.ts";

/** One argument of a call. */
export interface ServiceArgument {
  /** Where it goes; `body`: the whole body, `field`: a member of it. */
  readonly place: "params" | "query" | "headers" | "field" | "body";
  readonly required: boolean;
  readonly schema: JsonSchema;
}

/** Arguments of an operation. */
export interface ServiceArguments {
  /** By name. */
  readonly known: ReadonlyMap<string, ServiceArgument>;
  /** Whether names beyond these become members of the body. */
  readonly open: boolean;
}

/** Effect of an operation: its own word, else by its method: GET and HEAD `read`, DELETE `destructive`, others `write`. */
export function operationEffect(operation: Pick<ServiceOperation, "effect" | "method">): Effect {
  if (operation.effect !== undefined) return operation.effect;
  if (operation.method === "GET" || operation.method === "HEAD") return "read";
  return operation.method === "DELETE" ? "destructive" : "write";
}

const made = new WeakMap<ServiceOperation, ServiceArguments>();

/**
 * The arguments of `operation`: the names of `params`, `query` and `headers` without those that are always sent (`const`), then
 * the properties of an object body, or one argument `body`. All `params` are required; members of a body are when the body is,
 * but for those that are always the same.
 * Made once for each operation, which must not change afterwards.
 */
export function serviceArguments(operation: ServiceOperation): ServiceArguments {
  let found = made.get(operation);
  if (found === undefined) {
    found = read(operation);
    made.set(operation, found);
  }
  return found;
}

function read(operation: ServiceOperation): ServiceArguments {
  const known = new Map<string, ServiceArgument>();
  for (const place of ["params", "query", "headers"] as const) {
    const root = operation[place];
    for (const [name, schema] of Object.entries(propertiesOf(root))) {
      if (isObject(schema) && "const" in schema) continue;
      const required = place === "params" || requires(root, name);
      known.set(name, { place, required, schema: within(root, schema) });
    }
  }
  const { body } = operation;
  const fields = bodyFields(operation);
  if (body === undefined) return { known, open: false };
  if (fields === undefined) {
    const isData = body.contentType === "application/json" || body.schema !== undefined;
    const schema = body.schema ?? (isData ? {} : { type: TEXTUAL[body.contentType] ?? "object" });
    known.set("body", { place: "body", required: body.required === true, schema });
    return { known, open: false };
  }
  for (const [name, schema] of Object.entries(fields)) {
    const isConstant = isObject(schema) && "const" in schema; // sent without being said
    const required = body.required === true && requires(body.schema, name) && !isConstant;
    known.set(name, { place: "field", required, schema: within(body.schema, schema) });
  }
  const more = body.schema?.["additionalProperties"];
  return { known, open: more === true || isObject(more) };
}

/** Bodies that are one text; of octets it is their base64. */
const TEXTUAL: { readonly [contentType: string]: string } = {
  "text/plain": "string",
  "application/octet-stream": "string",
};

/** The properties of an object body; `undefined` for every other body and for none. */
export function bodyFields({ body }: ServiceOperation): JsonObject | undefined {
  if (body === undefined || TEXTUAL[body.contentType] !== undefined) return undefined;
  const fields = body.schema?.["properties"];
  return isObject(fields) ? (fields as JsonObject) : undefined;
}

/** The properties of a schema; none for no schema. */
export function propertiesOf(schema: JsonSchema | undefined): JsonObject {
  const found = schema?.["properties"];
  return isObject(found) ? (found as JsonObject) : {};
}

function requires(schema: JsonSchema | undefined, name: string): boolean {
  const required: unknown = schema?.["required"];
  return Array.isArray(required) && required.includes(name);
}

/** A property as a schema of its own: it takes along what its references point to. */
function within(root: JsonSchema | undefined, schema: unknown): JsonSchema {
  if (schema === false) return { not: {} };
  const own = isObject(schema) ? (schema as JsonSchema) : {};
  const defs = root?.["$defs"];
  return defs === undefined ? own : { ...own, $defs: defs };
}
