/**
 * Which control fits a value of a JSON Schema. Only what decides the control is read here; whether a value is right is asked of
 * `compileSchema`.
 */
import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject, pointerKey } from "@millrace/contracts/kit";
import { isUnread } from "./form-value.ts";

/** A control; `json`: a text of JSON, which can hold every value. */
export type Control =
  | "text"
  | "secret"
  | "date"
  | "number"
  | "boolean"
  | "choice"
  | "list"
  | "object"
  | "json";

/** A schema as a form sees it. */
export interface Shape {
  readonly control: Control;
  /** The schema without references and without "or null". */
  readonly schema: JsonSchema;
  readonly isNullable: boolean;
}

/** Deepest chain of references that is followed; a longer one is edited as JSON. */
const MAX_REFERENCES = 16;
/** Deepest nesting of the value that a form begins with. */
const MAX_START_DEPTH = 8;
/** Words beside which a type alone does not say what a value looks like. */
const COMBINED = ["$ref", "allOf", "anyOf", "oneOf", "not", "prefixItems", "if"] as const;

/** The control of a schema. `root`: the document that its references point into. */
export function shapeOf(given: Json | undefined, root: JsonSchema): Shape {
  const followed = follow(given, root);
  const { schema, isNullable } = withoutNull(followed, root);
  return { control: controlOf(schema), schema, isNullable };
}

/** Whether a control can show a value, undefined included: a member that is not set. */
export function canShow({ control, schema }: Shape, value: Json | undefined): boolean {
  if (value === undefined || control === "json") return true;
  if (isUnread(value)) return false;
  switch (control) {
    case "text":
    case "secret":
    case "date": // A field of a page turns the end of a line into "\n".
      return typeof value === "string" && !value.includes("\r");
    case "number": // What was typed and is no number is kept as its text.
      return typeof value === "number" || typeof value === "string";
    case "boolean":
      return typeof value === "boolean";
    case "choice":
      return choicesOf(schema).some((choice) => isSame(choice, value));
    case "list":
      return Array.isArray(value);
    case "object":
      return isObject(value);
  }
}

/** Whether the schema marks a value as secret. */
export function isSecret({ writeOnly, format }: JsonSchema): boolean {
  return writeOnly === true || format === "password";
}

/** The values that a schema allows by name. */
export function choicesOf({ enum: list, const: only }: JsonSchema): readonly Json[] {
  return Array.isArray(list) ? list : only === undefined ? [] : [only];
}

/** Whether two values are the same JSON text. */
export function isSame(a: Json | undefined, b: Json | undefined): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b);
}

/** First value: its default, and the smallest value that the untouched controls show. */
export function startValue(
  given: Json | undefined,
  root: JsonSchema,
  depth: number = 0,
): Json | undefined {
  const { control, schema, isNullable } = shapeOf(given, root);
  if (schema["default"] !== undefined) return schema["default"];
  if (isNullable) return null;
  if (control === "boolean") return false; // A box that is not ticked says no.
  if (control === "choice" && choicesOf(schema).length === 1) return choicesOf(schema)[0];
  if (control === "list") return [];
  if (control !== "object" || depth >= MAX_START_DEPTH) return undefined;
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  const members = Object.entries(isObject(properties) ? properties : {}).flatMap(
    ([name, member]): [string, Json][] => {
      const own = isObject(member) ? member["default"] : undefined;
      const start = needed.has(name) ? startValue(member as Json, root, depth + 1) : own;
      return start === undefined ? [] : [[name, start as Json]];
    },
  );
  return Object.fromEntries(members);
}

/** A value in the place of one that a person adds: the start, else what an empty control holds. */
export function newItem(given: Json | undefined, root: JsonSchema): Json {
  const { control, schema } = shapeOf(given, root);
  const first = control === "choice" ? choicesOf(schema)[0] : undefined;
  return startValue(given, root) ?? first ?? emptyItem(given, root);
}

/** Replacement of an item whose control was emptied: a list has no gaps. */
export function emptyItem(given: Json | undefined, root: JsonSchema): Json {
  const { control, isNullable } = shapeOf(given, root);
  const isText = control === "text" || control === "secret" || control === "date";
  return isText && !isNullable ? "" : null;
}

function controlOf(schema: JsonSchema): Control {
  const { type, format, properties } = schema;
  if (COMBINED.some((word) => schema[word] !== undefined)) return "json";
  if (isSecret(schema) && type !== "string") return "json"; // which hides what is typed
  if (choicesOf(schema).length > 0) return "choice";
  switch (type) {
    case "string":
      if (isSecret(schema)) return "secret";
      return format === "date" ? "date" : "text";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "array":
      return "list";
    case "object":
      return isObject(properties) ? "object" : "json";
    default:
      return "json";
  }
}

/** The schema that a reference names, with the words beside the reference. */
function follow(given: Json | undefined, root: JsonSchema): JsonSchema {
  let schema: JsonObject = isObject(given) ? (given as JsonObject) : {};
  for (let step = 0; step < MAX_REFERENCES && typeof schema["$ref"] === "string"; step += 1) {
    const { $ref, ...beside } = schema;
    const target = targetOf(String($ref), root);
    if (target === undefined) return schema;
    schema = { ...target, ...beside };
  }
  return schema;
}

function targetOf(reference: string, root: JsonSchema): JsonObject | undefined {
  if (reference === "#") return root;
  const [, name] = /^#\/\$defs\/([^/]+)$/.exec(reference) ?? [];
  const { $defs } = root;
  if (name === undefined || !isObject($defs) || !Object.hasOwn($defs, pointerKey(name))) {
    return undefined;
  }
  const target = $defs[pointerKey(name)];
  return isObject(target) ? (target as JsonObject) : undefined;
}

/** Takes "or null" out of a schema, in the two ways in which it is written. */
function withoutNull(
  schema: JsonSchema,
  root: JsonSchema,
): { readonly schema: JsonSchema; readonly isNullable: boolean } {
  const { type } = schema;
  if (Array.isArray(type) && type.length === 2 && type.includes("null")) {
    const own = type.find((each) => each !== "null") as Json;
    const isListed = Array.isArray(schema["enum"]);
    return { schema: { ...schema, type: own }, isNullable: !isListed };
  }
  for (const word of ["anyOf", "oneOf"] as const) {
    const { [word]: parts, ...beside } = schema;
    if (!Array.isArray(parts) || parts.length !== 2) continue;
    const other = parts.find((part) => !isNull(part));
    if (other === undefined || !parts.some(isNull)) continue;
    return { schema: { ...follow(other, root), ...beside }, isNullable: true };
  }
  return { schema, isNullable: false };
}

function isNull(schema: Json): boolean {
  return isObject(schema) && schema["type"] === "null";
}
