/** Whether a value is what a part says. */
import { isObject } from "../kit/objects.ts";
import { bytesBeyond, EVENT_LIMITS } from "./limits.ts";
import type { ObjectPart, Part } from "./parts.ts";
import { isPath } from "./path.ts";

/**
 * What is wrong with `value`, as the rest of a sentence that begins with its name: `.error.code is not …`; `undefined` when
 * it fits. `strict` is the temper of a writer: known keys and words only. Otherwise that of a reader: further keys pass, and
 * further words of open lists.
 */
export function partProblem(part: Part, value: unknown, strict: boolean): string | undefined {
  switch (part.is) {
    case "object":
      return isObject(value) ? fieldsProblem(part, value, strict) : " is not an object";
    case "list":
      return listProblem(part.of, part.max, value, strict);
    case "record":
      return recordProblem(part, value, strict);
    case "text":
      if (typeof value === "string" && value.length >= part.min && value.length <= part.max) break;
      return ` is not text of ${part.min} to ${part.max} units`;
    case "pattern":
      if (typeof value === "string" && part.expression.test(value)) break;
      return ` is not ${part.says}`;
    case "word":
      return wordProblem(part.words, strict || !part.isOpen, value);
    case "literal":
      return value === part.value ? undefined : ` is not ${part.value}`;
    case "nullable":
      return value === null ? undefined : partProblem(part.of, value, strict);
    case "integer":
      if (Number.isSafeInteger(value) && (value as number) >= part.min) break;
      return ` is not an integer of at least ${part.min}`;
    case "number":
      if (typeof value === "number" && value >= part.min && value <= part.max) break;
      return ` is not a number from ${part.min} to ${part.max}`;
    case "flag":
      return typeof value === "boolean" ? undefined : " is not true or false";
    case "path":
      return typeof value === "string" && isPath(value) ? undefined : " is not a legal path";
    case "json":
      if (part.isObject && !isObject(value)) return " is not an object";
      if (part.maxBytes === Number.POSITIVE_INFINITY) break;
      if (bytesBeyond(value, part.maxBytes) === 0) break;
      return ` is longer than ${part.maxBytes} bytes`;
  }
  return undefined;
}

/** The same for a value that is known to be an object. */
export function fieldsProblem(
  { fields, entries }: ObjectPart,
  record: Readonly<Record<string, unknown>>,
  strict: boolean,
): string | undefined {
  for (let i = 0; i < entries.length; i += 1) {
    const [key, part] = entries[i] as (typeof entries)[number];
    const value = record[key];
    if (value === undefined) {
      if (part.isOptional !== true) return `.${key} is missing`;
      continue;
    }
    const problem = partProblem(part, value, strict);
    if (problem !== undefined) return `.${key}${problem}`;
  }
  if (!strict) return undefined;
  const unknown = Object.keys(record).find((key) => !Object.hasOwn(fields, key));
  return unknown === undefined ? undefined : `.${unknown} is not a known key`;
}

function listProblem(of: Part, max: number, value: unknown, strict: boolean): string | undefined {
  if (!Array.isArray(value)) return " is not a list";
  if (value.length > max) return ` has more than ${max} entries`;
  for (let i = 0; i < value.length; i += 1) {
    const problem = partProblem(of, value[i], strict);
    if (problem !== undefined) return `.${i}${problem}`;
  }
  return undefined;
}

function recordProblem(
  { of, max, maxKey }: Extract<Part, { is: "record" }>,
  value: unknown,
  strict: boolean,
): string | undefined {
  if (!isObject(value)) return " is not an object";
  const entries = Object.entries(value);
  if (entries.length > max) return ` has more than ${max} entries`;
  for (const [key, inner] of entries) {
    if (key.length > maxKey) return ` has a key of more than ${maxKey} units`;
    const problem = partProblem(of, inner, strict);
    if (problem !== undefined) return `.${key}${problem}`;
  }
  return undefined;
}

function wordProblem(
  words: readonly string[],
  isClosed: boolean,
  value: unknown,
): string | undefined {
  if (typeof value === "string") {
    if (isClosed ? words.includes(value) : value.length <= EVENT_LIMITS.id && value !== "") {
      return undefined;
    }
  }
  return isClosed ? ` is not one of ${words.join(", ")}` : " is not a word";
}
