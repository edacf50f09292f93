/** Policies of the graph to `@name = value` items, with the check of their shape. */
import type { Json, JsonObject } from "@millrace/contracts";
import type { Expression } from "../expression/ast.ts";
import { isObject, memberNames } from "../expression/values.ts";
import { attr, data, field, invalid } from "./from-graph.ts";
import { DURATION, NEEDED, POLICY_SHAPES } from "./member-shapes.ts";
import type { Item } from "./tree.ts";
import { pointerSegment } from "./values.ts";
import { type MemberKind, POLICY_KINDS, POLICY_MEMBERS } from "./words.ts";

/** The items of a `policy` object. */
export function policyItems(
  policy: JsonObject,
  pointer: string,
  table: readonly (readonly [string, string])[],
  depth = 0,
): Item[] {
  return memberNames(policy).map((name) => {
    const row = table.find(([, graph]) => graph === name);
    const place = pointer + pointerSegment(name);
    if (!row) return invalid(place, "is not known");
    const [text] = row;
    const value = policy[name] as Json;
    const members = pointer === "/policy" ? undefined : POLICY_MEMBERS.get(text);
    const expression =
      members && isObject(value)
        ? membersOf(value, text, place, depth)
        : member(value, POLICY_KINDS.get(text) ?? "literal", text, place, depth);
    return attr(text, expression, true);
  });
}

function membersOf(object: JsonObject, policy: string, pointer: string, depth: number): Expression {
  const members = POLICY_MEMBERS.get(policy) ?? [];
  const names = memberNames(object);
  const missing = (NEEDED[policy] ?? []).find(([, name]) => !names.includes(name));
  if (missing !== undefined) invalid(`${pointer}/${missing[1]}`, "is needed");
  const entries = names.map((name) => {
    const row = members.find(([, graph]) => graph === name);
    const place = pointer + pointerSegment(name);
    if (!row) return invalid(place, "is not known");
    const [key, , kind] = row;
    return { key, value: member(object[name] as Json, kind, key, place, depth + 1) };
  });
  return { kind: "object", entries, start: 0, end: 0 };
}

function member(
  value: Json,
  kind: MemberKind,
  name: string,
  pointer: string,
  depth: number,
): Expression {
  if (kind === "value") return field(value, pointer, depth);
  if (kind === "duration") {
    if (!DURATION.is(value)) invalid(pointer, `must be ${DURATION.rule}`);
    return { kind: "duration", ms: value as number, start: 0, end: 0 };
  }
  const shape = POLICY_SHAPES[name];
  if (shape && !shape.is(value)) invalid(pointer, `must be ${shape.rule}`);
  return data(value, pointer);
}
