/** The literal parts of a value checked against a schema, with expressions as what is not known yet (FLOW3004-3006). */

import { pointerKeys, pointerSegment } from "@millrace/contracts/kit";
import { isObject, listOrNone, markerOf, own } from "../../data.ts";
import { VALUE_ALIASES } from "../../diagnostics/aliases.ts";
import { type TextFix, writing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import { checkableSchema, type SchemaFinding, UNKNOWN } from "../../schema/check.ts";
import { treeOf } from "../../syntax/trees.ts";
import { describeType } from "../../types/flow-type.ts";
import { typeFromSchema } from "../../types/from-schema.ts";
import { literalText } from "../model/walk-value.ts";
import { listed, type Validation } from "../validation.ts";

/** A value of the graph for checks: `UNKNOWN` for expressions and for templates with holes. */
function readValue(value: unknown): unknown {
  if (!isObject(value)) return value;
  const marker = markerOf(value);
  if (marker === "$") return writtenNumber(own(value, "$")) ?? UNKNOWN;
  if (marker === "$t") return literalText(value) ?? UNKNOWN;
  return marker === "$lit" ? own(value, "$lit") : value;
}

/** A duration or a negative number: written as an expression, but its value is known. */
function writtenNumber(source: unknown): number | undefined {
  if (typeof source !== "string" || !/^-?\d/.test(source)) return undefined;
  const tree = treeOf(source);
  const ast = "kind" in tree ? tree : undefined;
  const negated = ast?.kind === "unary" && ast.op === "-";
  const operand = negated ? ast.operand : ast;
  if (operand?.kind === "duration") return negated ? -operand.ms : operand.ms;
  if (operand?.kind !== "literal" || typeof operand.value !== "number") return undefined;
  return negated ? -operand.value : operand.value;
}

const compiled = new WeakMap<object, ReturnType<typeof checkableSchema>>();

/** The checker of a schema that lives as long as its catalog; compiled once. */
export function checkerOf(schema: object): ReturnType<typeof checkableSchema> {
  let checker = compiled.get(schema);
  if (checker === undefined) {
    checker = checkableSchema(schema);
    compiled.set(schema, checker);
  }
  return checker;
}

/** Where a value stands: its place in the graph and its name in messages. */
export interface ValuePlace {
  readonly pointer: string;
  readonly name: string;
}

/** Checks the literal parts of a value. An invalid schema is the catalog's fault and checks nothing. */
export function checkValue(
  ctx: Validation,
  value: unknown,
  schema: unknown,
  place: ValuePlace,
): void {
  if (!isObject(schema) || !ctx.isReadable(value)) return;
  const checker = checkerOf(schema);
  if (!checker.ok) return;
  for (const finding of checker.findings(value, GRAPH_VALUE)) {
    report(ctx, finding, value, schema, place);
  }
}

const GRAPH_VALUE = { formats: true, read: readValue };

function report(
  ctx: Validation,
  finding: SchemaFinding,
  root: unknown,
  schema: object,
  place: ValuePlace,
): void {
  const keys = pointerKeys(finding.pointer);
  const pointer = place.pointer + pointerIn(root, keys);
  const field = shown([place.name, ...keys].join("."));
  const { value } = finding;
  const member = shown(finding.member ?? "");
  switch (finding.rule) {
    case "type": {
      const type = takenType(schema, keys, finding);
      ctx.report("FLOW3004", pointer, {
        parts: { field, type, found: describeValue(value) },
        fix: rewrite(ctx, pointer, value, type, requiredAt(schema, keys)),
      });
      return;
    }
    case "choice":
      reportChoice(ctx, finding, value, pointer, field);
      return;
    case "required":
      ctx.report("FLOW3002", pointer, { parts: { type: field, name: member } });
      return;
    case "unknown":
      if (finding.member === undefined) {
        ctx.report("FLOW3005", pointer, { message: `${field} ${finding.message}` });
      } else {
        const holder = shown([place.name, ...keys.slice(0, -1)].join("."));
        ctx.report("FLOW3003", pointer, { parts: { type: holder, name: member } });
      }
      return;
    case "format":
      if (finding.format === "uri") {
        ctx.report("FLOW3005", pointer, { parts: { field, rule: "a URI" } });
      } else ctx.report("FLOW3008", pointer, { message: `${field} is not a date` });
      return;
    default: {
      const { expected: rule, message } = finding;
      const details =
        rule === undefined ? { message: `${field} ${message}` } : { parts: { field, rule } };
      ctx.report("FLOW3005", pointer, details);
    }
  }
}

/** The members that the elements of a list need. */
function requiredAt(schema: object, keys: readonly string[]): readonly unknown[] {
  return keys.length === 1 ? listOrNone(own(own(schema, "items"), "required")) : [];
}

/** A duration in quotes; other text that spells a value of a type. */
const SPELT: { readonly [type: string]: RegExp } = {
  number: /^-?(?:0|[1-9]\d{0,14})(?:\.\d+)?$|^\d{1,6}(?:ms|s|m|h|d)$/,
  int: /^-?(?:0|[1-9]\d{0,14})$|^\d{1,6}(?:ms|s|m|h|d)$/,
  bool: /^(?:true|false)$/,
};

/** The same value as the type that its place takes: `"5s"` as `5s`, an object as its JSON, a text as its only needed member. */
function rewrite(
  ctx: Validation,
  pointer: string,
  value: unknown,
  type: string,
  required: readonly unknown[],
): TextFix | undefined {
  const span = ctx.map.exact(pointer);
  if (span === undefined) return undefined;
  const written = ctx.map.text(span);
  let text: string | undefined;
  if (typeof value === "string") {
    const isName = type === "object" && required.length === 1;
    if (isName) text = `{ ${required[0]}: ${written} }`;
    else if (SPELT[type]?.test(value)) text = value;
  } else if (type === "string" && typeof value === "object" && value !== null) {
    text = `json(${written})`;
  } else if (type.startsWith("list") && !Array.isArray(value) && value !== null) {
    text = `[${written}]`;
  }
  return writing(text && shown(text), span, text);
}

/** The pointer of data inside a value: protected data stands one level deeper. */
function pointerIn(root: unknown, keys: readonly string[]): string {
  let pointer = "";
  let at = root;
  const enter = (): void => {
    if (!isObject(at) || markerOf(at) !== "$lit") return;
    at = own(at, "$lit");
    pointer += "/$lit";
  };
  for (const key of keys) {
    enter();
    at = own(at, key);
    pointer += pointerSegment(key);
  }
  return pointer;
}

/** FLOW3006 for a text that must be one of these names. `hint`: instead of what is near. */
export function checkListed(
  ctx: Validation,
  field: string,
  value: string,
  names: readonly string[],
  pointer: string,
  hint?: string,
): void {
  if (names.includes(value)) return;
  const { parts, fix } = ctx.nearest(value, names, pointer, JSON.stringify);
  const list = listed(names, ", …") || "the known names (there are none)";
  ctx.report("FLOW3006", pointer, {
    parts: { field, list, value: `"${shown(value)}"`, ...parts },
    hint,
    fix,
  });
}

function reportChoice(
  ctx: Validation,
  finding: SchemaFinding,
  value: unknown,
  pointer: string,
  field: string,
): void {
  const { choices = [], isCut } = finding;
  const list = choices.join(", ").replaceAll('"', "") + (isCut ? ", …" : "");
  const texts = choices.filter((json) => json.startsWith('"')).map((json) => json.slice(1, -1));
  const isText = typeof value === "string";
  const near = isText ? ctx.near(value, texts, VALUE_ALIASES) : undefined;
  ctx.report("FLOW3006", pointer, {
    parts: { field, list, value: isText ? `"${shown(value)}"` : describeValue(value), near },
    fix: near === undefined ? undefined : writing(`"${near}"`, ctx.map.exact(pointer)),
  });
}

/** The type that a place takes, in the words of the language. */
function takenType(schema: object, keys: readonly string[], finding: SchemaFinding): string {
  if (keys.length === 0) {
    const type = typeFromSchema(schema as Parameters<typeof typeFromSchema>[0]);
    if (type.kind !== "any") return describeType(type);
  }
  return flowWords(finding.expected ?? "");
}

/** JSON Schema's names of types as the language spells them. */
export function flowWords(message: string): string {
  return message.replace(/\b(?:integer|boolean|array)\b/g, (word) => WORDS[word] ?? word);
}

const WORDS: { readonly [type: string]: string } = {
  integer: "int",
  boolean: "bool",
  array: "list",
};

/** The type of a value as messages name it. */
function describeValue(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "list";
  if (typeof value === "boolean") return "bool";
  return typeof value;
}
