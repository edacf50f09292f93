/** The literal parts of a value checked against a schema, with expressions as what is not known yet (FLOW3004-3006). */

import { isObject, keysOf, own } from "../model/plain.ts";
import { markerOf } from "../model/values.ts";
import { nearestName } from "../nearest.ts";
import type { SchemaFinding } from "../schema/check.ts";
import { checkableSchema } from "../schema/check.ts";
import { describeType } from "../types/flow-type.ts";
import { typeFromSchema } from "../types/from-schema.ts";
import { shown, type Validation } from "./context.ts";

/** Stands for what an expression will give. */
const UNKNOWN: unique symbol = Symbol("unknown");

/** The value with markers resolved: expressions and templates with holes are `UNKNOWN`. Not for values too deep. */
export function withUnknowns(value: unknown, known: (source: string) => unknown): unknown {
  if (Array.isArray(value)) return value.map((element) => withUnknowns(element, known));
  if (!isObject(value)) return value;
  const members = (from: object): object =>
    Object.fromEntries(
      Object.entries(from)
        .filter(([, inner]) => inner !== undefined)
        .map(([key, inner]) => [key, withUnknowns(inner, known)]),
    );
  switch (markerOf(value)) {
    case "expression": {
      const source = own(value, "$");
      const result = typeof source === "string" ? known(source) : undefined;
      return result === undefined ? UNKNOWN : result;
    }
    case "template": {
      const parts = own(value, "$t");
      const fixed = Array.isArray(parts) && parts.every((part) => typeof part === "string");
      return fixed ? parts.join("") : UNKNOWN;
    }
    case "protected": {
      const inner = own(value, "$lit");
      return isObject(inner) ? members(inner) : withUnknowns(inner, known);
    }
    case "data":
      return members(value);
  }
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

/** Checks a value that `withUnknowns` has prepared. A schema that is none is the catalog's fault and checks nothing. */
export function checkValue(
  run: Validation,
  value: unknown,
  schema: unknown,
  place: ValuePlace,
): void {
  if (!isObject(schema)) return;
  const checker = checkerOf(schema);
  if (!checker.ok) return;
  const findings = checker.findings(value, { formats: true, unknown: (it) => it === UNKNOWN });
  for (const finding of findings) report(run, finding, value, schema, place);
}

function report(
  run: Validation,
  finding: SchemaFinding,
  root: unknown,
  schema: object,
  place: ValuePlace,
): void {
  const pointer = place.pointer + finding.pointer;
  const keys = decode(finding.pointer);
  const field = shown([place.name, ...keys].join("."));
  const value = keys.reduce<unknown>((at, key) => own(at, key), root);
  const member = finding.member === undefined ? "" : shown(finding.member);
  switch (finding.rule) {
    case "type":
      run.findings.add("FLOW3004", pointer, {
        parts: { field, type: takenType(schema, keys, finding), found: describeValue(value) },
      });
      return;
    case "choice":
      reportChoice(run, finding, value, pointer, field);
      return;
    case "required":
      run.findings.add("FLOW3002", pointer, { parts: { type: field, name: member } });
      return;
    case "unknown":
      if (finding.member === undefined) {
        run.findings.add("FLOW3005", pointer, { message: `${field} ${finding.message}` });
      } else {
        const holder = shown([place.name, ...keys.slice(0, -1)].join("."));
        run.findings.add("FLOW3003", pointer, { parts: { type: holder, name: member } });
      }
      return;
    case "format":
      if (finding.message.endsWith("uri")) {
        run.findings.add("FLOW3005", pointer, { parts: { field, rule: "a URI" } });
      } else run.findings.add("FLOW3008", pointer, { message: `${field} is not a date` });
      return;
    default: {
      const rule = /^must (?:be )?(.*)$/.exec(finding.message)?.[1];
      const message =
        rule === undefined
          ? `${field} ${finding.message}`
          : finding.message.startsWith("must be ")
            ? undefined
            : `${field} ${finding.message}`;
      run.findings.add("FLOW3005", pointer, {
        parts: { field, rule: rule ?? "" },
        ...(message !== undefined && { message }),
      });
    }
  }
}

function reportChoice(
  run: Validation,
  finding: SchemaFinding,
  value: unknown,
  pointer: string,
  field: string,
): void {
  const list = finding.message.replace(/^must be one of /, "");
  const choices = [...list.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map((match) => match[1] ?? "");
  const near = typeof value === "string" ? nearestName(value, choices) : undefined;
  const found = typeof value === "string" ? `"${shown(value)}"` : describeValue(value);
  run.findings.add("FLOW3006", pointer, {
    parts: {
      field,
      list: list.replaceAll('"', ""),
      value: found,
      ...(near !== undefined && { near }),
    },
    fix:
      near === undefined
        ? undefined
        : run.findings.replace(`write "${near}"`, run.places.exact(pointer), `"${near}"`),
  });
}

/** The type that a place takes, in the words of the language. */
function takenType(schema: object, keys: readonly string[], finding: SchemaFinding): string {
  if (keys.length === 0) {
    const type = typeFromSchema(schema as Parameters<typeof typeFromSchema>[0]);
    if (type.kind !== "any") return describeType(type);
  }
  return flowWords(finding.message.replace(/^must be (.*), found .*$/, "$1"));
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

function decode(pointer: string): string[] {
  return pointer === ""
    ? []
    : pointer
        .slice(1)
        .split("/")
        .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** The keys of an object schema's properties. */
export function propertiesOf(schema: unknown): readonly string[] {
  const properties = own(schema, "properties");
  return isObject(properties) ? keysOf(properties) : [];
}
