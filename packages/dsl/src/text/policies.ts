/** Policies of nodes and of the flow: `@name = value` to a member of `policy`. */
import type { Json } from "@millrace/contracts";
import type { Expression, ObjectExpression } from "../expression/ast.ts";
import { setMember } from "../expression/values.ts";
import { nearestName } from "../nearest.ts";
import { quoteForMessage } from "./chars.ts";
import type { MappingContext } from "./context.ts";
import type { AttrItem } from "./tree.ts";
import { ownEntries } from "./values.ts";
import { type MemberKind, POLICY_KINDS, POLICY_MEMBERS } from "./words.ts";

type PolicyTable = readonly (readonly [string, string])[];

/** Reads one policy into `policy`; `pointer` is the one of `policy` itself. */
export function mapPolicy(
  context: MappingContext,
  item: AttrItem,
  policy: Record<string, Json>,
  place: { readonly pointer: string; readonly table: PolicyTable },
): void {
  const row = place.table.find(([text]) => text === item.name);
  if (!row) {
    context.unknown(
      item,
      "",
      place.table.map(([text]) => text),
    );
    return;
  }
  const [text, name] = row;
  const pointer = `${place.pointer}/${name}`;
  const members = POLICY_MEMBERS[text];
  const value =
    members && item.value.kind === "object"
      ? mapMembers(context, item.value, text, pointer)
      : mapMember(context, item.value, POLICY_KINDS[text] ?? "literal", `@${text}`, pointer);
  if (value !== undefined) policy[name] = value;
}

function mapMember(
  context: MappingContext,
  e: Expression,
  kind: MemberKind,
  place: string,
  pointer: string,
): Json | undefined {
  if (kind === "value") return context.value(e, pointer);
  return kind === "duration"
    ? context.duration(e, place, pointer)
    : context.literal(e, place, pointer);
}

function mapMembers(
  context: MappingContext,
  e: ObjectExpression,
  policy: string,
  pointer: string,
): Json {
  const members = POLICY_MEMBERS[policy] ?? [];
  const result: Record<string, Json> = {};
  context.marks?.add(pointer, e.start, e.end);
  for (const { key, value } of ownEntries(e)) {
    const member = members.find(([text]) => text === key);
    if (!member) {
      const names = members.map(([text]) => text);
      unknownMember(context, key, value, policy, names);
      continue;
    }
    const [text, name, kind] = member;
    const place = `${text} of @${policy}`;
    const data = mapMember(context, value, kind, place, `${pointer}/${name}`);
    if (data !== undefined) setMember(result, name, data);
  }
  return result;
}

function unknownMember(
  context: MappingContext,
  key: string,
  value: Expression,
  policy: string,
  names: readonly string[],
): void {
  const near = nearestName(key, names);
  const [start, end] = keyRange(context.source, key, value.start);
  context.report.add("FLOW2013", start, end, {
    parts: {
      name: quoteForMessage(key),
      block: `@${policy}`,
      ...(near !== undefined && { near }),
    },
    ...(near !== undefined && {
      fix: { title: `write ${near}`, edits: [{ start, end, text: near }] },
    }),
  });
}

/** Where the key before a value stands; the value itself when the key is spelled with escapes. */
function keyRange(source: string, key: string, valueStart: number): [number, number] {
  const before = source.slice(0, valueStart).trimEnd().slice(0, -1).trimEnd();
  for (const spelled of [key, `"${key}"`, `'${key}'`]) {
    if (before.endsWith(spelled)) return [before.length - spelled.length, before.length];
  }
  return [valueStart, valueStart];
}
