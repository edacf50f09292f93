/**
 * What literal members of blocks and policies must be, by their names in the text. Asked when a text is read and when a graph is
 * printed, so that whatever is read can be printed.
 */
import type { Json } from "@millrace/contracts";

export interface Shape {
  readonly is: (value: Json) => boolean;
  /** The type as the language names it. */
  readonly type: string;
  /** What the value must be: `true or false`. */
  readonly rule: string;
  /** The words that it may be. */
  readonly choices?: readonly string[];
  /** The member that a bare number stands for where an object belongs. */
  readonly numberIs?: string;
}

const isCount = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function oneOf(...choices: string[]): Shape {
  const rule = choices.join(", ").replace(/, (\w+)$/, " or $1");
  return { is: (value) => choices.includes(value as string), type: "string", rule, choices };
}

const TEXT: Shape = { is: (value) => typeof value === "string", type: "string", rule: "a string" };
const COUNT: Shape = { is: isCount, type: "int", rule: "a whole number from 0" };
const OBJECT: Shape = {
  is: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  type: "object",
  rule: "an object",
};
const FLAG: Shape = {
  is: (value) => typeof value === "boolean",
  type: "bool",
  rule: "true or false",
};
const TEXTS: Shape = {
  is: (value) => Array.isArray(value) && value.every((text) => typeof text === "string"),
  type: "list",
  rule: "a list of strings",
};

export const DURATION: Shape = {
  is: isCount,
  type: "duration",
  rule: "a whole number of milliseconds",
};

/** Attributes of blocks; the title is the flow's. */
export const ATTRIBUTE_SHAPES: { readonly [name: string]: Shape } = {
  title: TEXT,
  description: TEXT,
  schema: OBJECT,
  service: TEXT,
  slug: TEXT,
  scopes: TEXTS,
  cron: TEXT,
  at: TEXT,
  timezone: TEXT,
  inputs: OBJECT,
  enabled: FLAG,
  overlap: TEXT,
  catchUp: TEXT,
};

const JOIN = oneOf("all", "any");
const ON_ERROR = oneOf("fail", "port", "collect");

/** Policies that are literals, and literal members of those that are objects. */
export const POLICY_SHAPES: { readonly [name: string]: Shape } = {
  join: {
    ...JOIN,
    type: "string or int",
    is: (value) => isCount(value) || JOIN.is(value),
    rule: "all, any or a whole number",
  },
  concurrency: COUNT,
  max: COUNT,
  "on-error": { ...ON_ERROR, rule: "fail, port, collect or { default }" },
  "on-failure": oneOf("stop", "finish"),
  delivery: oneOf("atLeastOnce", "atMostOnce"),
  backoff: oneOf("constant", "linear", "exponential"),
  jitter: FLAG,
  on: TEXTS,
  retry: { ...OBJECT, is: () => false, numberIs: "max" },
  cache: { ...OBJECT, is: () => false, numberIs: "ttl" },
};

/** Members that an object policy cannot do without: name in the text, name in the graph. */
export const NEEDED: { readonly [policy: string]: readonly (readonly [string, string])[] } = {
  concurrency: [
    ["max", "max"],
    ["key", "key"],
  ],
  cache: [["ttl", "ttlMs"]],
  "on-error": [["default", "default"]],
};
