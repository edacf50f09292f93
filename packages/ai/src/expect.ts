/**
 * Checks of `expect` that need neither a model nor an expression.
 *   X1  a place that is not there, and a value that cannot be judged, is a failed check, with `not` too.
 *   X2  a rule names what was expected, never what was there; both come apart, for audit levels that keep the value.
 */
import type { FieldValue, Json, JsonObject, JsonSchema } from "@millrace/contracts";
import { canonicalJson, pointerSegment } from "@millrace/contracts/kit";
import {
  compilePattern,
  compileValue,
  type Expression,
  MAX_PATTERN_STEPS,
  parseExpression,
  printExpression,
} from "@millrace/dsl";
import { schemaProblems, valueAt } from "@millrace/engine/pack";
import type { Check } from "./expect-entry.ts";
import { inputText } from "./messages.ts";

/** How a check ended: what was expected, and what was there. */
export interface CheckOutcome {
  readonly pass: boolean;
  readonly rule: string;
  /** The end of the rule where it comes from the run. */
  readonly wanted?: string;
  readonly path?: string;
  readonly value?: Json;
  readonly score?: number;
}

/** Input of the checks: the output record, and the time the node has taken so far. */
export interface Checked {
  readonly record: JsonObject;
  readonly latencyMs: number;
}

/** Carries out a check of any kind but `judge`. Never throws. */
export function checkRecord(check: Check, checked: Checked): CheckOutcome {
  const { holds, rule, wanted, path, value } = tryCheck(check, checked);
  const isKnown = wanted === undefined || check.isLiteral;
  const whole = isKnown && wanted !== undefined ? `${rule} ${wanted}` : rule;
  return {
    pass: holds !== undefined && holds !== check.not,
    rule: check.not ? `must not: ${whole}` : whole,
    ...(!isKnown && { wanted }),
    ...(path !== undefined && { path }),
    ...(value !== undefined && { value }),
  };
}

/** The outcome of a `judge` from the score that its model gave; undefined: it gave none. */
export function judged(check: Check, score: number | undefined): CheckOutcome {
  const threshold = check.fields["threshold"] as number;
  const rule = `score must be ${check.not ? "below" : "at least"} ${threshold}`;
  if (score === undefined) return { pass: false, rule: `${rule}; the judge gave none` };
  return { pass: score >= threshold !== check.not, rule, score };
}

/**
 * The sentence about a failed check: the author's, else the rule. What comes from the run is for the model only, never for a log.
 */
export function failureText(
  check: Check,
  { rule, wanted, path }: CheckOutcome,
  reader: "model" | "log",
): string {
  const isForModel = reader === "model";
  if (check.message !== undefined && (isForModel || check.isLiteral)) return check.message;
  const place = path === undefined ? "" : `${path} `;
  return isForModel && wanted !== undefined ? `${place}${rule} ${wanted}` : `${place}${rule}`;
}

/** `holds` is undefined where nothing could be judged. */
interface Tried {
  readonly holds: boolean | undefined;
  readonly rule: string;
  readonly wanted?: string;
  readonly path?: string;
  readonly value?: Json | undefined;
}

function tryCheck(check: Check, { record, latencyMs }: Checked): Tried {
  const { kind, fields } = check;
  const at = (fallback: string): { path: string; value: Json | undefined } => {
    const path = check.path ?? fallback;
    return { path, value: memberAt(record, path) };
  };
  switch (kind) {
    case "expr": {
      const when = fields["when"];
      const holds = typeof when === "boolean" ? when : undefined;
      return { holds, rule: holds === undefined ? "must be true or false" : "must be true" };
    }
    case "jsonSchema": {
      const place = at("output");
      if (place.value === undefined) return absent(place.path);
      const [first] = schemaProblems(fields["schema"] as JsonSchema, place.value);
      if (first === undefined) return { ...place, holds: true, rule: "must fit its schema" };
      const inner = first.pointer === "" ? "" : `${first.pointer} `;
      return { ...place, holds: false, rule: `must fit its schema: ${inner}${first.message}` };
    }
    case "label": {
      const { label, labels } = record;
      const chosen = (labels ?? (label === undefined ? undefined : [label])) as Json[] | undefined;
      const allowed = fields["in"] as string[];
      const holds = chosen?.every((it) => allowed.includes(it as string));
      return { holds, rule: "label must be one of", wanted: allowed.join(", "), value: chosen };
    }
    case "finish": {
      const allowed = fields["in"] as string[];
      const value = record["finish"];
      const holds = allowed.includes(value as string);
      return { holds, rule: "finish must be one of", wanted: allowed.join(", "), value };
    }
    case "cost":
      return inRange("costUsd", record["costUsd"], fields);
    case "latencyMs":
      return inRange("latencyMs", latencyMs, fields);
    case "length": {
      const { path, value } = at("text");
      if (value === undefined) return absent(path);
      const length = Array.isArray(value) ? value.length : Array.from(inputText(value)).length;
      return { ...inRange("length", length, fields), path };
    }
    case "judge":
      return { holds: undefined, rule: "needs a model" };
    default: {
      const place = at("text");
      if (place.value === undefined) return absent(place.path);
      return { ...place, ...compareText(kind, place.value, fields) };
    }
  }
}

function absent(path: string): Tried {
  return { holds: undefined, rule: "is not there", path };
}

function inRange(name: string, value: Json | undefined, { min, max }: JsonObject): Tried {
  const bounds = [
    ...(min === undefined ? [] : [`at least ${String(min)}`]),
    ...(max === undefined ? [] : [`at most ${String(max)}`]),
  ];
  const rule = `${name} must be ${bounds.join(" and ")}`;
  if (typeof value !== "number") return { holds: undefined, rule: `${rule}; it is not known` };
  const { low, high } = { low: (min as number) ?? -Infinity, high: (max as number) ?? Infinity };
  return { holds: value >= low && value <= high, rule, value };
}

type TextKind = "contains" | "equals" | "startsWith" | "endsWith" | "regex";

function compareText(kind: TextKind, value: Json, fields: JsonObject): Tried {
  const rule = RULES[kind];
  if (kind === "regex") {
    const source = fields["pattern"] as string;
    const pattern = compilePattern(source, { ignoreCase: fields["flags"] === "i" });
    const budget = { left: MAX_PATTERN_STEPS };
    const holds = pattern.ok && pattern.test(inputText(value), budget);
    if (budget.left >= 0) return { holds, rule, wanted: source };
    return { holds: undefined, rule: "takes too many steps to match", wanted: source };
  }
  const fold = (text: string): string =>
    fields["ignoreCase"] === true ? text.toLowerCase() : text;
  const same = (one: Json, other: Json): boolean =>
    fold(canonicalJson(one)) === fold(canonicalJson(other));
  const sought = fields["value"] as Json;
  const wanted = JSON.stringify(sought);
  if (kind === "equals") return { holds: same(value, sought), rule, wanted };
  if (kind === "contains" && Array.isArray(value)) {
    return { holds: value.some((element) => same(element, sought)), rule, wanted };
  }
  const [whole, part] = [fold(inputText(value)), fold(inputText(sought))];
  const compare = kind === "contains" ? "includes" : kind;
  return { holds: whole[compare](part), rule, wanted };
}

const RULES: { readonly [K in TextKind]: string } = {
  regex: "must match",
  contains: "must contain",
  equals: "must equal",
  startsWith: "must start with",
  endsWith: "must end with",
};

/** The member that a dotted path leads to; undefined when there is none. */
export function memberAt(root: Json, path: string): Json | undefined {
  return valueAt(root, path.split(".").map(pointerSegment).join(""));
}

/** Longest text of a condition in a message. */
const MAX_TEXT = 200;
const COMPARES: ReadonlySet<string> = new Set(["==", "!=", "<", "<=", ">", ">="]);
/** Measures of an answer, which every log may hold: nothing of the answer can be read from them. */
const MEASURES: ReadonlySet<string> = new Set(["usage", "costUsd", "latencyMs", "finish"]);

/**
 * The rule of a failed condition, such as `size(output.reply) < 2 is false (28)`. A value that is no measure comes apart, for
 * readers that may see the answer. `roots`: the names of the answer. Undefined: the entry is no condition that was false.
 */
export function failedCondition(
  source: FieldValue,
  { rule }: CheckOutcome,
  roots: JsonObject,
): Pick<CheckOutcome, "rule" | "wanted"> | undefined {
  const when = memberOf(source, "when");
  const text = memberOf(source, "$") ?? memberOf(when, "$");
  if (typeof text !== "string" || rule.endsWith("must be true or false")) return undefined;
  const { ast } = parseExpression(text);
  if (ast === undefined) return undefined;
  const printed = printExpression(ast);
  const shown = printed.length > MAX_TEXT ? `${printed.slice(0, MAX_TEXT)}…` : printed;
  const said = `${shown} is ${rule.startsWith("must not") ? "true" : "false"}`;
  const compared = comparedSide(ast);
  const value = compared === undefined ? undefined : scalarOf(compared, roots);
  if (compared === undefined || value === undefined) return { rule: said };
  const ending = `(${JSON.stringify(value)})`;
  return isMeasure(compared) ? { rule: `${said} ${ending}` } : { rule: said, wanted: ending };
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as { readonly [name: string]: unknown })[name]
    : undefined;
}

function comparedSide(ast: Expression): Expression | undefined {
  if (ast.kind !== "binary" || !COMPARES.has(ast.op)) return undefined;
  return [ast.left, ast.right].find(({ kind }) => kind !== "literal" && kind !== "duration");
}

function isMeasure(ast: Expression): boolean {
  if (ast.kind === "call") return ast.name === "size";
  let at: Expression = ast;
  while (at.kind === "member") at = at.object;
  return at.kind === "name" && MEASURES.has(at.name);
}

/** A number, a truth value or a text that the names of the answer give; undefined: it needs more than the answer. */
function scalarOf(ast: Expression, roots: JsonObject): Json | undefined {
  try {
    const scope = {
      get: (name: string) => (Object.hasOwn(roots, name) ? roots[name] : undefined),
    };
    const value = compileValue({ $: printExpression(ast) }).evaluate(scope, { nowEpoch: 0 });
    return typeof value === "object" ? undefined : value;
  } catch {
    return undefined;
  }
}
