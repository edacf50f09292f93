/**
 * Schemas of OpenAPI 3.0 and 3.1 as the subset of JSON Schema that is checked here.
 *   S1  References are written out; those that lead back to themselves are kept in `$defs`.
 *   S2  What cannot be said, or would be too large, is left out with a finding: a schema then says less, never something else.
 */
import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { isObject, pointerSegment } from "@millrace/contracts/kit";
import { unreadable } from "@millrace/engine/pack";
import type { Findings } from "./findings.ts";
import { listOf, membersOf, textOf, type Unknown } from "./plain.ts";
import type { References } from "./references.ts";

const MAX_DEPTH = 24; // schemas within each other; with `$defs` it stays below the 32 of a descriptor
const MAX_SCHEMAS = 2_000; // of one conversion: references to references would multiply without it
const MAX_DESCRIPTION = 300;

/** Copied as they are. Patterns are not: regular expressions of strangers. */
const COPIED: ReadonlySet<string> = new Set(
  "format minItems maxItems uniqueItems minLength maxLength minimum maximum multipleOf".split(" "),
);
/** Rules that get lost, so that the reader of the result should know. */
const LOST: ReadonlySet<string> = new Set(
  "patternProperties propertyNames minProperties maxProperties dependentRequired dependentSchemas if then else contains unevaluatedProperties unevaluatedItems $dynamicRef".split(
    " ",
  ),
);
const TYPES: ReadonlySet<unknown> = new Set(
  "string number integer boolean object array null".split(" "),
);

/** Which way a value goes: into a request, which has nothing read-only, or out of an answer. */
export type Direction = "request" | "answer";

/** Access of a converter to its document. */
export interface SchemaSource {
  readonly references: References;
  readonly findings: Findings;
}

/** The schema at a place, or `undefined`, with a finding, when nothing of it can be said. */
export function convertSchema(
  source: SchemaSource,
  schema: unknown,
  { pointer, direction }: { readonly pointer: string; readonly direction: Direction },
): JsonSchema | undefined {
  const converter = new Converter(source, direction);
  const made = converter.whole(schema, pointer);
  const problem = converter.isTooLarge
    ? `it needs more than ${MAX_SCHEMAS} schemas`
    : unreadable(made)[0]?.message;
  if (problem === undefined) return made;
  source.findings.warn("openapi_schema", pointer, `the schema is left out: ${problem}`);
  return undefined;
}

class Converter {
  readonly #references: References;
  readonly #findings: Findings;
  readonly #direction: Direction;
  /** Names in `$defs` of what leads back to itself. */
  readonly #names = new Map<string, string>();
  /** References that are being written out. */
  readonly #open: string[] = [];
  #schemas = 0;

  constructor({ references, findings }: SchemaSource, direction: Direction) {
    this.#references = references;
    this.#findings = findings;
    this.#direction = direction;
  }

  get isTooLarge(): boolean {
    return this.#schemas > MAX_SCHEMAS;
  }

  whole(schema: unknown, pointer: string): JsonSchema {
    const root = asObject(this.#schema(schema, pointer, 1));
    const defs: { [name: string]: Json } = {};
    const done = new Set<string>();
    for (let at = this.#next(done); at !== undefined; at = this.#next(done)) {
      done.add(at);
      this.#open.push(at);
      const target = this.#references.target(`#${at}`, at);
      defs[this.#names.get(at) as string] = this.#schema(target?.value, at, 3);
      this.#open.pop();
    }
    return done.size === 0 ? root : { ...root, $defs: defs };
  }

  #next(done: ReadonlySet<string>): string | undefined {
    return this.isTooLarge ? undefined : [...this.#names.keys()].find((at) => !done.has(at));
  }

  #schema(schema: unknown, pointer: string, depth: number): JsonSchema | boolean {
    this.#schemas += 1;
    if (this.isTooLarge) return {};
    if (typeof schema === "boolean") return schema;
    if (!isObject(schema)) {
      this.#findings.warn("openapi_schema", pointer, "is no schema");
      return {};
    }
    if (depth > MAX_DEPTH) {
      this.#findings.warn("openapi_schema", pointer, `is deeper than ${MAX_DEPTH} schemas`);
      return {};
    }
    return schema["$ref"] === undefined
      ? this.#plain(schema, pointer, depth)
      : this.#reference(schema, pointer, depth);
  }

  #reference(schema: Unknown, pointer: string, depth: number): JsonSchema | boolean {
    const target = this.#references.target(schema["$ref"], pointer);
    if (target === undefined) return {};
    const known = this.#names.get(target.pointer);
    if (known !== undefined || this.#open.includes(target.pointer)) {
      return { $ref: `#/$defs/${known ?? this.#name(target.pointer)}` };
    }
    this.#open.push(target.pointer);
    const made = this.#schema(target.value, target.pointer, depth);
    this.#open.pop();
    return made;
  }

  #name(pointer: string): string {
    const last = pointer.split("/").at(-1) ?? "";
    const base = last.replace(/[^A-Za-z0-9_]/g, "_").slice(0, 60) || "schema";
    const taken = new Set(this.#names.values());
    let name = base;
    for (let n = 2; taken.has(name); n += 1) name = `${base}_${n}`;
    this.#names.set(pointer, name);
    return name;
  }

  #plain(schema: Unknown, pointer: string, depth: number): JsonSchema {
    const made: { [word: string]: Json } = {};
    const inner = (value: unknown, ...keys: (string | number)[]): JsonSchema | boolean =>
      this.#schema(value, pointer + keys.map(pointerSegment).join(""), depth + 1);
    for (const [word, value] of Object.entries(schema)) {
      if (COPIED.has(word)) made[word] = value as Json;
      else if (LOST.has(word)) {
        this.#findings.warn("openapi_schema", pointer, `\`${word}\` is not supported and left out`);
      } else if (word === "items" || word === "not") made[word] = inner(value, word);
      else if (word === "allOf" || word === "anyOf" || word === "oneOf" || word === "prefixItems") {
        const list = listOf(value).map((one, at) => inner(one, word, at));
        if (list.length > 0) made[word] = list;
      } else if (word === "additionalProperties") {
        made[word] = typeof value === "boolean" ? value : inner(value, word);
      } else if (word === "enum" && listOf(value).length > 0) made[word] = value as Json;
      else if (word === "const") made[word] = value as Json;
      else if (word === "default" && typeof value !== "object") made[word] = value as Json;
    }
    const description = textOf(schema["description"], MAX_DESCRIPTION);
    if (description !== undefined) made["description"] = description;
    const types = [schema["type"]].flat().filter((type) => TYPES.has(type)) as string[];
    if (types.length > 0) made["type"] = types.length === 1 ? (types[0] as string) : types;
    Object.assign(made, this.#members(schema, inner), bounds(schema));
    return schema["nullable"] === true ? withNull(made) : made;
  }

  #members(
    schema: Unknown,
    inner: (value: unknown, ...keys: string[]) => JsonSchema | boolean,
  ): JsonObject {
    if (!isObject(schema["properties"])) {
      const required = textsOf(schema["required"]);
      return required.length === 0 ? {} : { required };
    }
    const hidden = this.#direction === "request" ? "readOnly" : "writeOnly";
    const kept = membersOf(schema["properties"]).filter(
      ([, property]) => !isObject(property) || property[hidden] !== true,
    );
    const gone = new Set(Object.keys(schema["properties"]));
    for (const [name] of kept) gone.delete(name);
    const required = textsOf(schema["required"]).filter((name) => !gone.has(name));
    const properties = kept.map(([name, property]) => [name, inner(property, "properties", name)]);
    return {
      properties: Object.fromEntries(properties),
      ...(required.length > 0 && { required }),
    };
  }
}

/** 3.0 says with a flag what 2020-12 says with a number. */
function bounds(schema: Unknown): JsonObject {
  const made: { [word: string]: Json | undefined } = {};
  for (const [word, plain] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    const value = schema[word];
    if (typeof value === "number") made[word] = value;
    if (value !== true || typeof schema[plain] !== "number") continue;
    made[word] = schema[plain];
    made[plain] = undefined;
  }
  return made;
}

/** `nullable` of 3.0 as what 2020-12 says. */
function withNull(schema: JsonSchema): JsonSchema {
  const { type, enum: choices } = schema;
  const isPlain =
    type !== undefined && !("allOf" in schema || "anyOf" in schema || "oneOf" in schema);
  if (!isPlain) return { anyOf: [schema, { type: "null" }] };
  const types = [...new Set([type, "null"].flat())] as string[];
  const values = Array.isArray(choices) ? { enum: [...new Set([...choices, null])] } : {};
  return { ...schema, type: types, ...values };
}

function textsOf(value: unknown): string[] {
  return listOf(value).filter((one) => typeof one === "string");
}

function asObject(schema: JsonSchema | boolean): JsonSchema {
  return schema === false ? { not: {} } : schema === true ? {} : schema;
}
