/** Entries of `expect`: their shapes as data, and how what an author wrote becomes a check. */
import {
  type FieldValue,
  type Json,
  type JsonObject,
  type JsonSchema,
  NodeError,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { compilePattern, compileValue } from "@millrace/dsl";
import { schemaProblems, unreadable } from "@millrace/engine/pack";
import { targetSchema } from "./fields.ts";

/** Kinds of checks. `expr` and `judge` are carried out by the loop. */
export type CheckKind =
  | "expr"
  | "contains"
  | "equals"
  | "startsWith"
  | "endsWith"
  | "regex"
  | "jsonSchema"
  | "label"
  | "length"
  | "cost"
  | "latencyMs"
  | "finish"
  | "judge";

/** A check, evaluated and complete. */
export interface Check {
  /** Nothing of it comes from a run, so that all of it may stand in any log. */
  readonly isLiteral: boolean;
  readonly kind: CheckKind;
  readonly not: boolean;
  readonly level: "error" | "warn";
  readonly onFail: "fail" | "retry" | "failover";
  readonly message: string | undefined;
  /** Dotted, into the record; absent: the default of the kind. */
  readonly path: string | undefined;
  /** The fields of the kind, of the types that its schemas name. */
  readonly fields: JsonObject;
}

/** A mistake in a check of `expect`; `pointer` leads into the check. */
export interface CheckProblem {
  readonly pointer: string;
  readonly message: string;
}

const text: JsonSchema = { type: "string" };
const flag: JsonSchema = { type: "boolean" };
const texts: JsonSchema = { type: "array", items: text, minItems: 1 };
const amount: JsonSchema = { type: "number", minimum: 0 };
const range = { fields: { min: amount, max: amount }, anyOf: ["min", "max"] } as const;
const compared = { fields: { value: text, ignoreCase: flag }, needs: ["value"] } as const;

interface Shape {
  readonly fields: { readonly [name: string]: JsonSchema };
  readonly needs?: readonly string[];
  /** At least one of these is needed. */
  readonly anyOf?: readonly string[];
}

const SHAPES: { readonly [K in CheckKind]: Shape } = {
  expr: { fields: { when: {} }, needs: ["when"] },
  contains: { fields: { value: {}, ignoreCase: flag }, needs: ["value"] },
  equals: { fields: { value: {}, ignoreCase: flag }, needs: ["value"] },
  startsWith: compared,
  endsWith: compared,
  regex: { fields: { pattern: text, flags: { enum: ["", "i"] } }, needs: ["pattern"] },
  jsonSchema: { fields: { schema: { type: "object" } }, needs: ["schema"] },
  label: { fields: { in: texts }, needs: ["in"] },
  length: range,
  cost: range,
  latencyMs: range,
  finish: { fields: { in: texts }, needs: ["in"] },
  judge: {
    fields: {
      rubric: text,
      threshold: { type: "number", minimum: 0, maximum: 1 },
      target: targetSchema(),
    },
    needs: ["rubric", "target"],
  },
};

const COMMON: { readonly [name: string]: JsonSchema } = {
  kind: { enum: Object.keys(SHAPES) },
  not: flag,
  path: { type: "string", minLength: 1, maxLength: 200 },
  level: { enum: ["error", "warn"] },
  onFail: { enum: ["fail", "retry", "failover"] },
  message: { type: "string", maxLength: 200 },
};

/** How good an answer has to be where a `judge` says nothing else. */
const THRESHOLD = 0.7;

/** JSON Schema of one entry of `expect` for the catalog; `checkProblems` says what it cannot. */
export const expectItem: JsonSchema = {
  anyOf: [
    flag,
    {
      type: "object",
      required: ["kind"],
      properties: Object.assign({}, ...Object.values(SHAPES).map(({ fields }) => fields), {
        ...COMMON,
        value: {},
      }) as JsonObject,
      additionalProperties: false,
    },
  ],
};

/**
 * What is wrong with one evaluated entry, or with the literal part of one: members that are `undefined` need a run and are not
 * looked at.
 */
function checkProblems(entry: unknown): readonly CheckProblem[] {
  if (typeof entry === "boolean" || entry === undefined) return [];
  if (!isObject(entry)) {
    return [{ pointer: "", message: "must be true, false or { kind, … }" }];
  }
  const fields = entry as { readonly [name: string]: Json | undefined };
  const kind = fields["kind"];
  if (kind === undefined && Object.hasOwn(fields, "kind")) return [];
  const shape =
    typeof kind === "string" && Object.hasOwn(SHAPES, kind) ? SHAPES[kind as CheckKind] : undefined;
  if (shape === undefined) {
    return [{ pointer: "/kind", message: `must be one of ${Object.keys(SHAPES).join(" ")}` }];
  }
  const problems: CheckProblem[] = [];
  const say = (pointer: string, message: string) => void problems.push({ pointer, message });
  for (const [name, value] of Object.entries(fields)) {
    const schema = Object.hasOwn(shape.fields, name) ? shape.fields[name] : COMMON[name];
    if (schema === undefined) say(`/${name}`, `the kind ${String(kind)} has no such field`);
    else if (value !== undefined) {
      for (const it of schemaProblems(schema, value)) say(`/${name}${it.pointer}`, it.message);
    }
  }
  for (const name of shape.needs ?? []) {
    if (!Object.hasOwn(fields, name)) say("", `needs ${name}`);
  }
  const { anyOf } = shape;
  if (anyOf !== undefined && !anyOf.some((name) => Object.hasOwn(fields, name))) {
    say("", `needs ${anyOf.join(" or ")}`);
  }
  if (problems.length === 0) deeperProblems(fields, say);
  return problems;
}

/** Patterns and schemas that do not compile. */
function deeperProblems(
  fields: { readonly [name: string]: Json | undefined },
  say: (pointer: string, message: string) => void,
): void {
  const { kind, pattern, schema } = fields;
  if (kind === "regex" && typeof pattern === "string") {
    const compiled = compilePattern(pattern);
    if (!compiled.ok) say("/pattern", `is refused: ${compiled.problem}`);
  }
  if (kind === "jsonSchema" && schema !== undefined) {
    for (const it of unreadable(schema as JsonSchema)) say(`/schema${it.pointer}`, it.message);
  }
}

/** Mistakes in a field `expect`, found without a run; pointers lead into the list. */
export function expectProblems(source: FieldValue): readonly CheckProblem[] {
  if (!Array.isArray(source)) return [];
  return source.flatMap((entry, i) =>
    checkProblems(literalPart(entry).literal).map(({ pointer, message }) => ({
      pointer: `/${i}${pointer}`,
      message,
    })),
  );
}

/**
 * A check from an entry as it is written and as it was evaluated; without a value, because that failed, the check has no fields and
 * can only fail. Throws `NodeError` `field_invalid` that names the entry by its index.
 */
export function readCheck(source: FieldValue, index: number, value?: Json): Check {
  const { literal, isLiteral } = literalPart(source);
  const isPlain = literal === undefined || typeof literal === "boolean";
  const entry = isPlain ? { kind: "expr", when: value } : (value ?? literal);
  const [first] = isPlain ? [] : checkProblems(entry);
  if (first !== undefined) {
    const at = first.pointer.replaceAll("/", ".");
    throw new NodeError("field_invalid", `expect[${index}]${at} ${first.message}`);
  }
  const { kind, not, level, onFail, message, path, ...fields } = entry as {
    readonly [name: string]: Json;
  } & Partial<Check>;
  return {
    isLiteral,
    kind: kind ?? "expr",
    not: not ?? false,
    level: level ?? "error",
    onFail: onFail ?? "fail",
    message,
    path,
    fields: kind === "judge" ? { threshold: THRESHOLD, ...fields } : fields,
  };
}

interface LiteralPart {
  /** The entry with `undefined` for every member that needs a run; `undefined` when it is an expression itself. */
  readonly literal: unknown;
  readonly isLiteral: boolean;
}

const literalParts = new WeakMap<object, LiteralPart>();

function literalPart(source: FieldValue): LiteralPart {
  if (typeof source !== "object" || source === null) return { literal: source, isLiteral: true };
  let part = literalParts.get(source);
  if (part === undefined) {
    part = splitEntry(source);
    literalParts.set(source, part);
  }
  return part;
}

function splitEntry(source: Exclude<FieldValue, string | number | boolean | null>): LiteralPart {
  const whole = constantOf(source);
  if (whole !== undefined) return { literal: whole, isLiteral: true };
  const names = Object.keys(source);
  const isExpression = names.length === 1 && (names[0] === "$" || names[0] === "$t");
  if (isExpression || Array.isArray(source)) return { literal: undefined, isLiteral: false };
  const members = Object.entries(source as JsonObject);
  const literal = Object.fromEntries(
    members.map(([name, member]) => [name, member === undefined ? member : constantOf(member)]),
  );
  return { literal, isLiteral: false };
}

/** The value of a source without expressions; `undefined` for one that needs a run or does not compile. */
function constantOf(source: FieldValue): Json | undefined {
  try {
    const compiled = compileValue(source);
    return compiled.constant
      ? compiled.evaluate({ get: () => undefined }, { nowEpoch: 0 })
      : undefined;
  } catch {
    return undefined;
  }
}
