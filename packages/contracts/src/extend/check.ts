/**
 * A shape check for definitions, small enough to be loaded with every extension. A check tells each problem with its
 * JSON Pointer and goes on; nothing throws, nothing is changed.
 */
import type { JsonSchema } from "../json.ts";
import { isObject } from "../kit/objects.ts";
import { pointerSegment } from "../kit/pointer.ts";
import { jsonProblem } from "./json-data.ts";

/** Told once for each problem. */
export type Report = (pointer: string, message: string) => void;

/** A check; `schema` says in JSON Schema what it takes, for whoever documents it. Absent: nothing that JSON could say. */
export interface Check {
  (value: unknown, pointer: string, report: Report): void;
  readonly schema?: JsonSchema;
}

/** A check with its description. */
function described(schema: JsonSchema, check: Check): Check {
  return Object.assign(check, { schema });
}

/** All problems of a value, in the order of its members. */
export function problemsOf(value: unknown, check: Check): { pointer: string; message: string }[] {
  const problems: { pointer: string; message: string }[] = [];
  check(value, "", (pointer, message) => problems.push({ pointer, message }));
  return problems;
}

/** A string of `min` (1) to `max` characters that matches `pattern`; `what` describes it in the message. */
export function text(
  what: string,
  options: { pattern?: RegExp; min?: number; max?: number } = {},
): Check {
  const { pattern, min = 1, max = MAX_TEXT } = options;
  const schema = {
    type: "string",
    minLength: min,
    maxLength: max,
    ...(pattern !== undefined && { pattern: pattern.source }),
  };
  return described(schema, (value, pointer, report) => {
    if (typeof value !== "string" || value.length < min || value.length > max) {
      report(pointer, `must be ${what}, ${min} to ${max} characters`);
    } else if (pattern !== undefined && !pattern.test(value)) {
      report(pointer, `must be ${what}, found "${value.slice(0, 60)}"`);
    }
  });
}

/** Longest title, summary or name without a limit of its own: a page of text, more is no summary. */
const MAX_TEXT = 4_096;

export function oneOf(...values: readonly (string | number | boolean)[]): Check {
  return described({ enum: values }, (value, pointer, report) => {
    if (!values.includes(value as string)) {
      report(pointer, `must be one of ${values.map((each) => JSON.stringify(each)).join(", ")}`);
    }
  });
}

export function integer(min: number, max: number): Check {
  const schema = { type: "integer", minimum: min, maximum: max };
  return described(schema, (value, pointer, report) => {
    if (!Number.isSafeInteger(value) || (value as number) < min || (value as number) > max) {
      report(pointer, `must be an integer from ${min} to ${max}`);
    }
  });
}

export const flag: Check = oneOf(true, false);

export const fn: Check = (value, pointer, report) => {
  if (typeof value !== "function") report(pointer, "must be a function");
};

/** Any JSON value. */
export const json: Check = (value, pointer, report) => {
  const problem = jsonProblem(value);
  if (problem !== undefined) report(pointer + problem.pointer, problem.message);
};

/** A JSON object. */
export const jsonObject: Check = described({ type: "object" }, (value, pointer, report) => {
  if (isObject(value)) json(value, pointer, report);
  else report(pointer, "must be an object");
});

/** A list of `min` to `max` members; `unique` names the member whose values must differ ("" for the members themselves). */
export function list(
  each: Check,
  options: { min?: number; max?: number; unique?: string } = {},
): Check {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, unique } = options;
  const schema = {
    type: "array",
    items: each.schema ?? {},
    ...(min > 0 && { minItems: min }),
    ...(options.max !== undefined && { maxItems: max }),
  };
  return described(schema, (value, pointer, report) => {
    if (!Array.isArray(value)) return report(pointer, "must be a list");
    if (value.length < min || value.length > max) {
      report(pointer, `must have ${min} to ${max} members, found ${value.length}`);
    }
    const seen = new Set<unknown>();
    for (const [index, member] of value.entries()) {
      each(member, `${pointer}/${index}`, report);
      if (unique === undefined) continue;
      const key: unknown = unique === "" || !isObject(member) ? member : member[unique];
      if (seen.has(key)) {
        const at = `${pointer}/${index}${unique === "" ? "" : `/${unique}`}`;
        report(at, `${JSON.stringify(key)} is there twice`);
      }
      seen.add(key);
    }
  });
}

/** An object whose values all pass `each`. */
export function record(each: Check): Check {
  const schema = { type: "object", additionalProperties: each.schema ?? {} };
  return described(schema, (value, pointer, report) => {
    if (!isObject(value)) return report(pointer, "must be an object");
    for (const [key, member] of Object.entries(value)) {
      each(member, pointer + pointerSegment(key), report);
    }
  });
}

/** An object of exactly these members; an optional member may be absent or `undefined`. */
export function shape(
  required: { readonly [name: string]: Check },
  optional: { readonly [name: string]: Check } = {},
): Check {
  const checks = new Map([...Object.entries(required), ...Object.entries(optional)]);
  const schema = {
    type: "object",
    required: Object.keys(required),
    properties: Object.fromEntries([...checks].map(([key, check]) => [key, check.schema ?? {}])),
    additionalProperties: false,
  };
  return described(schema, (value, pointer, report) => {
    if (!isObject(value)) return report(pointer, "must be an object");
    for (const name of Object.keys(required)) {
      if (value[name] === undefined) report(`${pointer}/${name}`, "is missing");
    }
    for (const [name, member] of Object.entries(value)) {
      const at = pointer + pointerSegment(name);
      const check = checks.get(name);
      if (check === undefined) {
        report(at, `is unknown; members are ${[...checks.keys()].join(", ")}`);
      } else if (member !== undefined) check(member, at, report);
    }
  });
}

/** The shape that the member `tag` chooses; `other` when it chooses none. */
export function variant(
  tag: string,
  shapes: { readonly [value: string]: Check },
  other: Check,
): Check {
  const byTag = new Map(Object.entries(shapes));
  const all = [...new Set([...byTag.values(), other])];
  return described({ anyOf: all.map((each) => each.schema ?? {}) }, (value, pointer, report) => {
    const chosen = isObject(value) ? byTag.get(String(value[tag])) : undefined;
    (chosen ?? other)(value, pointer, report);
  });
}
