/** The fields of every node against the schema of its type (FLOW3002-3007, 3013, 3016). */

import type { CatalogEntry } from "@millrace/contracts";
import { memberNames, pointerSegment } from "@millrace/contracts/kit";
import { isObject, listOrNone, objectOrNone, own } from "../../data.ts";
import { aliasOf, FIELD_ALIASES, FIELD_HINTS, POLICY_ALIASES } from "../../diagnostics/aliases.ts";
import { replacement, replacing, type TextFix, writing } from "../../diagnostics/bag.ts";
import { shown } from "../../diagnostics/quote.ts";
import { NODE_POLICIES, textNames } from "../../language/blocks.ts";
import { readSchema } from "../../schema/compile.ts";
import { isIdent } from "../../syntax/chars.ts";
import { durationText } from "../../syntax/numbers.ts";
import { nameText, quoteText } from "../../syntax/print-expression.ts";
import type { NodeModel } from "../model/bodies.ts";
import { hintOf, schemasAt } from "../model/deferred.ts";
import type { Site } from "../model/sites.ts";
import { firstExpression, literalText } from "../model/walk-value.ts";
import { keyBefore } from "../source-map.ts";
import { listed, type Validation } from "../validation.ts";
import { checkValue } from "./check-value.ts";

/** Fields of core types that exclude each other; `one`: one of them is needed. */
const EXCLUSIVE: {
  readonly [type: string]: { readonly fields: readonly [string, string]; readonly one?: true };
} = {
  delay: { fields: ["for", "until"], one: true },
  loop: { fields: ["until", "while"] },
  "http.request": { fields: ["body", "form"] },
};

/** Fields of core types that hold a JSON Schema. */
const SCHEMA_FIELDS: { readonly [type: string]: string } = {
  confirm: "schema",
  ai: "outputSchema",
};

/** Checks that a node has the fields that it needs, and none that exclude each other. */
export function checkFields(ctx: Validation, node: NodeModel): void {
  const { entry } = node;
  if (entry === undefined) return;
  checkNeeded(ctx, node, entry);
  checkPorts(ctx, node, entry);
}

/** Checks one field of a node by value. */
export function checkField(ctx: Validation, site: Site): void {
  const { reader: node, name, value, schemas } = site;
  const entry = node?.entry;
  if (entry === undefined) return;
  const schema = schemas[0];
  if (schema === undefined) {
    checkKnown(ctx, site, entry);
    return;
  }
  if (schemas.length === 1) checkValue(ctx, value, schema, site);
  if (entry.type === "delay" && name === "for") checkUnit(ctx, site);
  const hole =
    hintOf(schema, "literal") === true ? firstExpression(value, site.pointer) : undefined;
  if (hole !== undefined) reportHole(ctx, site, hole);
  if (entry.requires.connection === name || hintOf(schema, "connection") === true) {
    checkConnection(ctx, site);
  }
  if (SCHEMA_FIELDS[entry.type] === name && firstExpression(value) === undefined) {
    checkSchema(ctx, value, site.pointer);
  }
}

/** FLOW3014: a duration as a bare number. */
function checkUnit(ctx: Validation, { value, pointer }: Site): void {
  if (typeof value !== "number" || !(value > 0)) return;
  const text = Number.isInteger(value) ? durationText(value) : undefined;
  ctx.report("FLOW3014", pointer, { fix: writing(text, ctx.map.exact(pointer)) });
}

/** FLOW3013; a bare name that no node bears was meant as text. */
function reportHole(ctx: Validation, { name, value, pointer }: Site, hole: string): void {
  const bare = own(value, "$");
  const isText = typeof bare === "string" && isIdent(bare) && ctx.anywhere(bare) === undefined;
  ctx.report("FLOW3013", hole, {
    parts: { place: shown(name) },
    ...(isText && {
      hint: `did you mean ${quoteText(bare)}?`,
      fix: writing(quoteText(bare), ctx.map.exact(pointer)),
    }),
  });
}

function checkNeeded(ctx: Validation, node: NodeModel, entry: CatalogEntry): void {
  const { fields } = node.node;
  const isMeant = meantFields(ctx, node, entry);
  for (const name of listOrNone(own(entry.fields, "required"))) {
    if (typeof name !== "string" || own(fields, name) !== undefined || isMeant(name)) continue;
    ctx.report("FLOW3002", node.pointer, {
      parts: { type: shown(entry.type), name: shown(name) },
      fix: insertion(ctx, node, name, exampleOf(entry, name)),
    });
  }
  const rule = EXCLUSIVE[entry.type];
  if (rule === undefined) return;
  const [a, b] = rule.fields;
  const has = rule.fields.filter((name) => own(fields, name) !== undefined);
  if (has.length === 2) {
    ctx.report("FLOW3016", `${node.pointer}/fields/${b}`, { parts: { a, b } });
  } else if (has.length === 0 && rule.one && !isMeant(a) && !isMeant(b)) {
    ctx.report("FLOW3002", node.pointer, { parts: { type: entry.type, name: `${a} or ${b}` } });
  }
}

/** The value that a missing field gets: its default, that of an example, or something of its type. */
function exampleOf(entry: CatalogEntry, name: string): string {
  const [schema] = schemasAt(entry.fields, name);
  const example = own(own(entry.examples[0], "fields"), name);
  for (const value of [own(schema, "default"), listOrNone(own(schema, "enum"))[0], example]) {
    if (value === undefined || firstExpression(value) !== undefined) continue;
    return typeof value === "string" ? quoteText(value) : JSON.stringify(value);
  }
  const type = own(schema, "type");
  const first = Array.isArray(type) ? type[0] : type;
  return EMPTY[String(first)] ?? "null";
}

const EMPTY: { readonly [type: string]: string } = {
  string: '""',
  boolean: "false",
  integer: "1",
  number: "1",
  array: "[]",
  object: "{}",
};

/** A new line in the block of a node, with a block where there is none. The value is left to the author. */
function insertion(
  ctx: Validation,
  node: NodeModel,
  name: string,
  value: string,
): TextFix | undefined {
  const span = ctx.map.exact(node.pointer);
  const { source } = ctx.map;
  if (span === undefined || source === undefined) return undefined;
  const line = `${nameText(name)} = ${value}`;
  const lineStart = source.lastIndexOf("\n", span.start - 1) + 1;
  const indent = /^[ \t]*/.exec(source.slice(lineStart, span.start))?.[0] ?? "";
  const title = `add ${line}`;
  const text = source.slice(span.start, span.end);
  const open = blockStart(text);
  const at = open === undefined ? span.end : span.start + open + 1;
  const rest = /^[ \t]*\n/.test(source.slice(at)) ? "" : `\n${indent}  `;
  const added = `\n${indent}  ${line}`;
  const newText = open === undefined ? ` {${added}\n${indent}}` : `${added}${rest}`;
  return { ...replacement(title, at, at, newText), uncertain: true };
}

/** Where the `{` of a node's block is; quoted names are passed over. */
function blockStart(text: string): number | undefined {
  let quoted = false;
  for (let at = 0; at < text.length && text[at] !== "\n"; at += 1) {
    if (text[at] === "\\" && quoted) at += 1;
    else if (text[at] === '"') quoted = !quoted;
    else if (text[at] === "{" && !quoted) return at;
  }
  return undefined;
}

function checkKnown(ctx: Validation, site: Site, { fields, type }: CatalogEntry): void {
  const { name, pointer, reader, value: given } = site;
  if (own(fields, "additionalProperties") !== false || reader === undefined) return;
  const { near, policy } = meantField(ctx, reader, name);
  const value = ctx.map.exact(pointer);
  const span = value && keyBefore(ctx.map.source ?? "", value, name);
  const text = policy === undefined ? near && nameText(near) : `@${policy}`;
  const isTime = near === "for" && /^(?:seconds|minutes|hours)$/.test(name);
  const time = isTime && typeof given === "number" ? `for = ${given}${name[0]}` : undefined;
  ctx.report("FLOW3003", pointer, {
    parts: { type: shown(type), name: shown(name), near },
    hint:
      policy === undefined
        ? near === undefined
          ? aliasOf(name, FIELD_HINTS)
          : undefined
        : `${name} is a policy: @${policy}`,
    span,
    fix: time ? writing(time, span && value && { ...span, end: value.end }) : writing(text, span),
  });
}

/** Tells of a field that is missing whether it was written under another name, which is reported there. */
export function meantFields(
  ctx: Validation,
  node: NodeModel,
  entry: CatalogEntry,
): (name: string) => boolean {
  let meant: ReadonlySet<string | undefined> | undefined;
  return (name) => {
    meant ??= new Set(unknownFields(node, entry).map((each) => meantField(ctx, node, each).near));
    return meant.has(name);
  };
}

function unknownFields(node: NodeModel, { fields }: CatalogEntry): string[] {
  if (own(fields, "additionalProperties") !== false) return [];
  const properties = objectOrNone(own(fields, "properties"));
  return memberNames(objectOrNone(node.node.fields)).filter(
    (name) => own(properties, name) === undefined,
  );
}

/** The intended name of an unknown field of a node: another field that is still absent, or a policy. */
function meantField(
  ctx: Validation,
  { node, entry }: NodeModel,
  name: string,
): { near?: string; policy?: string } {
  const policies = textNames(NODE_POLICIES);
  if (policies.includes(name)) return { policy: name };
  const known = memberNames(objectOrNone(own(entry?.fields, "properties")));
  const free = known.filter((key) => own(node.fields, key) === undefined);
  // Whatever the only field of a node is called, it is the only one of its type.
  const isOnly = known.length === 1 && memberNames(objectOrNone(node.fields)).length === 1;
  const near = isOnly ? known[0] : ctx.near(name, free, FIELD_ALIASES);
  if (near !== undefined) return { near };
  const policy = ctx.near(name, policies, POLICY_ALIASES);
  return policy === undefined ? {} : { policy };
}

function checkConnection(ctx: Validation, { value, pointer }: Site): void {
  const name = literalText(value);
  if (name === undefined || ctx.connections.has(name)) return;
  const list = listed(ctx.connections.keys());
  const { fix } = ctx.nearest(name, ctx.connections.keys(), pointer, quoteText);
  const block = (blank: string): string =>
    `connection ${nameText(name)}: ${kindOf(ctx, name)} {${blank}service = ${quoteText(name)}`;
  ctx.report("FLOW2014", pointer, {
    parts: { name: shown(name), list },
    hint: list === "" ? `declare it beside the nodes: \`${shown(`${block(" ")} }`)}\`` : undefined,
    fix: fix ?? declaration(ctx, name, `${block("\n  ")}\n}\n\n`),
  });
}

/** A fix that declares the connection in front of the first node, where a service has its name. */
function declaration(ctx: Validation, name: string, text: string): TextFix | undefined {
  const at = ctx.map.exact("/nodes/0")?.start;
  if (at === undefined || ctx.catalog.services?.includes(name) !== true) return undefined;
  return replacing("declare it", { start: at, end: at }, text);
}

/** How the service is entered, as a flow writes it. */
function kindOf(ctx: Validation, slug: string): string {
  const scheme = ctx.catalog.entry(`service.${slug}`)?.serviceIntegration?.auth.scheme;
  return scheme === undefined || scheme === "oauth2" ? "oauth" : scheme;
}

/** FLOW3007 for every problem of a JSON Schema that stands at a place. True: it is one. */
export function checkSchema(ctx: Validation, schema: unknown, pointer: string): boolean {
  if (!ctx.isReadable(schema)) return false;
  const read = readSchema(schema);
  if (!("problems" in read)) return true;
  for (const problem of read.problems) {
    ctx.report("FLOW3007", pointer + problem.pointer, {
      parts: { pointer: problem.pointer || "/", problem: problem.message },
    });
  }
  return false;
}

/** A port that a field yields must not have the name of one that means something else. */
function checkPorts(ctx: Validation, node: NodeModel, entry: CatalogEntry): void {
  const { portsFrom } = entry;
  if (typeof portsFrom !== "string") return;
  const taken = new Set([...entry.ports.map(({ name }) => name), "error"]);
  const value = own(node.node.fields, portsFrom);
  const pointer = `${node.pointer}/fields${pointerSegment(portsFrom)}`;
  const report = (name: string, at: string): void => {
    if (!taken.has(name)) return;
    const message = `${shown(portsFrom)} must not name the port ${name}, which has a meaning of its own`;
    ctx.report("FLOW3005", at, { message });
  };
  if (Array.isArray(value)) {
    value.forEach((element, at) => {
      const name = own(element, "name");
      if (typeof name === "string") report(name, `${pointer}/${at}/name`);
    });
  } else if (isObject(value))
    for (const name of memberNames(value)) report(name, pointer + pointerSegment(name));
}
