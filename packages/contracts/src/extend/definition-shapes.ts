/** What a definition of each seam must look like. */
import { isObject } from "../kit/objects.ts";
import { type Check, fn, json, jsonObject, list, oneOf, shape, text } from "./check.ts";
import { foreignSchema, isZodSchema } from "./schema.ts";
import { type DefinitionKind, EXTENSION_API_VERSION, EXTENSION_MARK } from "./types.ts";

const MAX_NAME = 64; // a name is part of credential accounts and of tool names, which providers cut at 64

const PART = "[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*";
const VERSION = "(?:@[1-9][0-9]{0,3})?";

/** Adapter, provider, service slug. */
export const name: Check = text("a name such as acme-crm", {
  pattern: new RegExp(`^${PART}$`),
  max: MAX_NAME,
});

const actionName: Check = text("a name such as forecast, or forecast@2", {
  pattern: new RegExp(`^${PART}${VERSION}$`),
  max: MAX_NAME,
});

/** Types of one word are core's; a later version of core may add one, so nobody else has any. */
const CORE_WORDS: readonly string[] = [
  "ai",
  "condition",
  "confirm",
  "delay",
  "fail",
  "join",
  "log",
  "loop",
  "map",
  "subflow",
  "switch",
  "transform",
];

const typeName: Check = (value, pointer, report) => {
  const dotted = new RegExp(`^${PART}(?:\\.${PART})*${VERSION}$`);
  const parts = typeof value === "string" ? value.replace(/@.*$/, "").split(".") : [];
  const [family = ""] = parts;
  if (parts.length === 1 && dotted.test(String(value)) && !CORE_WORDS.includes(family)) {
    report(pointer, `must have a family and a name, such as ${family}.quorum: one word is core's`);
  } else if (!dotted.test(String(value)) || parts.some((part) => part.length > MAX_NAME)) {
    report(pointer, "must be a type such as approval.quorum, each part 1 to 64 characters");
  }
};

/** A zod 4 schema, or a raw JSON Schema object. */
const schema: Check = (value, pointer, report) => {
  if (isZodSchema(value)) return;
  const foreign = foreignSchema(value);
  if (foreign === undefined) jsonObject(value, pointer, report);
  else report(pointer, foreign);
};

/** Fields are an object by name. zod tells its type only when it is converted, so a zod schema is looked at there. */
const fieldsSchema: Check = (value, pointer, report) => {
  schema(value, pointer, report);
  if (isObject(value) && !isZodSchema(value) && value["type"] !== "object") {
    report(`${pointer}/type`, 'must be "object"');
  }
};

const port: Check = (value, pointer, report) => {
  shape({ name: text("a port name", { max: 128 }) }, { description: text("a sentence") })(
    value,
    pointer,
    report,
  );
  if (isObject(value) && value["name"] === "error") {
    report(`${pointer}/name`, '"error" always exists and is not listed');
  }
};

const node: { required: { [name: string]: Check }; optional: { [name: string]: Check } } = {
  required: {
    title: text("a title"),
    summary: text("a sentence"),
    fields: fieldsSchema,
    output: schema,
    effect: oneOf("pure", "read", "write", "destructive"),
    run: fn,
  },
  optional: {
    idempotent: oneOf(true),
    ports: list(port, { unique: "name" }),
    needs: shape(
      {},
      {
        secrets: list(
          text("a secret name such as WEATHER_KEY", {
            pattern: /^[A-Za-z][A-Za-z0-9_]*$/,
            max: 64,
          }),
          { unique: "" },
        ),
        connection: text("a field name"),
      },
    ),
    defaults: shape({}, { policy: jsonObject }),
    examples: list(shape({ title: text("a title"), fields: jsonObject, output: json })),
    category: text("a word"),
    tags: list(text("a word"), { unique: "" }),
    deprecated: text("what to use instead"),
  },
};

export const actionShape: Check = shape({ ...node.required, name: actionName }, node.optional);

export const nodeTypeShape: Check = shape(
  { ...node.required, type: typeName },
  { ...node.optional, portsFrom: text("a field name"), check: fn },
);

export const adapterShape: Check = shape(
  {
    id: name,
    title: text("a title"),
    actions: list(made("action", "defineAction"), { min: 1, unique: "name" }),
  },
  { config: schema, open: fn },
);

export const providerShape: Check = shape(
  { id: name, title: text("a title"), create: fn },
  { config: schema },
);

const lists: Check = shape({
  adapters: list(made("adapter", "defineActionAdapter"), { unique: "id" }),
  providers: list(made("provider", "defineProvider"), { unique: "id" }),
  nodeTypes: list(made("nodeType", "defineNodeType"), { unique: "type" }),
  services: list(made("service", "defineService"), { unique: "slug" }),
});

export const extensionShape: Check = (value, pointer, report) => {
  lists(value, pointer, report);
  if (!isObject(value)) return;
  const taken = new Set(members(value["adapters"]).flatMap(actionTypes));
  for (const [index, type] of members(value["nodeTypes"]).entries()) {
    if (taken.has(type["type"] as string)) {
      report(`/nodeTypes/${index}/type`, `"${type["type"]}" is also an action of an adapter`);
    }
  }
};

/** A value that `defineX` made, with any copy of this package. */
function made(kind: DefinitionKind, by: string): Check {
  return (value, pointer, report) => {
    const mark = isObject(value) ? (value as { [EXTENSION_MARK]?: unknown })[EXTENSION_MARK] : 0;
    if (mark !== kind) report(pointer, `must be made with ${by}`);
    else if ((value as { apiVersion?: unknown }).apiVersion !== EXTENSION_API_VERSION) {
      report(`${pointer}/apiVersion`, `must be ${EXTENSION_API_VERSION}`);
    }
  };
}

function members(value: unknown): { readonly [name: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

function actionTypes(adapter: { readonly [name: string]: unknown }): string[] {
  return members(adapter["actions"]).map((action) => `${adapter["id"]}.${action["name"]}`);
}
