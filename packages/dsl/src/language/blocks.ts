/** The blocks of the language: where each stands, how many names it takes, and what may stand in it. */

/** Where an item stands. */
export type Place =
  | "file"
  | "flow"
  | "input"
  | "connection"
  | "schedule"
  | "node"
  | "output"
  | "layout"
  | "body";

export interface BlockWord {
  /** Places where the block may stand. */
  readonly in: readonly Place[];
  /** Names after the word. */
  readonly labels: 0 | 1 | 2;
  /** Whether `: type` must, may or must not follow. */
  readonly type: "needed" | "allowed" | "none";
  /** Whether `= value` must, may or must not follow. */
  readonly value: "needed" | "allowed" | "none";
  /** Attributes in canonical order; absent: any. */
  readonly attributes?: readonly string[];
}

/** The blocks of language version 1. */
export const BLOCKS: { readonly [word in Exclude<Place, "file">]: BlockWord } = {
  flow: { in: ["file"], labels: 2, type: "none", value: "none" },
  input: {
    in: ["file"],
    labels: 1,
    type: "allowed",
    value: "allowed",
    attributes: ["description", "schema"],
  },
  connection: {
    in: ["file"],
    labels: 1,
    type: "needed",
    value: "none",
    attributes: ["service", "slug", "scopes"],
  },
  schedule: {
    in: ["file"],
    labels: 1,
    type: "none",
    value: "none",
    attributes: ["cron", "every", "at", "timezone", "inputs", "enabled", "overlap", "catchUp"],
  },
  node: { in: ["file", "body"], labels: 1, type: "needed", value: "none" },
  output: {
    in: ["file"],
    labels: 1,
    type: "allowed",
    value: "needed",
    attributes: ["description", "schema"],
  },
  layout: { in: ["file"], labels: 0, type: "none", value: "none" },
  body: { in: ["node"], labels: 0, type: "none", value: "none", attributes: ["output"] },
};

/** Whether a word names a block of the language. */
export function isBlockWord(word: string): word is keyof typeof BLOCKS {
  return Object.hasOwn(BLOCKS, word);
}

/** Policies of a node: name in the text, name in the graph; in canonical order. */
export const NODE_POLICIES: readonly (readonly [string, string])[] = [
  ["timeout", "timeoutMs"],
  ["retry", "retry"],
  ["when", "when"],
  ["on-error", "onError"],
  ["join", "join"],
  ["concurrency", "concurrency"],
  ["idempotency-key", "idempotencyKey"],
  ["cache", "cache"],
  ["delivery", "delivery"],
];

/** Policies of a flow. */
export const FLOW_POLICIES: readonly (readonly [string, string])[] = [
  ["timeout", "timeoutMs"],
  ["on-failure", "onFailure"],
  ["concurrency", "concurrency"],
];

/** A member of a policy that is an object: how its value is read. */
export type MemberKind = "literal" | "duration" | "value";

type PolicyMember = readonly [string, string, MemberKind];

/**
 * Members of policies that are objects: name in the text, name in the graph, kind of value. A map, because policies that nobody
 * knows are looked up too, and `@constructor` is a member of every object.
 */
export const POLICY_MEMBERS: ReadonlyMap<string, readonly PolicyMember[]> = new Map([
  [
    "retry",
    [
      ["max", "max", "literal"],
      ["backoff", "backoff", "literal"],
      ["delay", "delayMs", "duration"],
      ["maxDelay", "maxDelayMs", "duration"],
      ["jitter", "jitter", "literal"],
      ["on", "on", "literal"],
      ["if", "if", "value"],
    ],
  ],
  [
    "concurrency",
    [
      ["max", "max", "literal"],
      ["key", "key", "value"],
    ],
  ],
  [
    "cache",
    [
      ["ttl", "ttlMs", "duration"],
      ["key", "key", "value"],
    ],
  ],
  ["on-error", [["default", "default", "value"]]],
]);

/** How the value of a whole policy is read; policies that are not here are literals or objects of `POLICY_MEMBERS`. */
export const POLICY_KINDS: ReadonlyMap<string, MemberKind> = new Map([
  ["timeout", "duration"],
  ["when", "value"],
  ["idempotency-key", "value"],
]);
