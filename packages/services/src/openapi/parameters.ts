/** The parameters of an operation, by the place that they go to. */
import type { JsonSchema } from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import { listOf, textOf, type Unknown } from "./plain.ts";
import type { Place } from "./references.ts";
import { convertSchema, type SchemaSource } from "./schemas.ts";

/** Members of an operation of a service. */
export interface ReadParameters {
  readonly params?: JsonSchema;
  readonly query?: JsonSchema;
  readonly headers?: JsonSchema;
}

type Part = "params" | "query" | "headers";

const PARTS: { readonly [place: string]: Part } = {
  path: "params",
  query: "query",
  header: "headers",
};
/** Parameters of these names mean nothing, says OpenAPI: the request has them anyway. */
const OWN_HEADERS: ReadonlySet<string> = new Set(["accept", "content-type", "authorization"]);
const SCALARS: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "null"]);
const MAX_DESCRIPTION = 300;

/** Reads the parameters of a path and of its operation, which replace those of the path. `string`: why it cannot be called. */
export function parametersOf(
  source: SchemaSource,
  lists: readonly { readonly list: unknown; readonly pointer: string }[],
  path: string,
): ReadParameters | string {
  const found = new Map<string, Place>();
  for (const { list, pointer } of lists) {
    for (const [at, one] of listOf(list).entries()) {
      const place = source.references.object(one, pointer + pointerSegment(at));
      if (place === undefined) continue;
      found.set(`${String(place.value["in"])} ${String(place.value["name"])}`, place);
    }
  }
  const parts: {
    [part: string]: { properties: { [name: string]: JsonSchema }; required: string[] };
  } = {};
  const add = (part: Part, name: string, schema: JsonSchema, isRequired: boolean): void => {
    parts[part] ??= { properties: {}, required: [] };
    parts[part].properties[name] = schema;
    if (isRequired) parts[part].required.push(name);
  };
  for (const { value, pointer } of found.values()) {
    const { name, in: where } = value;
    if (typeof name !== "string" || name === "") continue;
    const part = PARTS[String(where)];
    if (part === undefined) {
      source.findings.warn(
        "openapi_skipped",
        pointer,
        `parameters in ${String(where).slice(0, 20)} are left out`,
      );
      continue;
    }
    if (part === "headers" && OWN_HEADERS.has(name.toLowerCase())) continue;
    if (part === "params" && !path.includes(`{${name}}`)) continue;
    const schema = schemaOf(source, { value, pointer }, part);
    const isRequired = value["required"] === true || part === "params";
    if (schema !== undefined) add(part, name, schema, isRequired);
    else if (isRequired) return `its parameter ${name.slice(0, 60)} cannot be sent`;
    else
      source.findings.warn(
        "openapi_skipped",
        pointer,
        "has no form that can be sent, and is left out",
      );
  }
  for (const [, name = ""] of path.matchAll(/\{([^{}/]+)\}/g)) {
    if (!Object.hasOwn(parts["params"]?.properties ?? {}, name))
      add("params", name, { type: "string" }, true);
  }
  const entries = Object.entries(parts).map(([part, { properties, required }]) => [
    part,
    { type: "object", properties, ...(required.length > 0 && part !== "params" && { required }) },
  ]);
  return Object.fromEntries(entries) as ReadParameters;
}

/** A scalar, or in the query a list of scalars; `undefined` for what has no agreed form. */
function schemaOf(
  source: SchemaSource,
  { value, pointer }: Place,
  part: Part,
): JsonSchema | undefined {
  if (value["schema"] === undefined) return undefined; // `content`: a document within a parameter
  const at = { pointer: `${pointer}/schema`, direction: "request" } as const;
  const converted = convertSchema(source, value["schema"], at);
  if (converted === undefined) return undefined;
  const schema = described(
    Object.keys(converted).length === 0 ? { type: "string" } : converted,
    value,
  );
  if (isScalar(schema)) return schema;
  if (part !== "query" || schema["type"] !== "array" || !isScalar(schema["items"]))
    return undefined;
  const { style = "form", explode = true } = value;
  if (style !== "form") return undefined;
  return explode === false ? { ...schema, explode: "comma" } : schema;
}

function described(schema: JsonSchema, parameter: Unknown): JsonSchema {
  const description = textOf(parameter["description"], MAX_DESCRIPTION);
  return description === undefined ? schema : { ...schema, description };
}

function isScalar(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  const isPlain = (value: unknown): boolean => typeof value !== "object" || value === null;
  if ("const" in schema) return isPlain(schema["const"]);
  if (Array.isArray(schema["enum"])) return schema["enum"].every(isPlain);
  if (Array.isArray(schema["anyOf"])) return schema["anyOf"].every(isScalar);
  return [schema["type"]].flat().every((type) => SCALARS.has(type));
}
