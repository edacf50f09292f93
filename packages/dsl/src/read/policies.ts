/** Policies of nodes and of the flow: `@name = value` to a member of `policy`. */
import type { Json } from "@millrace/contracts";
import { MEMBER_ALIASES, meantName, POLICY_ALIASES } from "../diagnostics/aliases.ts";
import { shown } from "../diagnostics/quote.ts";
import { type Member, memberByText, textNames } from "../language/blocks.ts";
import type { AttrItem } from "../language/items.ts";
import { type Expression, type ObjectExpression, ownEntries } from "../syntax/ast.ts";
import type { MappingContext } from "./mapping-context.ts";

/** Reads one policy into `policy`; `pointer` is the one of `policy` itself. */
export function mapPolicy(
  context: MappingContext,
  item: AttrItem,
  policy: Record<string, Json>,
  { table, pointer: around }: { readonly pointer: string; readonly table: readonly Member[] },
): void {
  const member = memberByText(table, item.name);
  if (!member) {
    context.unknown(item, "", textNames(table), POLICY_ALIASES);
    return;
  }
  const { value } = item;
  const pointer = `${around}/${member.key}`;
  const data =
    member.members && value.kind === "object"
      ? mapMembers(context, value, { policy: member.text, members: member.members }, pointer)
      : context.member(value, member, `@${member.text}`, pointer);
  if (data === undefined) return;
  policy[member.key] = data;
  context.take(item);
}

interface Group {
  readonly policy: string;
  readonly members: readonly Member[];
}

function mapMembers(
  context: MappingContext,
  e: ObjectExpression,
  group: Group,
  pointer: string,
): Json | undefined {
  const { policy, members } = group;
  const result: Record<string, Json> = {};
  context.marks?.add(pointer, e.start, e.end);
  const entries = ownEntries(e);
  for (const { key, value } of entries) {
    const member = memberByText(members, key);
    if (!member) {
      unknownMember(context, key, value, group);
      continue;
    }
    const place = `${pointer}/${member.key}`;
    const data = context.member(value, member, `@${policy}.${member.text}`, place);
    if (data !== undefined) result[member.key] = data;
  }
  const missing = members.find(({ key, needed }) => needed && !Object.hasOwn(result, key));
  if (!missing) return result;
  if (!entries.some(({ key }) => key === missing.text)) {
    const parts = { type: `@${policy}`, name: missing.text };
    context.report.add("FLOW3002", e.start, e.end, { parts, pointer });
  }
  return undefined;
}

function unknownMember(
  context: MappingContext,
  key: string,
  value: Expression,
  { policy, members }: Group,
): void {
  const near = meantName(key, textNames(members), MEMBER_ALIASES);
  const [start, end] = keyRange(context.source, key, value.start);
  context.report.add("FLOW2013", start, end, {
    parts: { name: shown(key), block: `@${policy}`, near },
    fix: near,
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
