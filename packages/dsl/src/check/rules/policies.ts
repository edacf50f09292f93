/** Policies of nodes: types and ranges, what must be literal, what goes together (FLOW3004-3006, 3013, 4008, 4014). */

import type { JsonSchema } from "@millrace/contracts";
import { pointerSegment } from "@millrace/contracts/kit";
import { isObject, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import { memberByKey, NODE_POLICIES } from "../../language/blocks.ts";
import type { NodeModel } from "../model/bodies.ts";
import { POLICY_VALUES } from "../model/sites.ts";
import { expressionsOf } from "../model/walk-value.ts";
import type { Validation } from "../validation.ts";
import { checkValue } from "./check-value.ts";

/** Checks the policies of a node. */
export function checkPolicies(ctx: Validation, node: NodeModel): void {
  const { policy } = node.node;
  if (!isObject(policy) || !ctx.isReadable(policy)) return;
  for (const [member, value] of Object.entries(policy)) {
    if (value !== undefined) checkPolicy(ctx, node, member, value);
  }
  checkDefault(ctx, node, own(own(policy, "onError"), "default"));
}

/** A substitute for an output must fit its schema; members that are required may be left out. */
function checkDefault(ctx: Validation, node: NodeModel, value: unknown): void {
  const output = node.entry?.output;
  if (value === undefined || output === undefined || !isObject(own(output, "properties"))) return;
  const pointer = `${node.pointer}/policy/onError/default`;
  checkValue(ctx, value, withoutRequired(output), { pointer, name: "the default" });
}

const open = new WeakMap<JsonSchema, JsonSchema>();

/** The schema without what it requires; one object for each, so that it is compiled once. */
function withoutRequired(schema: JsonSchema): JsonSchema {
  const known = open.get(schema);
  if (known !== undefined) return known;
  const { required: _, ...made } = schema;
  open.set(schema, made);
  return made;
}

function checkPolicy(ctx: Validation, node: NodeModel, member: string, value: unknown): void {
  const known = memberByKey(NODE_POLICIES, member);
  if (known === undefined) {
    const near = ctx.near(
      member,
      NODE_POLICIES.map(({ key }) => key),
    );
    ctx.report("FLOW2012", `${node.pointer}/policy${pointerSegment(member)}`, {
      parts: { name: shown(member), near },
    });
    return;
  }
  const place = { pointer: `${node.pointer}/policy/${member}`, name: `@${known.text}` };
  for (const expression of isObject(value) ? expressionsOf(value) : []) {
    if (isEvaluated(member + expression)) continue;
    const parts = { place: place.name };
    ctx.report("FLOW3013", place.pointer + expression, { parts });
    return;
  }
  checkValue(ctx, value, known.schema, place);
  if (member === "onError" && value === "collect" && node.node.type !== "map") {
    const parts = { field: place.name, list: "fail, port, { default: … }", value: '"collect"' };
    ctx.report("FLOW3006", place.pointer, { parts, hint: "`collect` is for `map`" });
  }
}

/** Whether a place inside a policy may hold an expression: `retry/if`, and all that is below `onError/default`. */
function isEvaluated(place: string): boolean {
  return POLICY_VALUES.some(([, path]) => `${place}/`.startsWith(`${path.join("/")}/`));
}

/** The written `@on-error` of a node: a word, `default`, or undefined. */
export function onErrorOf(node: NodeModel): string | undefined {
  const value = own(node.node.policy, "onError");
  if (typeof value === "string") return value;
  return isObject(value) ? "default" : undefined;
}
