/** Policies of nodes: types and ranges, what must be literal, what goes together (FLOW3004-3006, 3013, 4008, 4014). */
import type { NodeModel } from "../model/bodies.ts";
import { isObject, own } from "../model/plain.ts";
import { POLICY_VALUES } from "../model/sites.ts";
import { isTooDeep, leavesOf } from "../model/values.ts";
import type { Validation } from "./context.ts";
import { checkValue, withUnknowns } from "./field-values.ts";

const DURATION = { type: "number", minimum: 0 } as const;

const POLICY: { readonly [member: string]: object } = {
  timeoutMs: { type: "number", exclusiveMinimum: 0 },
  retry: {
    type: "object",
    additionalProperties: false,
    properties: {
      max: { type: "integer", minimum: 0, maximum: 20 },
      backoff: { enum: ["constant", "linear", "exponential"] },
      delayMs: DURATION,
      maxDelayMs: DURATION,
      jitter: { type: "boolean" },
      on: { type: "array", items: { type: "string" } },
      if: { type: "boolean" },
    },
  },
  when: { type: "boolean" },
  onError: {
    anyOf: [
      { enum: ["fail", "port", "collect"] },
      {
        type: "object",
        required: ["default"],
        properties: { default: {} },
        additionalProperties: false,
      },
    ],
  },
  join: { anyOf: [{ enum: ["all", "any"] }, { type: "integer", minimum: 1 }] },
  concurrency: {
    anyOf: [
      { type: "integer", minimum: 1 },
      {
        type: "object",
        required: ["max", "key"],
        properties: { max: { type: "integer", minimum: 1 }, key: { type: "string" } },
        additionalProperties: false,
      },
    ],
  },
  idempotencyKey: { type: "string" },
  cache: {
    type: "object",
    required: ["ttlMs"],
    properties: { ttlMs: { type: "number", exclusiveMinimum: 0 }, key: {} },
    additionalProperties: false,
  },
  delivery: { enum: ["atLeastOnce", "atMostOnce"] },
};

/** How policies are spelt in text. */
const SPELLING: { readonly [member: string]: string } = {
  timeoutMs: "@timeout",
  onError: "@on-error",
  idempotencyKey: "@idempotency-key",
};

const EVALUATED: ReadonlySet<string> = new Set(POLICY_VALUES.map((path) => path.join("/")));

/** Checks the policies of all nodes. `known` gives the value of an expression that is a constant. */
export function checkPolicies(run: Validation, known: (source: string) => unknown): void {
  for (const node of run.model.nodes) {
    const { policy } = node.node;
    if (!isObject(policy) || isTooDeep(policy)) continue;
    for (const [member, value] of Object.entries(policy)) {
      if (value !== undefined) checkPolicy(run, node, member, value, known);
    }
  }
}

function checkPolicy(
  run: Validation,
  node: NodeModel,
  member: string,
  value: unknown,
  known: (source: string) => unknown,
): void {
  const pointer = `${node.pointer}/policy/${member}`;
  const name = SPELLING[member] ?? `@${member}`;
  const schema = POLICY[member];
  if (schema === undefined) {
    run.findings.add("FLOW2012", pointer, { parts: { name: member }, hint: null });
    return;
  }
  for (const leaf of leavesOf(value, "")) {
    if (isEvaluated(`${member}${leaf.pointer}`)) continue;
    run.findings.add("FLOW3013", pointer + leaf.pointer, { parts: { place: name } });
    return;
  }
  checkValue(run, withUnknowns(value, known), schema, { pointer, name });
  if (member === "onError" && value === "collect" && node.node.type !== "map") {
    const parts = { field: name, list: "fail, port, { default: … }", value: '"collect"' };
    run.findings.add("FLOW3006", pointer, { parts, hint: "`collect` is for `map`" });
  }
}

/** Whether a place inside a policy may hold an expression: `retry/if`, and all that is below `onError/default`. */
function isEvaluated(path: string): boolean {
  const [first = "", second = ""] = path.split("/");
  return EVALUATED.has(first) || EVALUATED.has(`${first}/${second}`);
}

/** The written `@on-error` of a node: a word, `default`, or undefined. */
export function onErrorOf(node: NodeModel): string | undefined {
  const value = own(node.node.policy, "onError");
  if (typeof value === "string") return value;
  return isObject(value) ? "default" : undefined;
}
