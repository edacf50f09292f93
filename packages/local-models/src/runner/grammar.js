/**
 * JSON Schema as the engine's grammar takes it.
 *   G1  What the grammar lets through fits the schema; where that cannot be had, `strict` refuses the schema.
 *   G2  A grammar may be narrower: a property that may be left out is always there, and nothing stands beside the properties.
 */
import { Refusal } from "./refusal.js";

const ANNOTATIONS = new Set([
  ..."$schema $id $comment $anchor title description default examples deprecated readOnly writeOnly format".split(
    " ",
  ),
]);
const FORMATS = new Set(["date-time", "time", "date"]);
const SCALARS = new Set(["string", "number", "integer", "boolean", "null"]);
const MAX_DEPTH = 64;
const DEFS = "#/$defs/";

const ANY = {
  oneOf: [
    { type: ["string", "number", "boolean", "null"] },
    { type: "array" },
    { type: "object", additionalProperties: true },
  ],
};

/** Any JSON object. */
export const ANY_OBJECT = { type: "object", additionalProperties: true };

/**
 * The schema in the words that the grammar knows. `strict`: throws `Refusal` `unsupported_schema`, naming the keyword, when one
 * cannot be held; else such keywords are left out, for whoever checks the answer anyway.
 */
export function toGrammarSchema(schema, { strict }) {
  const { $defs = {}, ...root } = isObject(schema) ? schema : {};
  const refuse = (what) => {
    if (strict) throw unsupported(what);
  };
  const convert = (at, depth) => {
    if (depth > MAX_DEPTH) throw unsupported("the depth of the schema");
    return converted(at, { refuse, $defs, next: (inner) => convert(inner, depth + 1) });
  };
  const own = convert(isObject(schema) ? root : schema, 0);
  const defs = Object.entries($defs).map(([name, def]) => [name, convert(def, 1)]);
  return defs.length === 0 ? own : { ...own, $defs: Object.fromEntries(defs) };
}

/** The refusal of a schema. */
export function unsupported(what) {
  return new Refusal(400, "unsupported_schema", `the grammar cannot hold ${what}`);
}

function converted(schema, io) {
  if (schema === true) return ANY;
  if (!isObject(schema)) throw unsupported("a schema that nothing fits");
  const given = Object.entries(schema).filter(([name]) => !ANNOTATIONS.has(name));
  const said = Object.fromEntries(given);
  const only = (...names) => {
    for (const [name] of given) if (!names.includes(name)) io.refuse(`"${name}" there`);
  };
  if (typeof said.$ref === "string") {
    only("$ref");
    const name = said.$ref.startsWith(DEFS) ? said.$ref.slice(DEFS.length) : "";
    if (Object.hasOwn(io.$defs, name)) return { $ref: said.$ref };
    throw unsupported("a $ref that is not below $defs");
  }
  if (Object.hasOwn(said, "const")) return { enum: scalars([said.const]) };
  if (Array.isArray(said.enum)) return { enum: scalars(said.enum) };
  const choices = said.oneOf ?? said.anyOf;
  if (Array.isArray(choices)) {
    only("oneOf", "anyOf", "type");
    return { oneOf: choices.map(io.next) };
  }
  const types = [said.type ?? typeOf(said)].flat();
  if (types[0] === undefined) {
    only();
    return ANY;
  }
  if (types.length > 1) {
    return { oneOf: types.map((type) => ofType(type, said, { ...io, refuse: () => {} }, schema)) };
  }
  return ofType(types[0], said, io, schema);
}

function ofType(type, said, io, schema) {
  const only = (...names) => {
    for (const name of Object.keys(said)) {
      if (name !== "type" && !names.includes(name)) io.refuse(`"${name}"`);
    }
  };
  if (type === "object") return ofObject(said, io, only);
  if (type === "array") return ofArray(said, io, only);
  if (!SCALARS.has(type)) throw unsupported("a type that JSON does not have");
  if (type !== "string") {
    only();
    return { type };
  }
  only("minLength", "maxLength");
  if (FORMATS.has(schema.format) && said.minLength === undefined && said.maxLength === undefined) {
    return { type, format: schema.format };
  }
  return { type, ...picked(said, "minLength", "maxLength") };
}

function ofObject(said, io, only) {
  only("properties", "required", "additionalProperties", "minProperties", "maxProperties");
  const { properties = {}, required = [], additionalProperties: more, minProperties = 0 } = said;
  const names = Object.keys(properties);
  const isOpen = names.length === 0 && more !== false;
  if (required.some((name) => !names.includes(name))) io.refuse('"required" beyond "properties"');
  if (!isOpen && minProperties > names.length) io.refuse('"minProperties"');
  if (said.maxProperties < names.length) io.refuse('"maxProperties"');
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, io.next(properties[name])])),
    // Beside known properties the grammar would let a name through twice.
    ...(isOpen && {
      additionalProperties: isObject(more) ? io.next(more) : true,
      ...picked(said, "minProperties", "maxProperties"),
    }),
  };
}

function ofArray(said, io, only) {
  only("items", "prefixItems", "minItems", "maxItems", "uniqueItems");
  if (said.uniqueItems === true && !(said.maxItems <= 1)) io.refuse('"uniqueItems"');
  const { prefixItems, items } = said;
  const first = Array.isArray(prefixItems) ? prefixItems.map(io.next) : undefined;
  if (said.maxItems < (first?.length ?? 0)) io.refuse('"maxItems"');
  if (items === false) {
    return { type: "array", prefixItems: first ?? [], maxItems: first?.length ?? 0 };
  }
  return {
    type: "array",
    ...(first !== undefined && { prefixItems: first }),
    ...(items !== undefined && { items: io.next(items) }),
    ...picked(said, "minItems", "maxItems"),
  };
}

function typeOf({ properties, required, items, prefixItems, minLength, maxLength }) {
  if (properties !== undefined || required !== undefined) return "object";
  if (items !== undefined || prefixItems !== undefined) return "array";
  return minLength !== undefined || maxLength !== undefined ? "string" : undefined;
}

function scalars(values) {
  if (values.length > 0 && values.every((value) => typeof value !== "object" || value === null)) {
    return values;
  }
  throw unsupported("an enum of lists or objects");
}

function picked(from, ...names) {
  return Object.fromEntries(
    names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]),
  );
}

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
