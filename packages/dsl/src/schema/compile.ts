/**
 * Reads a JSON Schema (2020-12) into a form that can be checked. Assertions outside of the subset are refused, so that no
 * rule of an author is ever silently left out; annotations are skipped.
 */
import { MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { pointerSegment } from "@millrace/contracts/kit";
import { countMembers, isObject, own } from "../data.ts";
import { equalityKey } from "./json-kinds.ts";
import type { PatternBudget } from "./pattern.ts";
import { compilePattern, type Pattern } from "./pattern.ts";

/** Longest schema as compact JSON, in UTF-16 units; it travels in requests to models. */
const MAX_SCHEMA_LENGTH = 65_536;
/** Deepest nesting of schemas in schemas. */
const MAX_SCHEMA_DEPTH = 32;

/** A problem at a place; `message` names types and limits, never values. */
export interface SchemaProblem {
  /** JSON Pointer: into the value for a check, into the schema for a schema that is refused. */
  readonly pointer: string;
  readonly message: string;
}

/** One schema, ready to be checked. Absent members do not restrict. */
export interface SchemaNode {
  never?: true;
  types?: readonly string[];
  allowed?: ReadonlySet<string>;
  properties?: ReadonlyMap<string, SchemaNode>;
  required?: readonly string[];
  additionalProperties?: SchemaNode;
  prefixItems?: readonly SchemaNode[];
  items?: SchemaNode;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: true;
  minLength?: number;
  maxLength?: number;
  pattern?: { readonly source: string; test(text: string, budget: PatternBudget): boolean };
  format?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  allOf?: readonly SchemaNode[];
  anyOf?: readonly SchemaNode[];
  oneOf?: readonly SchemaNode[];
  not?: SchemaNode;
  ref?: SchemaNode;
  /** Other schemas are applied to the same value. */
  combines?: true;
}

const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];

const SCHEMAS = ["additionalProperties", "items", "not"] as const;
const LISTS = ["prefixItems", "allOf", "anyOf", "oneOf"] as const;
/** Words whose value is kept as it is, with what it must be. */
const VALUES: {
  readonly [word: string]: readonly [is: (value: unknown) => boolean, must: string];
} = {
  ...words("minItems maxItems minLength maxLength", isCount, "a whole number from 0"),
  ...words("minimum maximum exclusiveMinimum exclusiveMaximum", Number.isFinite, "a number"),
  ...words("multipleOf", (value) => isNumber(value) && value > 0, "a number above 0"),
  ...words("required", isTextList, "a list of names"),
};

function words<T>(
  list: string,
  is: T,
  must: string,
): { readonly [word: string]: readonly [T, string] } {
  return Object.fromEntries(list.split(" ").map((word) => [word, [is, must]]));
}

/** Assertions of the standard that the subset has not. */
const REFUSED: ReadonlySet<string> = new Set(
  "$anchor $dynamicAnchor $dynamicRef $recursiveRef additionalItems contains contentEncoding contentMediaType contentSchema definitions dependencies dependentRequired dependentSchemas else if maxContains maxProperties minContains minProperties patternProperties propertyNames then unevaluatedItems unevaluatedProperties".split(
    " ",
  ),
);

/** The schema in checkable form, or every problem with it. */
export function readSchema(
  schema: unknown,
): { readonly node: SchemaNode } | { readonly problems: readonly SchemaProblem[] } {
  if (!isObject(schema)) return { problems: [{ pointer: "", message: "must be an object" }] };
  const problems = tooLarge(schema);
  if (problems !== undefined) return { problems: [problems] };
  const reader = new SchemaReader(schema);
  const node = reader.read();
  return reader.problems.length > 0 ? { problems: reader.problems } : { node };
}

function tooLarge(schema: object): SchemaProblem | undefined {
  if (countMembers(schema) === undefined) {
    return { pointer: "", message: `nested deeper than ${MAX_JSON_DEPTH} levels` };
  }
  return JSON.stringify(schema).length > MAX_SCHEMA_LENGTH
    ? { pointer: "", message: `longer than ${MAX_SCHEMA_LENGTH} characters` }
    : undefined;
}

class SchemaReader {
  readonly problems: SchemaProblem[] = [];
  private readonly root: unknown;
  private readonly nodes = new Map<string, SchemaNode>();
  private readonly references: { node: SchemaNode; target: string; pointer: string }[] = [];

  constructor(root: unknown) {
    this.root = root;
  }

  read(): SchemaNode {
    const node = this.schema(this.root, "", 1);
    for (const { node: from, target, pointer } of this.references) {
      const found = this.nodes.get(target);
      if (found === undefined) this.problem(`${pointer}/$ref`, "refers to nothing");
      else from.ref = found;
    }
    for (const one of this.nodes.values()) if (sameValue(one).length > 0) one.combines = true;
    if (this.problems.length === 0) this.refuseCircles();
    return node;
  }

  private schema(schema: unknown, pointer: string, depth: number): SchemaNode {
    const node: SchemaNode = {};
    this.nodes.set(pointer, node);
    if (schema === false) node.never = true;
    else if (depth > MAX_SCHEMA_DEPTH) {
      this.problem(pointer, `schemas nested deeper than ${MAX_SCHEMA_DEPTH} levels`);
    } else if (isObject(schema)) {
      for (const [word, value] of Object.entries(schema)) {
        if (value !== undefined)
          this.word(node, word, value, `${pointer}${pointerSegment(word)}`, depth);
      }
      this.reference(node, own(schema, "$ref"), pointer);
    } else if (schema !== true) this.problem(pointer, "must be an object, true or false");
    return node;
  }

  private word(node: SchemaNode, word: string, value: unknown, at: string, depth: number): void {
    const inner = (schema: unknown, key?: string | number): SchemaNode =>
      this.schema(schema, key === undefined ? at : at + pointerSegment(key), depth + 1);
    if (isOneOf(SCHEMAS, word)) node[word] = inner(value);
    else if (isOneOf(LISTS, word)) {
      if (Array.isArray(value) && value.length > 0) node[word] = value.map(inner);
      else this.problem(at, "must be a list of schemas");
    } else if (Object.hasOwn(VALUES, word)) {
      const [is, must] = VALUES[word] as (typeof VALUES)[string];
      if (is(value)) Object.assign(node, { [word]: value });
      else this.problem(at, `must be ${must}`);
    } else this.single(node, word, value, at, inner);
  }

  /** The words that are like no other. */
  private single(
    node: SchemaNode,
    word: string,
    value: unknown,
    at: string,
    inner: (schema: unknown, key: string) => SchemaNode,
  ): void {
    switch (word) {
      case "type":
        node.types = this.types(value, at);
        return;
      case "enum":
        if (Array.isArray(value) && value.length > 0) this.allow(node, value);
        else this.problem(at, "must be a list of values");
        return;
      case "const":
        this.allow(node, [value]);
        return;
      case "properties":
      case "$defs":
        if (isObject(value)) {
          const schemas = Object.entries(value).map(([key, it]) => [key, inner(it, key)] as const);
          if (word === "properties") node.properties = new Map(schemas);
        } else this.problem(at, "must be an object of schemas");
        return;
      case "uniqueItems":
        if (typeof value !== "boolean") this.problem(at, "must be true or false");
        else if (value) node.uniqueItems = true;
        return;
      case "pattern":
        this.pattern(node, value, at);
        return;
      case "format":
        if (typeof value === "string") node.format = value;
        return;
      default:
        // Every key is a string; generators of schemas say so all the same.
        if (word === "propertyNames" && equalityKey(value) === '{"type":"string"}') return;
        if (REFUSED.has(word)) this.problem(at, `\`${word}\` is not supported`);
    }
  }

  private types(value: unknown, at: string): readonly string[] {
    const types = typeof value === "string" ? [value] : value;
    if (isTextList(types) && types.length > 0) {
      const unknown = types.find((type) => !TYPES.includes(type));
      if (unknown === undefined) return types;
    }
    this.problem(at, `must be one or several of ${TYPES.join(" ")}`);
    return TYPES;
  }

  private allow(node: SchemaNode, values: readonly unknown[]): void {
    const keys = values.map((value) => equalityKey(value) ?? "");
    node.allowed = new Set(
      node.allowed === undefined ? keys : keys.filter((key) => node.allowed?.has(key)),
    );
  }

  private pattern(node: SchemaNode, value: unknown, at: string): void {
    const pattern: Pattern =
      typeof value === "string"
        ? compilePattern(value)
        : { ok: false, problem: "it must be a string" };
    if (pattern.ok) node.pattern = { source: String(value), test: pattern.test };
    else this.problem(at, `pattern is refused: ${pattern.problem}`);
  }

  private reference(node: SchemaNode, target: unknown, pointer: string): void {
    if (target === undefined) return;
    if (typeof target !== "string" || !(target === "#" || target.startsWith("#/$defs/"))) {
      this.problem(`${pointer}/$ref`, "must be `#` or start with `#/$defs/`");
      return;
    }
    this.references.push({ node, target: decode(target.slice(1)), pointer });
  }

  /** A schema that leads back to itself without going into a member would never end. */
  private refuseCircles(): void {
    const nodes = [...this.nodes.values()];
    const uses = new Map<SchemaNode, number>(nodes.map((node) => [node, 0]));
    for (const node of nodes) {
      for (const next of sameValue(node)) uses.set(next, (uses.get(next) ?? 0) + 1);
    }
    const open = nodes.filter((node) => uses.get(node) === 0);
    let left = nodes.length - open.length;
    for (let node = open.pop(); node !== undefined; node = open.pop()) {
      for (const next of sameValue(node)) {
        const count = (uses.get(next) ?? 0) - 1;
        uses.set(next, count);
        if (count === 0) {
          left -= 1;
          open.push(next);
        }
      }
    }
    if (left > 0) this.problem("", "a `$ref` leads back to itself");
  }

  private problem(pointer: string, message: string): void {
    this.problems.push({ pointer, message });
  }
}

/** The schemas that a schema applies to the very same value. */
function sameValue(node: SchemaNode): SchemaNode[] {
  const { ref, not, allOf = [], anyOf = [], oneOf = [] } = node;
  return [...allOf, ...anyOf, ...oneOf, ...(ref ? [ref] : []), ...(not ? [not] : [])];
}

function isNumber(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value);
}

function isCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isTextList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((it) => typeof it === "string");
}

function isOneOf<T extends string>(words: readonly T[], word: string): word is T {
  return (words as readonly string[]).includes(word);
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
