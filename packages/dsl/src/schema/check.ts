/**
 * The one JSON Schema checker of the project: a subset of 2020-12, no `eval`, linear time in `pattern`, a bound on the
 * number of checks.
 */
import { type JsonSchema, MAX_JSON_DEPTH } from "@millrace/contracts";
import { step } from "../model/plain.ts";
import { readSchema, type SchemaNode, type SchemaProblem } from "./compile.ts";
import { hasFormat } from "./formats.ts";
import { equalityKey, hasType, typeName } from "./values.ts";

/** A schema that is ready, or every problem with it. */
export type CompiledSchema =
  | {
      readonly ok: true;
      /** Every problem of a value, at most `MAX_PROBLEMS`; none: the value fits. Never throws, never changes the value. */
      check(value: unknown): readonly SchemaProblem[];
    }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Which rule a value broke, beside the place and the sentence. */
export interface SchemaFinding extends SchemaProblem {
  readonly rule: "type" | "limit" | "choice" | "required" | "unknown" | "format" | "budget";
  /** The name of the missing or unknown member. */
  readonly member?: string;
}

/** How a value is checked. */
export interface CheckOptions {
  /** Whether `format` counts; it is a note otherwise. */
  readonly formats?: boolean;
  /** Values that are not known yet: they satisfy everything. */
  readonly unknown?: (value: unknown) => boolean;
}

/** A schema that is ready, with what each finding broke. */
export type CheckableSchema =
  | {
      readonly ok: true;
      findings(value: unknown, options?: CheckOptions): readonly SchemaFinding[];
    }
  | { readonly ok: false; readonly problems: readonly SchemaProblem[] };

/** Most problems that one check lists; nobody reads more. */
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
  const checkable = checkableSchema(schema);
  if (!checkable.ok) return checkable;
  return {
    ok: true,
    check: (value) =>
      checkable.findings(value).map(({ pointer, message }) => ({ pointer, message })),
  };
}

/** Like `compileSchema`, for those who must know which rule was broken. */
export function checkableSchema(schema: unknown): CheckableSchema {
  const read = readSchema(schema);
  if ("problems" in read) return { ok: false, problems: read.problems };
  return { ok: true, findings: (value, options = {}) => check(read.node, value, options) };
}

function check(node: SchemaNode, value: unknown, options: CheckOptions): readonly SchemaFinding[] {
  const members = countMembers(value);
  if (members === undefined) {
    return [
      { pointer: "", message: `nested deeper than ${MAX_JSON_DEPTH} levels`, rule: "budget" },
    ];
  }
  const checker = new Checker(MAX_CHECKS + members * CHECKS_PER_MEMBER, options);
  const found: SchemaFinding[] = [];
  checker.apply(node, value, "", found);
  if (checker.spent) {
    return [{ pointer: "", message: "needs too many checks; simplify the schema", rule: "budget" }];
  }
  return found.slice(0, MAX_PROBLEMS);
}

/** How many values a value holds; undefined when it is nested too deep. */
function countMembers(value: unknown): number | undefined {
  if (typeof value !== "object" || value === null) return 0;
  let count = 0;
  const open = [{ value: value as object, depth: 1 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > MAX_JSON_DEPTH) return undefined;
    for (const inner of Object.values(next.value)) {
      count += 1;
      if (typeof inner === "object" && inner !== null) {
        open.push({ value: inner, depth: next.depth + 1 });
      }
    }
  }
  return count;
}

class Checker {
  private left: number;
  private applied = 0;
  private readonly options: CheckOptions;

  constructor(checks: number, options: CheckOptions) {
    this.left = checks;
    this.options = options;
  }

  /** The bound was reached; what was found is not complete. */
  get spent(): boolean {
    return this.left < 0;
  }

  apply(node: SchemaNode, value: unknown, pointer: string, found: SchemaFinding[]): void {
    if (this.options.unknown?.(value)) return;
    this.left -= 1;
    if (this.applied >= MAX_APPLIED) this.left = -1;
    if (this.left < 0) return;
    this.applied += 1;
    this.rules(node, value, pointer, found);
    this.applied -= 1;
  }

  private rules(node: SchemaNode, value: unknown, pointer: string, found: SchemaFinding[]): void {
    if (node.never) {
      found.push({ pointer, message: "is not allowed", rule: "unknown" });
      return;
    }
    if (node.types !== undefined && !node.types.some((type) => hasType(value, type))) {
      const types = node.types.join(" or ");
      found.push({ pointer, message: `must be ${types}, found ${typeName(value)}`, rule: "type" });
      return;
    }
    if (node.allowed !== undefined && !node.allowed.has(equalityKey(value))) {
      found.push({ pointer, message: `must be one of ${node.allowedText}`, rule: "choice" });
    }
    if (typeof value === "string") this.text(node, value, pointer, found);
    else if (typeof value === "number") checkNumber(node, value, pointer, found);
    else if (Array.isArray(value)) this.list(node, value, pointer, found);
    else if (typeof value === "object" && value !== null) this.object(node, value, pointer, found);
    this.combined(node, value, pointer, found);
  }

  private text(node: SchemaNode, value: string, pointer: string, found: SchemaFinding[]): void {
    const { minLength = 0, maxLength = Infinity, pattern, format } = node;
    const limit = (message: string): void => void found.push({ pointer, message, rule: "limit" });
    if (minLength > 0 || maxLength < Infinity) {
      const length = codePoints(value);
      if (length < minLength) limit(`must have at least ${minLength} characters`);
      if (length > maxLength) limit(`must have at most ${maxLength} characters`);
    }
    if (pattern !== undefined && !pattern.test(value)) limit(`must match ${pattern.source}`);
    if (this.options.formats && format !== undefined && !hasFormat(format, value)) {
      found.push({ pointer, message: `must be a ${format}`, rule: "format" });
    }
  }

  private list(
    node: SchemaNode,
    value: readonly unknown[],
    pointer: string,
    found: SchemaFinding[],
  ): void {
    const { prefix = [], items, minItems = 0, maxItems = Infinity } = node;
    const limit = (message: string): void => void found.push({ pointer, message, rule: "limit" });
    if (value.length < minItems) limit(`must have at least ${minItems} elements`);
    if (value.length > maxItems) limit(`must have at most ${maxItems} elements`);
    if (node.uniqueItems && new Set(value.map(equalityKey)).size < value.length) {
      limit("must not hold an element twice");
    }
    for (let i = 0; i < value.length && !this.full(found); i += 1) {
      const schema = prefix[i] ?? items;
      if (schema !== undefined) this.apply(schema, value[i], `${pointer}/${i}`, found);
    }
  }

  private object(node: SchemaNode, value: object, pointer: string, found: SchemaFinding[]): void {
    const members = value as { readonly [key: string]: unknown };
    for (const member of node.required ?? []) {
      if (!Object.hasOwn(members, member) || members[member] === undefined) {
        const message = `needs the member ${JSON.stringify(member)}`;
        found.push({ pointer, message, rule: "required", member });
      }
    }
    const { properties, additional } = node;
    if (properties === undefined && additional === undefined) return;
    for (const member of Object.keys(members)) {
      if (members[member] === undefined) continue;
      if (this.full(found)) return;
      const schema = properties?.get(member) ?? additional;
      const at = pointer + step(member);
      if (schema === additional && additional?.never) {
        const message = `has no member ${JSON.stringify(member)}`;
        found.push({ pointer: at, message, rule: "unknown", member });
      } else if (schema !== undefined) this.apply(schema, members[member], at, found);
    }
  }

  private combined(
    node: SchemaNode,
    value: unknown,
    pointer: string,
    found: SchemaFinding[],
  ): void {
    if (node.ref !== undefined) this.apply(node.ref, value, pointer, found);
    for (const part of node.allOf ?? []) this.apply(part, value, pointer, found);
    if (node.anyOf !== undefined) this.alternatives(node.anyOf, value, pointer, found);
    if (node.oneOf !== undefined) {
      const fitting = this.alternatives(node.oneOf, value, pointer, found);
      if (fitting > 1) {
        found.push({ pointer, message: "fits several alternatives, not one", rule: "limit" });
      }
    }
    if (node.not !== undefined && this.try(node.not, value, pointer).length === 0) {
      found.push({ pointer, message: "is of a kind that is excluded", rule: "limit" });
    }
  }

  /** How many alternatives fit. When none does, the problems of the one that comes closest are the value's. */
  private alternatives(
    nodes: readonly SchemaNode[],
    value: unknown,
    pointer: string,
    found: SchemaFinding[],
  ): number {
    const tries = nodes.map((node) => this.try(node, value, pointer));
    const fitting = tries.filter((problems) => problems.length === 0).length;
    if (fitting > 0) return fitting;
    const close = tries.filter(
      (problems) => !problems.some((it) => it.pointer === pointer && it.rule === "type"),
    );
    if (close.length === 1) found.push(...(close[0] as SchemaFinding[]));
    else if (close.length > 1) {
      found.push({ pointer, message: `fits none of ${nodes.length} alternatives`, rule: "limit" });
    } else {
      const types = [...new Set(nodes.flatMap(typesOf))].join(" or ");
      found.push({ pointer, message: `must be ${types}, found ${typeName(value)}`, rule: "type" });
    }
    return 0;
  }

  private try(node: SchemaNode, value: unknown, pointer: string): SchemaFinding[] {
    const found: SchemaFinding[] = [];
    this.apply(node, value, pointer, found);
    return found;
  }

  private full(found: readonly SchemaFinding[]): boolean {
    return found.length >= MAX_PROBLEMS || this.left < 0;
  }
}

function checkNumber(
  node: SchemaNode,
  value: number,
  pointer: string,
  found: SchemaFinding[],
): void {
  const limit = (message: string): void => void found.push({ pointer, message, rule: "limit" });
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = node;
  if (minimum !== undefined && value < minimum) limit(`must be at least ${minimum}`);
  if (maximum !== undefined && value > maximum) limit(`must be at most ${maximum}`);
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
    limit(`must be above ${exclusiveMinimum}`);
  }
  if (exclusiveMaximum !== undefined && value >= exclusiveMaximum) {
    limit(`must be below ${exclusiveMaximum}`);
  }
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    limit(`must be a multiple of ${multipleOf}`);
  }
}

/** Decimal fractions are not exact in binary: 0.3 is a multiple of 0.1. */
function isMultiple(value: number, of: number): boolean {
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= Math.abs(times) * Number.EPSILON * 4;
}

function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function typesOf(node: SchemaNode): readonly string[] {
  if (node.types !== undefined) return node.types;
  const inner = [...(node.anyOf ?? []), ...(node.oneOf ?? [])];
  return inner.flatMap((part) => part.types ?? []);
}
