/**
 * The one JSON Schema checker of the project: a subset of 2020-12, no `eval`, linear time in `pattern`, a bound on the
 * number of checks.
 */
import { type JsonSchema, MAX_JSON_DEPTH } from "@millrace/contracts/json";
import { pointerSegment } from "@millrace/contracts/kit";
import { countMembers } from "../data.ts";
import { codePointCount } from "../expression/data.ts";
import { acceptor } from "./accept.ts";
import { readSchema, type SchemaNode, type SchemaProblem } from "./compile.ts";
import { equalityKey, hasFormat, hasType, typeName } from "./json-kinds.ts";
import { MAX_PATTERN_STEPS, type PatternBudget } from "./pattern.ts";

/** A schema that is ready, or every problem with it. */
export type CompiledSchema =
  | {
      readonly ok: true;
      /** Every problem of a value, at most `MAX_PROBLEMS`; none: the value fits. Never throws, never changes the value. */
      check(value: unknown): readonly SchemaProblem[];
    }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Which rule a value broke, beside the place and the sentence. */
export interface SchemaFinding extends SchemaProblem, FindingParts {
  readonly rule: "type" | "limit" | "choice" | "required" | "unknown" | "format" | "budget";
  /** The invalid value. */
  readonly value: unknown;
}

/** The parts of the sentence of a finding. */
interface FindingParts {
  /** The name of the missing or unknown member. */
  readonly member?: string;
  /** The expectation, where the sentence says `must be`: types, a bound. */
  readonly expected?: string;
  /** JSON of the values that are allowed, the first of them; `isCut`: there are more. */
  readonly choices?: readonly string[];
  readonly isCut?: boolean;
  readonly format?: string;
}

/** Stands for a value that is not known yet: it satisfies everything. */
export const UNKNOWN: unique symbol = Symbol("unknown");

/** How a value is checked. */
export interface CheckOptions {
  /** Whether `format` counts; it is a note otherwise. */
  readonly formats?: boolean;
  /** Maps a value, a member or an element to the one to check, `UNKNOWN` included; default: itself. */
  readonly read?: (value: unknown) => unknown;
}

/** A schema that is ready, with what each finding broke. */
export type CheckableSchema =
  | {
      readonly ok: true;
      findings(value: unknown, options?: CheckOptions): readonly SchemaFinding[];
    }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Most problems that one check lists. */
const MAX_PROBLEMS = 100;
/** Checks that every value may cost, and how many more for each member it holds: alternatives in alternatives multiply. */
const MAX_CHECKS = 10_000;
const CHECKS_PER_MEMBER = 100;
/** Deepest chain of schemas applied one inside the other, values of `MAX_JSON_DEPTH` levels with a few schemas each. */
const MAX_APPLIED = MAX_JSON_DEPTH * 8;

/**
 * Compiles a JSON Schema: `type enum const properties required additionalProperties items prefixItems minItems maxItems
 * uniqueItems minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf anyOf oneOf allOf
 * not $defs $ref` (`#`, `#/$defs/…`). Other assertions are problems, and so are patterns that need backtracking, schemas
 * over 64 KiB and over 32 levels. Never throws.
 */
export function compileSchema(schema: JsonSchema): CompiledSchema {
  const read = readSchema(schema);
  if ("problems" in read) return { ok: false, problems: read.problems };
  const { node } = read;
  const findings = findingsOf(node);
  const accepts = acceptor(node);
  return {
    ok: true,
    check: (value) =>
      accepts?.(value) === true
        ? NO_FINDINGS
        : findings(value).map(({ pointer, message }) => ({ pointer, message })),
  };
}

/** Like `compileSchema`, with the broken rule and its parts in each finding. */
export function checkableSchema(schema: unknown): CheckableSchema {
  const read = readSchema(schema);
  if ("problems" in read) return { ok: false, problems: read.problems };
  return { ok: true, findings: findingsOf(read.node) };
}

function findingsOf(
  node: SchemaNode,
): (value: unknown, options?: CheckOptions) => readonly SchemaFinding[] {
  const isAny = Object.keys(node).length === 0;
  return (value, options = NO_OPTIONS) => (isAny ? NO_FINDINGS : check(node, value, options));
}

const NO_OPTIONS: CheckOptions = {};
const NO_FINDINGS: readonly SchemaFinding[] = [];

function check(node: SchemaNode, value: unknown, options: CheckOptions): readonly SchemaFinding[] {
  const whole = (message: string): SchemaFinding[] => [
    { pointer: "", message, rule: "budget", value },
  ];
  const members = countMembers(value);
  if (members === undefined) return whole(`nested deeper than ${MAX_JSON_DEPTH} levels`);
  const checker = new Checker(MAX_CHECKS + members * CHECKS_PER_MEMBER, options);
  const found: SchemaFinding[] = [];
  checker.apply(node, value, "", found);
  if (checker.spent) return whole("needs too many checks; simplify the schema");
  return found.length > MAX_PROBLEMS ? found.slice(0, MAX_PROBLEMS) : found;
}

/** Notes a broken rule of the value at hand. */
type Say = (rule: SchemaFinding["rule"], message: string, parts?: FindingParts) => void;

/** Notes that the value must be something that it is not. */
function must(say: Say, expected: string): void {
  say("limit", `must be ${expected}`, { expected });
}

class Checker {
  private left: number;
  private applied = 0;
  /** Budget of all patterns of one check together. */
  private readonly patterns: PatternBudget = { left: MAX_PATTERN_STEPS };
  private readonly formats: boolean;
  private readonly read: (value: unknown) => unknown;

  constructor(checks: number, { formats = false, read = (value) => value }: CheckOptions) {
    this.left = checks;
    this.formats = formats;
    this.read = read;
  }

  /** The bound was reached; what was found is not complete. */
  get spent(): boolean {
    return this.left < 0;
  }

  /** Checks a value that was not read yet. */
  apply(node: SchemaNode, given: unknown, pointer: string, found: SchemaFinding[]): void {
    const value = this.read(given);
    if (value !== UNKNOWN) this.same(node, value, pointer, found);
  }

  /** Checks a value against one more schema. */
  private same(node: SchemaNode, value: unknown, pointer: string, found: SchemaFinding[]): void {
    this.left -= 1;
    if (this.applied >= MAX_APPLIED) this.left = -1;
    if (this.left < 0) return;
    this.applied += 1;
    this.rules(node, value, pointer, found);
    this.applied -= 1;
  }

  private rules(node: SchemaNode, value: unknown, pointer: string, found: SchemaFinding[]): void {
    const say: Say = (rule, message, parts) => {
      found.push({ pointer, message, rule, value, ...parts });
    };
    if (node.never) {
      say("unknown", "is not allowed");
      return;
    }
    if (node.types !== undefined && !node.types.some((type) => hasType(value, type))) {
      mistyped(node.types, value, say);
      return;
    }
    if (node.allowed !== undefined) {
      const key = equalityKey(value, this.read);
      if (key !== undefined && !node.allowed.has(key)) {
        const choices = [...node.allowed].slice(0, MAX_SHOWN);
        const isCut = node.allowed.size > MAX_SHOWN;
        const list = choices.join(", ") + (isCut ? ", …" : "");
        say("choice", `must be one of ${list}`, { choices, isCut });
      }
    }
    if (typeof value === "string") this.text(node, value, say);
    else if (typeof value === "number") checkNumber(node, value, say);
    else if (Array.isArray(value)) this.list(node, value, pointer, found, say);
    else if (typeof value === "object" && value !== null) this.object(node, value, pointer, found);
    if (node.combines) this.combined(node, value, pointer, found, say);
  }

  private text(node: SchemaNode, value: string, say: Say): void {
    const { minLength = 0, maxLength = Infinity, pattern, format } = node;
    if (minLength > 0 || maxLength < Infinity) {
      const length = codePointCount(value);
      if (length < minLength) say("limit", `must have at least ${minLength} characters`);
      if (length > maxLength) say("limit", `must have at most ${maxLength} characters`);
    }
    if (pattern !== undefined && !pattern.test(value, this.patterns)) {
      if (this.patterns.left < 0) this.left = -1;
      say("limit", `must match ${pattern.source}`);
    }
    if (this.formats && format !== undefined && !hasFormat(format, value)) {
      say("format", `must be a ${format}`, { format });
    }
  }

  private list(
    node: SchemaNode,
    value: readonly unknown[],
    pointer: string,
    found: SchemaFinding[],
    say: Say,
  ): void {
    const { prefixItems = [], items, minItems = 0, maxItems = Infinity } = node;
    if (value.length < minItems) say("limit", `must have at least ${minItems} elements`);
    if (value.length > maxItems) say("limit", `must have at most ${maxItems} elements`);
    if (node.uniqueItems) {
      const keys = value.map((it) => equalityKey(this.read(it), this.read));
      const known = keys.filter((key) => key !== undefined);
      if (new Set(known).size < known.length) say("limit", "must not hold an element twice");
    }
    for (let i = 0; i < value.length && !this.full(found); i += 1) {
      const schema = prefixItems[i] ?? items;
      if (schema !== undefined) this.apply(schema, value[i], `${pointer}/${i}`, found);
    }
  }

  private object(node: SchemaNode, value: object, pointer: string, found: SchemaFinding[]): void {
    const members = value as { readonly [key: string]: unknown };
    for (const member of node.required ?? []) {
      if (!Object.hasOwn(members, member) || members[member] === undefined) {
        const message = `needs the member ${JSON.stringify(member)}`;
        found.push({ pointer, message, rule: "required", value, member });
      }
    }
    const { properties, additionalProperties: additional } = node;
    if (properties === undefined && additional === undefined) return;
    for (const member of Object.keys(members)) {
      const inner = members[member];
      if (inner === undefined) continue;
      if (this.full(found)) return;
      const schema = properties?.get(member) ?? additional;
      const at = pointer + pointerSegment(member);
      if (schema === additional && additional?.never) {
        const message = `has no member ${JSON.stringify(member)}`;
        found.push({ pointer: at, message, rule: "unknown", value: inner, member });
      } else if (schema !== undefined) this.apply(schema, inner, at, found);
    }
  }

  private combined(
    node: SchemaNode,
    value: unknown,
    pointer: string,
    found: SchemaFinding[],
    say: Say,
  ): void {
    const attempt = (part: SchemaNode): SchemaFinding[] => {
      const problems: SchemaFinding[] = [];
      this.same(part, value, pointer, problems);
      return problems;
    };
    if (node.ref !== undefined) this.same(node.ref, value, pointer, found);
    for (const part of node.allOf ?? []) this.same(part, value, pointer, found);
    for (const nodes of [node.anyOf, node.oneOf]) {
      if (nodes === undefined) continue;
      const tries = nodes.map(attempt);
      const fitting = tries.filter((problems) => problems.length === 0).length;
      if (fitting === 0) closest(nodes, tries, value, pointer, found, say);
      if (fitting > 1 && nodes === node.oneOf) say("limit", "fits several alternatives, not one");
    }
    if (node.not !== undefined && attempt(node.not).length === 0) {
      say("limit", "is of a kind that is excluded");
    }
  }

  private full(found: readonly SchemaFinding[]): boolean {
    return found.length >= MAX_PROBLEMS || this.left < 0;
  }
}

/** When no alternative fits, the problems of the one that comes closest are the value's. */
function closest(
  nodes: readonly SchemaNode[],
  tries: readonly SchemaFinding[][],
  value: unknown,
  pointer: string,
  found: SchemaFinding[],
  say: Say,
): void {
  const close = tries.filter(
    (problems) => !problems.some((it) => it.pointer === pointer && it.rule === "type"),
  );
  const [only, ...others] = close;
  if (only === undefined) {
    mistyped([...new Set(nodes.flatMap(typesOf))], value, say);
  } else if (others.length > 0) say("limit", `fits none of ${nodes.length} alternatives`);
  else for (const problem of only) found.push(problem);
}

function mistyped(types: readonly string[], value: unknown, say: Say): void {
  const expected = types.join(" or ");
  say("type", `must be ${expected}, found ${typeName(value)}`, { expected });
}

/** How many allowed values a message lists. */
const MAX_SHOWN = 12;

function checkNumber(node: SchemaNode, value: number, say: Say): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (minimum !== undefined && value < minimum) must(say, `at least ${minimum}`);
  if (maximum !== undefined && value > maximum) must(say, `at most ${maximum}`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    must(say, `above ${exclusiveMinimum}`);
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    must(say, `below ${exclusiveMaximum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    must(say, `a multiple of ${multipleOf}`);
  }
}

/** Decimal fractions are not exact in binary: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 4;
}

function typesOf(node: SchemaNode): readonly string[] {
  if (node.types !== undefined) return node.types;
  const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  return inner.flatMap((part) => part.types ?? []);
}
