/** Hover: names, node types, fields, policies, members and functions at an offset. */

import type { CatalogEntry } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { fieldHints, schemasAt } from "../check/model/deferred.ts";
import { listOrNone, objectOrNone, own } from "../data.ts";
import { shown } from "../diagnostics/quote.ts";
import { FLOW_POLICIES, type Member, memberByText, NODE_POLICIES } from "../language/blocks.ts";
import type { AttrItem, Item } from "../language/items.ts";
import { childrenOf, type Expression, type Span } from "../syntax/ast.ts";
import { describeType } from "../types/flow-type.ts";
import { typeFromSchema } from "../types/from-schema.ts";
import { findTypes } from "../types/infer.ts";
import { descriptionOf } from "./completion/offer.ts";
import type { Named, NameIndex, Place } from "./names.ts";
import type { Reading } from "./reading.ts";
import { functionNamed } from "./signature.ts";
import type { Hover } from "./types.ts";

/** The hover at an offset; undefined where nothing is known. */
export function hoverAt(reading: Reading, names: NameIndex, offset: number): Hover | undefined {
  const place = names.at(offset);
  if (place !== undefined && !isMemberBehind(place, reading, offset)) {
    return hover(place, nameText(place.named, reading));
  }
  return (
    typeHover(reading, offset) ?? attributeHover(reading, offset) ?? readHover(reading, offset)
  );
}

function hover({ start, end }: Span, markdown: string | undefined): Hover | undefined {
  return markdown === undefined || markdown === "" ? undefined : { start, end, markdown };
}

/** `nodes["x"]` names x with its last part; `nodes` itself is a word of the language. */
function isMemberBehind({ start, spelling }: Place, { text }: Reading, offset: number): boolean {
  return spelling === "root" && /^nodes\s*[.[?]/.test(text.slice(start)) && offset < start + 5;
}

function nameText(named: Named, reading: Reading): string | undefined {
  const { kind, name, node } = named;
  const title = (detail: string): string => code(`${kind} ${name}${detail && `: ${detail}`}`);
  switch (kind) {
    case "node": {
      const value = node?.entry && `gives ${plain(describeOutput(node.entry))}`;
      return paragraphs(title(node?.node.type ?? ""), entrySummary(node?.entry), value);
    }
    case "input": {
      const input = valueAt(reading, named.pointer);
      const type = describeType(typeFromSchema(objectOrNone(own(input, "schema"))));
      return paragraphs(title(type), plain(descriptionOf(input) ?? ""), defaultText(input));
    }
    case "connection": {
      const connection = valueAt(reading, named.pointer);
      const service = own(connection, "service") ?? own(connection, "slug") ?? name;
      return paragraphs(
        title(String(own(connection, "auth") ?? "")),
        `service ${code(String(service))}`,
      );
    }
    case "local": {
      const { body } = named;
      const env = body && reading.types(body).env(body, []);
      const type = env?.get(name);
      return title(type === undefined ? "" : describeType(type));
    }
    case "variable":
      return title("");
  }
}

/** The part of the graph at a pointer of a list, such as `/inputs/0`. */
function valueAt({ parsed }: Reading, pointer = ""): unknown {
  const [, list = "", index = ""] = pointer.split("/");
  return listOrNone(own(parsed.graph, list))[Number(index)];
}

function describeOutput(entry: CatalogEntry): string {
  const members = memberNames(objectOrNone(own(entry.output, "properties")));
  return members.length === 0
    ? describeType(typeFromSchema(entry.output))
    : `an object with ${members.join(", ")}`;
}

function entrySummary(entry: CatalogEntry | undefined): string | undefined {
  return entry && `**${plain(entry.title)}** (${entry.effect})  \n${plain(entry.summary)}`;
}

/** The type of a node: title, summary, effect, ports, what it needs. */
function typeHover(reading: Reading, offset: number): Hover | undefined {
  const node = reading.nodeAt(offset);
  const span = node && reading.span(`${node.pointer}/type`);
  if (node?.entry === undefined || span === undefined) return undefined;
  if (offset < span.start || offset > span.end) return undefined;
  const { entry } = node;
  const ports = [...reading.validation.ports.of(node).names].map(code).join(", ");
  const { secrets, connection } = entry.requires;
  const needs = [
    ...secrets,
    ...(connection === undefined ? [] : [`a connection in ${connection}`]),
  ];
  return hover(
    span,
    paragraphs(
      entrySummary(entry),
      `ports: ${ports}`,
      needs.length === 0 ? undefined : `needs: ${needs.map(plain).join(", ")}`,
      entry.deprecated === undefined ? undefined : `deprecated: ${plain(entry.deprecated)}`,
    ),
  );
}

/** The name of a field, attribute or policy. */
function attributeHover(reading: Reading, offset: number): Hover | undefined {
  const found = attributeAt(reading.items, offset);
  if (found === undefined) return undefined;
  const { item, keyword } = found;
  const at = { start: item.policy ? item.start : item.nameStart, end: item.nameEnd };
  if (item.policy) {
    const table = keyword === "flow" ? FLOW_POLICIES : NODE_POLICIES;
    return hover(at, memberText(`@${item.name}`, memberByText(table, item.name)));
  }
  const node = keyword === "node" ? reading.nodeAt(offset) : undefined;
  const [schema] = schemasAt(node && fieldHints(node.node, node.entry), item.name);
  if (schema === undefined) return undefined;
  const title = code(`${item.name}: ${describeType(typeFromSchema(objectOrNone(schema)))}`);
  return hover(at, paragraphs(title, plain(descriptionOf(schema) ?? ""), defaultText(schema)));
}

/** The default of an input or a schema. */
function defaultText(holder: unknown): string | undefined {
  const initial = own(holder, "default");
  return initial === undefined ? undefined : `default: ${code(shown(JSON.stringify(initial)))}`;
}

function memberText(name: string, member: Member | undefined): string | undefined {
  if (member === undefined) return undefined;
  const { shape, members = [] } = member;
  const type = shape?.type ?? describeType(typeFromSchema(member.schema));
  const inner = members.map(({ text }) => code(text)).join(", ");
  return paragraphs(
    code(`${name}: ${type}`),
    shape?.choices && `one of ${shape.choices.map(code).join(", ")}`,
    inner === "" ? undefined : `members: ${inner}`,
  );
}

/** The attribute whose name an offset is in, and the keyword of its block. */
function attributeAt(
  items: readonly Item[],
  offset: number,
  keyword = "",
): { item: AttrItem; keyword: string } | undefined {
  const item = items.find(({ start, end }) => start <= offset && offset <= end);
  if (item?.kind === "block") return attributeAt(item.items ?? [], offset, item.keyword);
  if (item?.kind !== "attr" || offset > item.nameEnd) return undefined;
  return { item, keyword };
}

/** A member of what an expression reads, or a function that it calls. */
function readHover(reading: Reading, offset: number): Hover | undefined {
  const written = reading.expressionAt(offset);
  const node = written && partAt(written.tree, offset);
  if (written === undefined || node === undefined) return undefined;
  if (node.kind === "call") {
    const info = functionNamed(node.name);
    const at = { start: node.start, end: node.start + node.name.length };
    return info && hover(at, paragraphs(code(info.signature), plain(info.summary)));
  }
  if (node.kind !== "member" && node.kind !== "name") return undefined;
  const { body } = written.leaf.site;
  const { type } = findTypes(node, reading.types(body).env(body, written.leaf.roots));
  const start = node.kind === "name" ? node.start : node.end - node.name.length;
  return hover({ start, end: node.end }, code(`${node.name}: ${describeType(type)}`));
}

/** The smallest part whose own text, not that of what it reads, holds an offset. */
function partAt(tree: Expression, offset: number): Expression | undefined {
  if (offset < tree.start || offset > tree.end) return undefined;
  for (const part of childrenOf(tree)) {
    const found = partAt(part, offset);
    if (found !== undefined) return found;
  }
  if (tree.kind === "call") return offset <= tree.start + tree.name.length ? tree : undefined;
  return tree.kind === "name" || tree.kind === "member" ? tree : undefined;
}

/** Characters with a meaning in Markdown, in any flavour. */
const MARKUP = /[\\`*_{}[\]()<>#+\-.!|~&$:@/=^"']/g;

/** Text that viewers turn into links although it is escaped; an invisible word joiner prevents it. */
const ADDRESS = /:(?=\/\/)|@|(?<=\bwww)\./gi;

/** Text as itself, on one line. */
function plain(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
  return line.replace(MARKUP, "\\$&").replace(ADDRESS, "$&\u2060");
}

/** Text in a code span, on one line. */
function code(text: string): string {
  const line = text.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim();
  if (line === "") return "";
  const longest = Math.max(0, ...[...line.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  const pad = line.startsWith("`") || line.endsWith("`") ? " " : "";
  return fence + pad + line + pad + fence;
}

/** Paragraphs without the empty ones. */
function paragraphs(...parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== "").join("\n\n");
}
