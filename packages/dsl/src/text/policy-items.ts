/** Policies of the graph to `@name = value` items, with the check of their shape. */
import type { Json, JsonObject } from "@millrace/contracts";
import type { Expression } from "../expression/ast.ts";
import { memberNames } from "../expression/values.ts";
import { attr, data, field, invalid } from "./from-graph.ts";
import type { Item } from "./tree.ts";
import { pointerSegment } from "./values.ts";
import { type MemberKind, POLICY_KINDS, POLICY_MEMBERS } from "./words.ts";

const isCount = (value: Json): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isOneOf =
  (...words: readonly string[]) =>
  (value: Json): boolean =>
    words.includes(value as string);
const isTexts = (value: Json): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === "string");
const isObject = (value: Json): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

interface Shape {
  readonly is: (value: Json) => boolean;
  readonly words: string;
}

const COUNT: Shape = { is: isCount, words: "must be a whole number from 0" };

/** What literal policies and literal members of policies must be, by their names in the text. */
const SHAPES: { readonly [name: string]: Shape } = {
  join: {
    is: (value) => isCount(value) || isOneOf("all", "any")(value),
    words: "must be all, any or a whole number",
  },
  concurrency: COUNT,
  max: COUNT,
  "on-error": {
    is: isOneOf("fail", "port", "collect"),
    words: "must be fail, port, collect or { default }",
  },
  "on-failure": { is: isOneOf("stop", "finish"), words: "must be stop or finish" },
  delivery: {
    is: isOneOf("atLeastOnce", "atMostOnce"),
    words: "must be atLeastOnce or atMostOnce",
  },
  backoff: {
    is: isOneOf("constant", "linear", "exponential"),
    words: "must be constant, linear or exponential",
  },
  jitter: { is: (value) => typeof value === "boolean", words: "must be true or false" },
  on: { is: isTexts, words: "must be a list of strings" },
  retry: { is: () => false, words: "must be an object" },
  cache: { is: () => false, words: "must be an object" },
};

/** Members that an object policy cannot do without, by their names in the graph. */
const NEEDED: { readonly [policy: string]: readonly string[] } = {
  concurrency: ["max", "key"],
  cache: ["ttlMs"],
  "on-error": ["default"],
};

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
    const members = pointer === "/policy" ? undefined : POLICY_MEMBERS[text];
    const expression =
      members && isObject(value)
        ? membersOf(value, text, place, depth)
        : member(value, POLICY_KINDS[text] ?? "literal", text, place, depth);
    return attr(text, expression, true);
  });
}

function membersOf(object: JsonObject, policy: string, pointer: string, depth: number): Expression {
  const members = POLICY_MEMBERS[policy] ?? [];
  const names = memberNames(object);
  const missing = (NEEDED[policy] ?? []).find((name) => !names.includes(name));
  if (missing !== undefined) invalid(`${pointer}/${missing}`, "is needed");
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
    if (!isCount(value)) invalid(pointer, "must be a whole number of milliseconds");
    return { kind: "duration", ms: value as number, start: 0, end: 0 };
  }
  const shape = SHAPES[name];
  if (shape && !shape.is(value)) invalid(pointer, shape.words);
  return data(value, pointer);
}
