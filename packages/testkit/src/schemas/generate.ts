/**
 * Values that a JSON Schema allows, from a seed.
 *   G1  The same seed gives the same values.
 *   G2  Every returned value fits its schema: wrong guesses are dropped.
 */

import type { Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { pointerKey } from "@millrace/contracts/kit";
import { schemaProblems } from "@millrace/engine/pack";
import type { Random } from "@millrace/engine/testing";

/** Guesses per value that is wanted: patterns and rules between members make many of them miss. */
const GUESSES = 4;
const MAX_DEPTH = 8; // of a schema that holds itself
const MORE_ITEMS = 3; // beyond the fewest that a list may have

/** At most `count` values; fewer, or none, where a schema asks for what cannot be guessed, such as an odd pattern. */
export function generateValues(
  schema: JsonSchema,
  { random, count }: { readonly random: Random; readonly count: number },
): readonly Json[] {
  const values: Json[] = [];
  const from = new Generator(schema, random);
  for (let guess = 0; guess < count * GUESSES && values.length < count; guess += 1) {
    const value = from.value(schema, 0);
    if (value !== undefined && schemaProblems(schema, value).length === 0) values.push(value);
  }
  return values;
}

interface Shape {
  readonly [keyword: string]: unknown;
  readonly type?: string | readonly string[];
  readonly enum?: readonly Json[];
  readonly anyOf?: readonly Rule[];
  readonly oneOf?: readonly Rule[];
  readonly allOf?: readonly Rule[];
  readonly properties?: { readonly [name: string]: Rule };
  readonly required?: readonly string[];
  readonly additionalProperties?: Rule;
  readonly items?: Rule;
  readonly prefixItems?: readonly Rule[];
}

type Rule = Shape | boolean;

/** Texts that break code which expects plain words. */
const TEXTS = [
  "a",
  "Oslo",
  "",
  "é ü",
  "a/b?c#d",
  "__proto__",
  "a\u2028b",
  "😀",
  "0",
  "-",
  "A1",
  "a-b",
];

const FORMATS: { readonly [format: string]: readonly string[] } = {
  "date-time": ["2026-02-28T23:59:59Z", "2024-02-29T00:00:00.5+02:00"],
  date: ["2026-02-28", "2024-02-29"],
  time: ["23:59:59Z", "00:00:00"],
  duration: ["PT5M", "P1DT2H"],
  email: ["ann@example.com"],
  uri: ["https://api.example/v1?q=a%20b"],
  uuid: ["3f2b8a54-6c1d-4e9f-8a7b-0c1d2e3f4a5b"],
  ipv4: ["192.0.2.1"],
  ipv6: ["2001:db8::1"],
  hostname: ["api.example"],
};

/** Candidates for a pattern. */
const GUESSED: readonly string[] = [...TEXTS, ...Object.values(FORMATS).flat()];

const ANY: readonly Json[] = [null, true, 0, -1.5, "a", [], {}, [1, "a"], { a: null }];

class Generator {
  readonly #root: JsonSchema;
  readonly #random: Random;

  constructor(root: JsonSchema, random: Random) {
    this.#root = root;
    this.#random = random;
  }

  /** Undefined: nothing comes to mind. */
  value(rule: Rule, depth: number): Json | undefined {
    if (rule === false || depth > MAX_DEPTH) return undefined;
    if (rule === true) return this.#random.pick(ANY);
    const shape = this.#flat(rule, depth);
    if (shape === undefined) return undefined;
    if ("const" in shape) return shape["const"] as Json;
    if (shape.enum !== undefined) return this.#random.pick(shape.enum);
    switch (this.#typeOf(shape)) {
      case "null":
        return null;
      case "boolean":
        return this.#random.chance(0.5);
      case "integer":
        return this.#number(shape, 1);
      case "number":
        return this.#number(shape, 0.25);
      case "string":
        return this.#text(shape);
      case "array":
        return this.#list(shape, depth);
      case "object":
        return this.#record(shape, depth);
      default:
        return this.#random.pick(ANY);
    }
  }

  /** One shape out of references and of what must or may hold besides. */
  #flat(rule: Shape, depth: number): Shape | undefined {
    const { $ref, anyOf, oneOf, allOf, ...rest } = rule;
    const more: Rule[] = [...(allOf ?? [])];
    if (typeof $ref === "string") more.push(this.#at($ref));
    for (const choices of [anyOf, oneOf]) if (choices) more.push(this.#random.pick(choices));
    if (more.length === 0) return rule;
    let merged: Shape = rest;
    for (const each of more) {
      if (each === false || depth > MAX_DEPTH) return undefined;
      const next = each === true ? {} : this.#flat(each, depth + 1);
      if (next === undefined) return undefined;
      merged = joined(merged, next);
    }
    return merged;
  }

  #at(ref: string): Rule {
    let at: unknown = this.#root;
    for (const part of ref.replace(/^#\/?/, "").split("/").filter(Boolean)) {
      const name = pointerKey(decodeURIComponent(part));
      at = (at as { readonly [name: string]: unknown } | undefined)?.[name];
    }
    return (at ?? false) as Rule;
  }

  #typeOf({ type, ...shape }: Shape): string | undefined {
    if (typeof type === "string") return type;
    if (type !== undefined) return this.#random.pick(type);
    return KEYWORDS.find(([keyword]) => keyword in shape)?.[1];
  }

  #number(shape: Shape, step: number): number | undefined {
    const given = (name: string): number | undefined =>
      typeof shape[name] === "number" ? shape[name] : undefined;
    const by = given("multipleOf") ?? step;
    const above = given("exclusiveMinimum");
    const below = given("exclusiveMaximum");
    const low = given("minimum") ?? (above === undefined ? undefined : above + by);
    const high = given("maximum") ?? (below === undefined ? undefined : below - by);
    const least = Math.ceil((low ?? (high ?? 100) - 200) / by);
    const most = Math.floor((high ?? (low ?? -100) + 200) / by);
    if (most < least) return undefined;
    const edge = this.#random.chance(0.25);
    const at = edge ? this.#random.pick([least, most]) : this.#random.integer(least, most);
    return at * by + 0; // no -0, which JSON does not have
  }

  #text(shape: Shape): string | undefined {
    const {
      minLength = 0,
      maxLength = minLength + 20,
      format,
      pattern,
    } = shape as {
      readonly minLength?: number;
      readonly maxLength?: number;
      readonly format?: string;
      readonly pattern?: string;
    };
    const isFree = format === undefined && pattern === undefined;
    if (isFree) return this.#random.pick(TEXTS).padEnd(minLength, "x").slice(0, maxLength);
    // A format that is not known is a rule of the code alone: no text that is made up keeps it.
    const known = format === undefined ? GUESSED : (FORMATS[format] ?? []);
    const rule: JsonSchema = pattern === undefined ? {} : { pattern };
    const fits = known.filter((text) => schemaProblems(rule, text).length === 0);
    return fits.length === 0 ? undefined : this.#random.pick(fits);
  }

  #list(shape: Shape, depth: number): Json | undefined {
    const {
      minItems = 0,
      maxItems,
      uniqueItems,
    } = shape as {
      readonly minItems?: number;
      readonly maxItems?: number;
      readonly uniqueItems?: boolean;
    };
    const most = Math.min(maxItems ?? Number.POSITIVE_INFINITY, minItems + MORE_ITEMS);
    const first = shape.prefixItems ?? [];
    const length = Math.max(this.#random.integer(minItems, most), first.length);
    const items: Json[] = [];
    for (let at = 0; at < length; at += 1) {
      const item = this.value(first[at] ?? shape.items ?? true, depth + 1);
      if (item === undefined) break;
      const isThere = items.some((each) => JSON.stringify(each) === JSON.stringify(item));
      if (uniqueItems !== true || !isThere) items.push(item);
    }
    return items;
  }

  #record(shape: Shape, depth: number): JsonObject | undefined {
    const { properties = {}, required = [], additionalProperties } = shape;
    const record: { [name: string]: Json } = {};
    const names = new Set([...required, ...Object.keys(properties)]);
    const isMap = names.size === 0 && typeof additionalProperties === "object";
    if (isMap) for (const name of TEXTS.filter(() => this.#random.chance(0.2))) names.add(name);
    for (const name of names) {
      const isNeeded = required.includes(name);
      if (!isNeeded && !isMap && this.#random.chance(0.5)) continue;
      const rule = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      const value = this.value(rule ?? true, depth + 1);
      if (value === undefined && isNeeded) return undefined;
      // `__proto__` as a name like any other.
      if (value !== undefined) Object.defineProperty(record, name, { value, ...OWN });
    }
    return record;
  }
}

const OWN = { enumerable: true, configurable: true, writable: true };

/** The type of a schema without `type`, from its keywords. */
const KEYWORDS: readonly (readonly [keyword: string, type: string])[] = [
  ["properties", "object"],
  ["required", "object"],
  ["additionalProperties", "object"],
  ["items", "array"],
  ["prefixItems", "array"],
  ["minItems", "array"],
  ["minLength", "string"],
  ["maxLength", "string"],
  ["pattern", "string"],
  ["format", "string"],
  ["minimum", "number"],
  ["maximum", "number"],
  ["multipleOf", "number"],
];

/** Both shapes at once, as far as one shape can say it. */
function joined(a: Shape, b: Shape): Shape {
  return {
    ...a,
    ...b,
    ...((a.properties ?? b.properties) && { properties: { ...a.properties, ...b.properties } }),
    ...((a.required ?? b.required) && {
      required: [...(a.required ?? []), ...(b.required ?? [])],
    }),
  };
}
