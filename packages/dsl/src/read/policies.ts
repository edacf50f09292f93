/** Policies of nodes and of the flow: `@name = value` to a member of `policy`. */

import type { Json } from "@millrace/contracts";
import { MEMBER_ALIASES, meantName, POLICY_ALIASES } from "../diagnostics/aliases.ts";
import { replacement } from "../diagnostics/bag.ts";
import { quoteForMessage } from "../diagnostics/quote.ts";
import {
  FLOW_POLICIES,
  type MemberKind,
  POLICY_KINDS,
  POLICY_MEMBERS,
} from "../language/blocks.ts";
import type { AttrItem } from "../language/items.ts";
import { NEEDED, POLICY_SHAPES } from "../language/member-shapes.ts";
import type { Expression, ObjectExpression } from "../syntax/ast.ts";
import { ownEntries } from "../syntax/ast.ts";
import type { MappingContext } from "./mapping-context.ts";

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
      POLICY_ALIASES,
    );
    return;
  }
  const [text, name] = row;
  const pointer = `${place.pointer}/${name}`;
  const isOfFlow = place.table === FLOW_POLICIES;
  const value =
    !isOfFlow && POLICY_MEMBERS.has(text) && item.value.kind === "object"
      ? mapMembers(context, item.value, text, pointer)
      : mapMember(context, item.value, [text, name, POLICY_KINDS.get(text) ?? "literal"], {
          field: `@${text}`,
          pointer,
        });
  if (value === undefined) return;
  policy[name] = value;
  context.take(item);
}

function mapMember(
  context: MappingContext,
  e: Expression,
  [name, , kind]: readonly [string, string, MemberKind],
  { field, pointer }: { readonly field: string; readonly pointer: string },
): Json | undefined {
  if (kind === "value") return context.value(e, pointer);
  return kind === "duration"
    ? context.duration(e, field, pointer)
    : context.literal(e, field, pointer, POLICY_SHAPES[name]);
}

function mapMembers(
  context: MappingContext,
  e: ObjectExpression,
  policy: string,
  pointer: string,
): Json | undefined {
  const members = POLICY_MEMBERS.get(policy) ?? [];
  const result: Record<string, Json> = {};
  context.marks?.add(pointer, e.start, e.end);
  const entries = ownEntries(e);
  for (const { key, value } of entries) {
    const member = members.find(([text]) => text === key);
    if (!member) {
      const names = members.map(([text]) => text);
      unknownMember(context, key, value, policy, names);
      continue;
    }
    const [text, name] = member;
    const place = { field: `@${policy}.${text}`, pointer: `${pointer}/${name}` };
    const data = mapMember(context, value, member, place);
    if (data !== undefined) result[name] = data;
  }
  const missing = (NEEDED[policy] ?? []).find(([, name]) => !Object.hasOwn(result, name));
  if (!missing) return result;
  const [name] = missing;
  if (!entries.some(({ key }) => key === name)) {
    context.report.add("FLOW3002", e.start, e.end, {
      parts: { type: `@${policy}`, name },
      pointer,
    });
  }
  return undefined;
}

function unknownMember(
  context: MappingContext,
  key: string,
  value: Expression,
  policy: string,
  names: readonly string[],
): void {
  const near = meantName(key, names, MEMBER_ALIASES);
  const [start, end] = keyRange(context.source, key, value.start);
  context.report.add("FLOW2013", start, end, {
    parts: {
      name: quoteForMessage(key),
      block: `@${policy}`,
      near,
    },
    fix: near !== undefined ? replacement(`write ${near}`, start, end, near) : undefined,
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
