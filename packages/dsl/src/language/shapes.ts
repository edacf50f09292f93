/**
 * What members of blocks and policies must be. Asked when a text is read and when a graph is printed, so that whatever is
 * read can be printed; `schema` is what validation asks.
 */
import type { Json, JsonSchema } from "@millrace/contracts/json";
import { isObject } from "@millrace/contracts/kit";

export interface Shape {
  readonly is: (value: Json) => boolean;
  /** The type as the language names it. */
  readonly type: string;
  /** What the value must be: `true or false`. */
  readonly rule: string;
  readonly schema: JsonSchema;
  /** The words that it may be. */
  readonly choices?: readonly string[];
  /** The member that a bare number stands for where an object belongs. */
  readonly numberIs?: string;
  /** What each element of a list must be, where a bad one is named by its place. */
  readonly elements?: Shape;
}

const isCount = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export function oneOf(...choices: string[]): Shape {
  const rule = choices.join(", ").replace(/, (\w+)$/, " or $1");
  const is = (value: Json): boolean => choices.includes(value as string);
  return { is, type: "string", rule, choices, schema: { enum: choices } };
}

export const TEXT: Shape = {
  is: (value) => typeof value === "string",
  type: "string",
  rule: "a string",
  schema: { type: "string" },
};
export const TEXTS: Shape = {
  is: (value) => Array.isArray(value) && value.every(TEXT.is),
  type: "list",
  rule: "a list of strings",
  schema: { type: "array", items: TEXT.schema },
};
export const COUNT: Shape = {
  is: isCount,
  type: "int",
  rule: "a whole number from 0",
  schema: { type: "integer", minimum: 1 },
};
export const OBJECT: Shape = {
  is: (value) => isObject(value),
  type: "object",
  rule: "an object",
  schema: { type: "object" },
};
export const FLAG: Shape = {
  is: (value) => typeof value === "boolean",
  type: "bool",
  rule: "true or false",
  schema: { type: "boolean" },
};
export const DURATION: Shape = {
  is: isCount,
  type: "duration",
  rule: "a whole number of milliseconds",
  schema: { type: "number", minimum: 0 },
};
