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
/** Keywords that are held, for the types that they speak of. */
const HELD = new Set(
  "type enum const oneOf anyOf $ref properties required additionalProperties minProperties maxProperties items prefixItems minItems maxItems uniqueItems minLength maxLength".split(
    " ",
  ),
);
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
 * cannot be held; else such keywords are left out, and the caller checks the answer.
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

/**
 * The grammar without newlines, which end an answer under many chat templates, and without exponents, which let a number grow
 * past every bound.
 */
export function onOneLine(grammar) {
  return grammar
    .replace(/^(root ::= .*) "\\n\\n\\n\\n" \[\\n\]\*$/m, "$1")
    .replace(/^(comma-whitespace-\S+ ::= ).*$/gm, '$1"," [ ]?')
    .replace(/^(whitespace-\S+ ::= ).*$/gm, "$1[ ]?")
    .replace(/^(\w+-number-rule ::= .*) \(\[eE\].*$/gm, "$1");
}

function converted(schema, io) {
  if (schema === true) return ANY;
  if (!isObject(schema)) throw unsupported("a schema that nothing fits");
  const names = Object.keys(schema).filter((name) => !ANNOTATIONS.has(name));
  const lone = (...own) => {
    for (const name of names) if (!own.includes(name)) io.refuse(`"${name}" beside ${own[0]}`);
  };
  for (const name of names) if (!HELD.has(name)) io.refuse(`"${name}"`);
  if (typeof schema.$ref === "string") {
    lone("$ref");
    const name = schema.$ref.startsWith(DEFS) ? schema.$ref.slice(DEFS.length) : "";
    if (Object.hasOwn(io.$defs, name)) return { $ref: schema.$ref };
    throw unsupported("a $ref that is not below $defs");
  }
  if (Object.hasOwn(schema, "const")) return { enum: scalars([schema.const]) };
  if (Array.isArray(schema.enum)) return { enum: scalars(schema.enum) };
  const choices = schema.oneOf ?? schema.anyOf;
  if (Array.isArray(choices)) {
    lone(schema.oneOf === undefined ? "anyOf" : "oneOf", "type");
    return { oneOf: choices.map(io.next) };
  }
  const types = [schema.type ?? typeOf(schema) ?? []].flat();
  if (types.length === 0) return ANY;
  const alternatives = types.map((type) => ofType(type, schema, io));
  return alternatives.length === 1 ? alternatives[0] : { oneOf: alternatives };
}

function ofType(type, schema, io) {
  if (type === "object") return ofObject(schema, io);
  if (type === "array") return ofArray(schema, io);
  if (!SCALARS.has(type)) throw unsupported("a type that JSON does not have");
  if (type !== "string") return { type };
  const { format, minLength, maxLength } = schema;
  if (FORMATS.has(format) && minLength === undefined && maxLength === undefined) {
    return { type, format };
  }
  return { type, ...picked(schema, "minLength", "maxLength") };
}

function ofObject(said, io) {
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

function ofArray(said, io) {
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
