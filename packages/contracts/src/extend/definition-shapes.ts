/** Required shape of the definition of each seam. */
import { isObject } from "../kit/objects.ts";
import { effectShape, nameShape } from "../service.ts";
import {
  also,
  fn,
  list,
  object,
  oneOf,
  optional,
  optionals,
  problemsOf,
  rule,
  type Shape,
  text,
} from "../shape/index.ts";
import { json, jsonObject } from "./json-data.ts";
import { foreignSchema, isZodSchema } from "./schema.ts";
import { type DefinitionKind, EXTENSION_API_VERSION, EXTENSION_MARK } from "./types.ts";

const MAX_NAME = 64; // a name is part of credential accounts and of tool names, which providers cut at 64

const PART = "[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*";
const VERSION = "(?:@[1-9][0-9]{0,3})?";

const actionName = text("a name such as forecast, or forecast@2", {
  pattern: new RegExp(`^${PART}${VERSION}$`),
  max: MAX_NAME,
});

/** Types of one word belong to core; a later version may add one, so no other package may have any. */
const CORE_WORDS: readonly string[] =
  "ai condition confirm delay fail join log loop map subflow switch transform".split(" ");

const typeName = rule((value) => {
  const dotted = new RegExp(`^${PART}(?:\\.${PART})*${VERSION}$`);
  const parts = typeof value === "string" ? value.replace(/@.*$/, "").split(".") : [];
  const [family = ""] = parts;
  if (parts.length === 1 && dotted.test(String(value)) && !CORE_WORDS.includes(family)) {
    return `must have a family and a name, such as ${family}.quorum: one word is core's`;
  }
  return !dotted.test(String(value)) || parts.some((part) => part.length > MAX_NAME)
    ? "must be a type such as approval.quorum, each part 1 to 64 characters"
    : undefined;
});

/** A zod 4 schema, or a raw JSON Schema object. */
const schema = rule((value) => {
  if (isZodSchema(value)) return undefined;
  return foreignSchema(value) ?? problemsOf(value, jsonObject);
});

/** Fields are an object by name. zod tells its type only when it is converted, so a zod schema is looked at there. */
const fieldsSchema = also(schema, (value) =>
  isObject(value) && !isZodSchema(value) && value["type"] !== "object"
    ? [{ pointer: "/type", message: 'must be "object"' }]
    : [],
);

const port = also(
  object({ name: text("a port name", { max: 128 }), description: optional(text("a sentence")) }),
  (value) =>
    isObject(value) && value["name"] === "error"
      ? [{ pointer: "/name", message: '"error" always exists and is not listed' }]
      : [],
);

const secretName = text("a secret name such as WEATHER_KEY", {
  pattern: /^[A-Za-z][A-Za-z0-9_]*$/,
  max: 64,
});

const required = {
  title: text("a title"),
  summary: text("a sentence"),
  fields: fieldsSchema,
  output: schema,
  effect: effectShape,
  run: fn,
};
const more = optionals({
  idempotent: oneOf(true),
  ports: list(port, { unique: "name" }),
  needs: object(
    optionals({ secrets: list(secretName, { unique: "" }), connection: text("a field name") }),
  ),
  defaults: object({ policy: optional(jsonObject) }),
  check: fn,
  examples: list(object({ title: text("a title"), fields: jsonObject, output: json })),
  category: text("a word"),
  tags: list(text("a word"), { unique: "" }),
  deprecated: text("what to use instead"),
});

export const actionShape = object({ ...required, name: actionName, ...more });

export const nodeTypeShape = object({
  ...required,
  type: typeName,
  ...more,
  portsFrom: optional(text("a field name")),
});

export const adapterShape = object({
  id: nameShape,
  title: text("a title"),
  actions: list(made("action", "defineAction"), { min: 1, unique: "name" }),
  config: optional(schema),
  open: optional(fn),
});

export const providerShape = object({
  id: nameShape,
  title: text("a title"),
  create: fn,
  config: optional(schema),
});

export const extensionShape = also(
  object({
    adapters: list(made("adapter", "defineActionAdapter"), { unique: "id" }),
    providers: list(made("provider", "defineProvider"), { unique: "id" }),
    nodeTypes: list(made("nodeType", "defineNodeType"), { unique: "type" }),
    services: list(made("service", "defineService"), { unique: "slug" }),
  }),
  (value) => {
    const spec = isObject(value) ? value : {};
    const taken = new Set(members(spec["adapters"]).flatMap(actionTypes));
    return members(spec["nodeTypes"]).flatMap(({ type }, index) =>
      taken.has(type as string)
        ? [
            {
              pointer: `/nodeTypes/${index}/type`,
              message: `"${type}" is also an action of an adapter`,
            },
          ]
        : [],
    );
  },
);

/** A value that `defineX` made, with any copy of this package. */
function made(kind: DefinitionKind, by: string): Shape {
  return rule((value) => {
    const mark = isObject(value) ? (value as { [EXTENSION_MARK]?: unknown })[EXTENSION_MARK] : 0;
    if (mark !== kind) return `must be made with ${by}`;
    return (value as { apiVersion?: unknown }).apiVersion === EXTENSION_API_VERSION
      ? undefined
      : [{ pointer: "/apiVersion", message: `must be ${EXTENSION_API_VERSION}` }];
  });
}

function members(value: unknown): { readonly [name: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function actionTypes(adapter: { readonly [name: string]: unknown }): string[] {
  return members(adapter["actions"]).map((action) => `${adapter["id"]}.${action["name"]}`);
}
