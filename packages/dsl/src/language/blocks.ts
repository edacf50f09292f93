/**
 * The table of the language: its blocks, where each stands, what its head takes, and its members with their names in text and
 * graph. Reading, printing, ordering, normalizing and checking ask this table.
 */

import type { Json, JsonSchema } from "@millrace/contracts/json";
import { isObject } from "@millrace/contracts/kit";

/**
 * What a member must be. Asked when a text is read and when a graph is printed, so that whatever is read can be printed;
 * `schema` is what validation asks.
 */
export interface Shape {
  readonly is: (value: Json) => boolean;
  /** The type as the language names it. */
  readonly type: string;
  /** Rule for the value, for messages: `true or false`. */
  readonly rule: string;
  readonly schema: JsonSchema;
  /** The words that it may be. */
  readonly choices?: readonly string[];
  /** The member that a bare number stands for where an object belongs. */
  readonly numberIs?: string;
  /** Shape of each element of a list, where a bad element is named by its place. */
  readonly elements?: Shape;
}

const isCount = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function oneOf(...choices: string[]): Shape {
  const rule = choices.join(", ").replace(/, (\w+)$/, " or $1");
  const is = (value: Json): boolean => choices.includes(value as string);
  return { is, type: "string", rule, choices, schema: { enum: choices } };
}

const TEXT: Shape = {
  is: (value) => typeof value === "string",
  type: "string",
  rule: "a string",
  schema: { type: "string" },
};
const TEXTS: Shape = {
  is: (value) => Array.isArray(value) && value.every(TEXT.is),
  type: "list",
  rule: "a list of strings",
  schema: { type: "array", items: TEXT.schema },
};
const COUNT: Shape = {
  is: isCount,
  type: "int",
  rule: "a whole number from 0",
  schema: { type: "integer", minimum: 1 },
};
const OBJECT: Shape = {
  is: (value) => isObject(value),
  type: "object",
  rule: "an object",
  schema: { type: "object" },
};
const FLAG: Shape = {
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

/** A member of a block or of a policy. */
export interface Member {
  /** Its name in the text. */
  readonly text: string;
  /** Its name in the graph. */
  readonly key: string;
  /** `value` may hold expressions; `values` is an object of values that are written out. */
  readonly kind: "literal" | "duration" | "value" | "values";
  readonly shape: Shape | undefined;
  /** Schema for validation. */
  readonly schema: JsonSchema;
  /** The object that holds it cannot do without. */
  readonly needed?: boolean;
  /** Its members, where it may be an object of those. */
  readonly members?: readonly Member[];
}

type More = Partial<Pick<Member, "schema" | "needed" | "members">>;

function literal(text: string, shape: Shape, more?: More & { readonly key?: string }): Member {
  return { text, key: text, kind: "literal", shape, schema: shape.schema, ...more };
}

function duration(text: string, more?: More): Member {
  return {
    text,
    key: `${text}Ms`,
    kind: "duration",
    shape: DURATION,
    schema: DURATION.schema,
    ...more,
  };
}

function value(text: string, schema: JsonSchema, more?: More & { readonly key?: string }): Member {
  return { text, key: text, kind: "value", shape: undefined, schema, ...more };
}

/** A member that is an object of these members; `numberIs`: the one that a bare number stands for. */
function group(text: string, numberIs: string, members: readonly Member[]): Member {
  const shape = { ...OBJECT, is: () => false, numberIs };
  return literal(text, shape, { schema: schemaOf(members), members });
}

const ABOVE_ZERO: JsonSchema = { type: "number", exclusiveMinimum: 0 };
const ANY: JsonSchema = {};

const timeout: Member = duration("timeout", { schema: ABOVE_ZERO });

const keyed: readonly Member[] = [
  literal("max", COUNT, { needed: true }),
  value("key", TEXT.schema, { needed: true }),
];
const substitute: readonly Member[] = [value("default", ANY, { needed: true })];

const onError: Shape = {
  ...oneOf("fail", "port", "collect"),
  rule: "fail, port, collect or { default }",
};
const allOrAny: Shape = oneOf("all", "any");
const join: Shape = {
  ...allOrAny,
  type: "string or int",
  is: (given) => COUNT.is(given) || allOrAny.is(given),
  rule: "all, any or a whole number",
  schema: { anyOf: [allOrAny.schema, COUNT.schema] },
};

/** Policies of a node, in canonical order. */
export const NODE_POLICIES: readonly Member[] = [
  timeout,
  group("retry", "max", [
    literal("max", COUNT, { schema: { type: "integer", minimum: 0, maximum: 20 } }),
    literal("backoff", oneOf("constant", "linear", "exponential")),
    duration("delay"),
    duration("maxDelay"),
    literal("jitter", FLAG),
    literal("on", TEXTS),
    value("if", FLAG.schema),
  ]),
  value("when", FLAG.schema),
  literal("on-error", onError, {
    key: "onError",
    schema: { anyOf: [onError.schema, schemaOf(substitute)] },
    members: substitute,
  }),
  literal("join", join),
  literal("concurrency", COUNT, {
    schema: { anyOf: [COUNT.schema, schemaOf(keyed)] },
    members: keyed,
  }),
  value("idempotency-key", TEXT.schema, { key: "idempotencyKey" }),
  group("cache", "ttl", [duration("ttl", { schema: ABOVE_ZERO, needed: true }), value("key", ANY)]),
  literal("delivery", oneOf("atLeastOnce", "atMostOnce")),
];

/** Each policy of a node by its name in the text, such as `on-error`; its value is the name in the graph, such as `onError`. */
export const NODE_POLICY_NAMES: ReadonlyMap<string, string> = /* @__PURE__ */ new Map(
  NODE_POLICIES.map(({ text, key }) => [text, key]),
);

/** Slug of a template, or URL. */
const NOTIFIED = "^(?:https?://[^ ]+|[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?)$";

const notified: Shape = {
  is: (given) => typeof given === "string" && new RegExp(NOTIFIED).test(given),
  type: "string",
  rule: "the name of a template, or an http(s) URL",
  schema: { type: "string", pattern: NOTIFIED },
};

/** Policies of a flow, in canonical order. */
export const FLOW_POLICIES: readonly Member[] = [
  timeout,
  literal("on-failure", oneOf("stop", "finish"), { key: "onFailure" }),
  literal("concurrency", COUNT),
  literal("notify", notified),
];

/** The title of a flow: the one attribute of its block that is no member of `meta`. */
export const TITLE: Member = literal("title", TEXT);

/** The schema of an object of these members and no others. */
function schemaOf(members: readonly Member[]): JsonSchema {
  const required = members.filter(({ needed }) => needed).map(({ key }) => key);
  return {
    type: "object",
    ...(required.length > 0 && { required }),
    ...propertiesOf(members),
    additionalProperties: false,
  };
}

/** Schemas for validation of each of these members, independent of other members. */
export function propertiesOf(members: readonly Member[]): JsonSchema {
  return { properties: Object.fromEntries(members.map(({ key, schema }) => [key, schema])) };
}

/** Where an item stands. */
export type BlockKind =
  | "file"
  | "flow"
  | "input"
  | "connection"
  | "schedule"
  | "node"
  | "output"
  | "layout"
  | "body";

export interface Block {
  /** Blocks in which it may stand. */
  readonly in: readonly BlockKind[];
  /** Names after the keyword. */
  readonly labels: 0 | 1 | 2;
  /** Whether `: type` must, may or must not follow. */
  readonly type: "needed" | "allowed" | "none";
  /** Whether `= value` must, may or must not follow. */
  readonly value: "needed" | "allowed" | "none";
  /** Attributes in canonical order; absent: any. */
  readonly attributes?: readonly Member[];
}

const described: readonly Member[] = [literal("description", TEXT), literal("schema", OBJECT)];

/** The blocks of language version 1. */
export const BLOCKS: { readonly [keyword in Exclude<BlockKind, "file">]: Block } = {
  flow: { in: ["file"], labels: 2, type: "none", value: "none" },
  input: { in: ["file"], labels: 1, type: "allowed", value: "allowed", attributes: described },
  connection: {
    in: ["file"],
    labels: 1,
    type: "needed",
    value: "none",
    attributes: [
      literal("service", TEXT),
      literal("slug", TEXT),
      literal("scopes", { ...TEXTS, elements: TEXT }),
    ],
  },
  schedule: {
    in: ["file"],
    labels: 1,
    type: "none",
    value: "none",
    attributes: [
      literal("cron", TEXT),
      duration("every", { schema: { type: "integer", minimum: 1000 } }),
      literal("at", TEXT),
      literal("timezone", TEXT),
      { ...literal("inputs", OBJECT), kind: "values" },
      literal("enabled", FLAG),
      literal("overlap", TEXT, { schema: { enum: ["skip", "queue", "allow"] } }),
      literal("catchUp", TEXT, { schema: { enum: ["skip", "one", "all"] } }),
    ],
  },
  node: { in: ["file", "body"], labels: 1, type: "needed", value: "none" },
  output: { in: ["file"], labels: 1, type: "allowed", value: "needed", attributes: described },
  layout: { in: ["file"], labels: 0, type: "none", value: "none" },
  body: {
    in: ["node"],
    labels: 0,
    type: "none",
    value: "none",
    attributes: [value("output", ANY)],
  },
};

/** Whether a word names a block of the language. */
export function isBlockKeyword(keyword: string): keyword is keyof typeof BLOCKS {
  return Object.hasOwn(BLOCKS, keyword);
}

/** The member of a name in the text; undefined: there is none. */
export function memberByText(members: readonly Member[], text: string): Member | undefined {
  for (const member of members) if (member.text === text) return member;
  return undefined;
}

/** The member of a name in the graph; undefined: there is none. */
export function memberByKey(members: readonly Member[], key: string): Member | undefined {
  return members.find((member) => member.key === key);
}

/** The names of members in the text. */
export function textNames(members: readonly Member[]): string[] {
  return members.map(({ text }) => text);
}
