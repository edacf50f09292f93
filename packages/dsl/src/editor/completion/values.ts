/** Completions in a value, by its place: choices, names of connections, operations and flows, keys of objects. */

import type { Json } from "@millrace/contracts/json";
import { declared } from "../../check/model/bodies.ts";
import { deferredRoots, fieldHints, isHinted, schemasAt } from "../../check/model/deferred.ts";
import { operationsOf, slugOf } from "../../check/rules/calls.ts";
import { isObject, listOrNone, own } from "../../data.ts";
import { BLOCKS, type Member, memberByText } from "../../language/blocks.ts";
import { type CursorContext, labelText, stringAt } from "./context.ts";
import { attributeOffers, type Offer, propertyOffers, RANK } from "./offer.ts";
import { policiesOf } from "./structure.ts";

/** The place of a value. */
export interface ValuePlace {
  /** Field, attribute or policy, without its `@`. */
  readonly name: string;
  readonly isPolicy: boolean;
  /** Keys and indexes from the value of the attribute inwards, without the key that the cursor is in. */
  readonly keys: readonly (string | number)[];
  /** A key of an object belongs at the cursor. */
  readonly isKey: boolean;
  /** Nothing of the value stands in front of the cursor. */
  readonly isWhole: boolean;
  /** Expressions have no place here. */
  readonly isLiteral: boolean;
  /** Schemas of the place; several are alternatives. */
  readonly schemas: readonly unknown[];
  /** The member of the language, where the place is not a field. */
  readonly member: Member | undefined;
  /** Roots that expressions have here beside the names of the body. */
  readonly roots: readonly string[];
}

/** The place of the value that the cursor is in. */
export function valuePlace(context: CursorContext): ValuePlace {
  const { reading, block, place, from } = context;
  const { text } = reading;
  const { level, inner } = block;
  const head = text.slice(level.itemStart, level.equalsAt).trim();
  const isPolicy = head.startsWith("@");
  const name = labelText(isPolicy ? head.slice(1).trim() : head);
  const containers = inner.findIndex(({ kind }) => kind === "hole" || kind === "group");
  const data = containers === -1 ? inner : inner.slice(0, containers);
  const keys = data.flatMap(({ kind, itemStart, equalsAt, count }): (string | number)[] => {
    if (kind === "list") return [count];
    return equalsAt < 0 ? [] : [labelText(text.slice(itemStart, equalsAt).trim())];
  });
  const last = inner.at(-1);
  const isKey = last?.kind === "object" && last.equalsAt < 0;
  const begin =
    last === undefined ? level.equalsAt + 1 : Math.max(last.itemStart, last.equalsAt + 1);
  const end = place.inside === "string" ? place.start : from;
  const isWhole = containers === -1 && text.slice(begin, end).trim() === "";
  return { name, isPolicy, keys, isKey, isWhole, ...knownOf(context, name, isPolicy, keys) };
}

function knownOf(
  context: CursorContext,
  name: string,
  isPolicy: boolean,
  keys: readonly (string | number)[],
): Pick<ValuePlace, "isLiteral" | "schemas" | "member" | "roots"> {
  const { kind, node } = context.block;
  if (isPolicy) {
    let member = memberByText(policiesOf(context), name);
    for (const key of keys) member = memberByText(member?.members ?? [], String(key));
    const roots = name === "retry" && keys[0] === "if" ? ["output"] : [];
    const schemas = member === undefined ? [] : [member.schema];
    return { isLiteral: member?.kind !== "value", schemas, member, roots };
  }
  if (kind === "node" && node !== undefined) {
    let schemas = schemasAt(fieldHints(node.node, node.entry), name);
    for (const key of keys) schemas = schemas.flatMap((schema) => schemasAt(schema, key));
    const isLiteral = isHinted(schemas, "literal");
    const roots = schemas.flatMap((schema) => deferredRoots(schema, node.node));
    return { isLiteral, schemas, member: undefined, roots };
  }
  const members = kind === undefined || kind === "file" ? [] : (BLOCKS[kind].attributes ?? []);
  const member = memberByText(members, name);
  const schemas = member === undefined || keys.length > 0 ? [] : [member.schema];
  // The value of an output stands in its head; the default of an input, too, but that is written out.
  const isExpression = kind === "file" ? /^output\b/.test(name) : member?.kind === "value";
  return { isLiteral: !isExpression, schemas, member, roots: [] };
}

/** The values that a place takes, as far as they can be listed. */
export function* valueOffers(context: CursorContext, value: ValuePlace): Generator<Offer> {
  const { name, keys, schemas, member } = value;
  const { reading, block } = context;
  const { node, kind } = block;
  const { catalog } = reading.validation;
  for (const choice of member?.shape?.choices ?? []) yield choiceOffer(context, choice);
  for (const schema of schemas) {
    for (const choice of choicesOf(schema)) yield choiceOffer(context, choice);
  }
  const listed =
    kind === "connection" && name === "service"
      ? catalog.services
      : kind === "schedule" && name === "timezone"
        ? catalog.timeZones
        : undefined;
  for (const choice of listed ?? []) yield choiceOffer(context, choice);
  if (kind !== "node" || node === undefined || keys.length > 0 || value.isPolicy) return;
  if (node.entry?.requires.connection === name || isHinted(schemas, "connection")) {
    for (const [label, connection] of reading.validation.connections) {
      const detail = String(own(connection, "auth") ?? "");
      yield { ...choiceOffer(context, label), kind: "connection", detail };
    }
  }
  if (isHinted(schemas, "flow")) {
    for (const slug of reading.project.flows?.() ?? []) {
      yield { ...choiceOffer(context, slug), kind: "flow" };
    }
  }
  if (node.node.type === "service.call" && name === "operation") {
    for (const { id, summary } of operationsOf(reading.validation, node) ?? []) {
      yield { ...choiceOffer(context, id), detail: summary };
    }
  }
  if (node.entry?.kind === "ai" && name === "provider") {
    for (const id of catalog.providers ?? []) yield choiceOffer(context, id);
  }
}

/** Alternatives of one schema that are looked into. */
const MAX_ALTERNATIVES = 64;

/** The values that a schema lists. */
function choicesOf(schema: unknown): readonly Json[] {
  const found: Json[] = [];
  const open = [schema];
  for (let at = 0; at < open.length && at < MAX_ALTERNATIVES; at += 1) {
    const one = open[at];
    if (!isObject(one)) continue;
    found.push(...listOrNone(own(one, "enum")));
    const only = own(one, "const");
    if (only !== undefined) found.push(only);
    if (own(one, "type") === "boolean") found.push(true, false);
    for (const word of ["anyOf", "oneOf"]) open.push(...listOrNone(own(one, word)));
  }
  return found;
}

/** A value; a text without its quotes where the cursor is in a string. */
function choiceOffer(context: CursorContext, choice: Json): Offer {
  const isText = typeof choice === "string";
  const label = isText ? choice : JSON.stringify(choice);
  const insert = isText ? stringAt(context, choice) : label;
  return { label, insert, kind: "value", rank: RANK.value };
}

/** The keys of an object that are not set yet. */
export function* keyOffers(context: CursorContext, value: ValuePlace): Generator<Offer> {
  const isSet = keysAround(context);
  const members = value.member?.members;
  if (members !== undefined) yield* attributeOffers(members, isSet);
  else {
    for (const schema of [...value.schemas, ...inputsOf(context, value)]) {
      yield* propertyOffers(schema, "property", isSet);
    }
  }
}

/** Inputs of a flow as the schema of the object that gives them. */
function inputsOf({ reading, block }: CursorContext, value: ValuePlace): readonly unknown[] {
  if (value.name !== "inputs" || value.keys.length > 0) return [];
  const called = own(block.node?.node.fields, "flow");
  const given =
    block.kind === "schedule"
      ? declared(reading.parsed.graph, "inputs").map(({ value }) => value)
      : typeof called === "string"
        ? (reading.validation.catalog.flow(slugOf(called))?.inputs ?? [])
        : [];
  const entries = given.map((input): [string, Json] => [
    String(own(input, "name")),
    own(input, "schema") ?? {},
  ]);
  const required = given
    .filter((input) => own(input, "default") === undefined)
    .map((input) => own(input, "name"));
  return [{ properties: Object.fromEntries(entries), required }];
}

/** Text of an object that is looked through for its keys. */
const MAX_OBJECT_TEXT = 10_000;

/** Which keys the object around the cursor has, beside the one that the cursor is in. */
function keysAround({ reading, block, from, to }: CursorContext): (name: string) => boolean {
  const start = (block.inner.at(-1)?.at ?? from) + 1;
  const { text } = reading;
  const before = text.slice(Math.max(start, from - MAX_OBJECT_TEXT), from);
  const behind = text.slice(to, to + MAX_OBJECT_TEXT);
  const close = behind.indexOf("}");
  const around = `${before}\n,${close === -1 ? "" : behind.slice(0, close)}`;
  const keys = new Set(
    [...around.matchAll(/(?:^|[,\n{])\s*("(?:[^"\\\n]|\\.)*"|[\w-]+)\s*[:=]/g)].map(
      ([, key = ""]) => labelText(key),
    ),
  );
  return (name) => keys.has(name);
}
