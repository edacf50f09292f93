/** The fields of every node against the schema of its type (FLOW3002-3007, 3013, 3016). */
import type { CatalogEntry, JsonObject } from "@millrace/contracts";
import { nameText, quoteText } from "../expression/print.ts";
import type { NodeModel } from "../model/bodies.ts";
import { schemasAt } from "../model/deferred.ts";
import { isObject, keysOf, listOrNone, objectOrNone, own, step } from "../model/plain.ts";
import { isTooDeep, leavesOf } from "../model/values.ts";
import { readSchema } from "../schema/compile.ts";
import { shown, type Validation } from "./context.ts";
import { checkValue, propertiesOf, withUnknowns } from "./field-values.ts";
import type { Details } from "./findings.ts";
import { literalText } from "./node-types.ts";

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

/** Checks the fields of all nodes. `known` gives the value of an expression that is a constant. */
export function checkFields(run: Validation, known: (source: string) => unknown): void {
  for (const node of run.model.nodes) {
    const entry = run.entryOf(node);
    if (entry !== undefined) checkNode(run, node, entry, known);
  }
}

function checkNode(
  run: Validation,
  node: NodeModel,
  entry: CatalogEntry,
  known: (source: string) => unknown,
): void {
  const fields = objectOrNone(node.node.fields);
  const names = keysOf(fields);
  checkNeeded(run, node, entry, fields);
  for (const name of names) {
    const pointer = `${node.pointer}/fields${step(name)}`;
    const value = fields[name];
    if (isTooDeep(value)) continue;
    const [schema] = schemasAt(entry.fields, name);
    if (schema === undefined) {
      checkKnown(run, node, entry, name);
      continue;
    }
    checkLiteral(run, value, pointer, name, schema);
    checkValue(run, withUnknowns(value, known), schema, { pointer, name });
    if (
      own(own(schema, "x-millrace"), "connection") === true ||
      entry.requires.connection === name
    ) {
      checkConnection(run, value, pointer);
    }
    if (SCHEMA_FIELDS[entry.type] === name) checkSchemaField(run, value, pointer);
  }
  checkPorts(run, node, entry);
}

function checkNeeded(
  run: Validation,
  node: NodeModel,
  entry: CatalogEntry,
  fields: JsonObject,
): void {
  const type = shown(entry.type);
  for (const name of listOrNone(own(entry.fields, "required"))) {
    if (typeof name !== "string" || fields[name] !== undefined) continue;
    run.findings.add("FLOW3002", node.pointer, {
      parts: { type, name: shown(name) },
      fix: insertion(run, node, name, exampleOf(entry, name)),
    });
  }
  const rule = EXCLUSIVE[entry.type];
  if (rule === undefined) return;
  const [a, b] = rule.fields;
  const has = rule.fields.filter((name) => fields[name] !== undefined);
  if (has.length === 2) {
    run.findings.add("FLOW3016", `${node.pointer}/fields/${b}`, { parts: { a, b } });
  } else if (has.length === 0 && rule.one) {
    run.findings.add("FLOW3002", node.pointer, { parts: { type, name: `${a} or ${b}` } });
  }
}

/** The value that a missing field gets: its default, that of an example, or something of its type. */
function exampleOf(entry: CatalogEntry, name: string): string {
  const [schema] = schemasAt(entry.fields, name);
  const example = own(own(entry.examples[0], "fields"), name);
  for (const value of [own(schema, "default"), listOrNone(own(schema, "enum"))[0], example]) {
    if (value === undefined || leavesOf(value, "").length > 0) continue;
    return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : literalSource(value);
  }
  const type = own(schema, "type");
  const first = Array.isArray(type) ? type[0] : type;
  return EMPTY[String(first)] ?? "null";
}

function literalSource(value: unknown): string {
  return typeof value === "string" ? quoteText(value) : JSON.stringify(value);
}

const EMPTY: { readonly [type: string]: string } = {
  string: '""',
  boolean: "false",
  integer: "1",
  number: "1",
  array: "[]",
  object: "{}",
};

/** A new line in the block of a node; a block where there is none. */
function insertion(run: Validation, node: NodeModel, name: string, value: string): Details["fix"] {
  const span = run.places.exact(node.pointer);
  const { source } = run.places;
  if (span === undefined || source === undefined) return undefined;
  const line = `${nameText(name)} = ${value}`;
  const lineStart = source.lastIndexOf("\n", span.start - 1) + 1;
  const indent = /^[ \t]*/.exec(source.slice(lineStart, span.start))?.[0] ?? "";
  const title = `add ${line}`;
  const text = source.slice(span.start, span.end);
  const open = blockStart(text);
  if (open === undefined) {
    return {
      title,
      edits: [{ start: span.end, end: span.end, text: ` {\n${indent}  ${line}\n${indent}}` }],
    };
  }
  const at = span.start + open + 1;
  const rest = /^[ \t]*\n/.test(source.slice(at)) ? "" : `\n${indent}  `;
  return { title, edits: [{ start: at, end: at, text: `\n${indent}  ${line}${rest}` }] };
}

/** Where the `{` of a node's block is; quoted names are passed over. */
function blockStart(text: string): number | undefined {
  const head = /^(?:[^"{\n]|"(?:[^"\\\n]|\\.)*")*\{/.exec(text);
  return head === null ? undefined : head[0].length - 1;
}

function checkKnown(run: Validation, node: NodeModel, entry: CatalogEntry, name: string): void {
  if (own(entry.fields, "additionalProperties") !== false) return;
  const pointer = `${node.pointer}/fields${step(name)}`;
  const near = run.nearest(name, propertiesOf(entry.fields), pointer, nameText);
  const span = keySpan(run, pointer, name);
  const fix =
    near.parts.near &&
    run.findings.replace(`write ${near.parts.near}`, span, nameText(near.parts.near));
  run.findings.add("FLOW3003", pointer, {
    parts: { type: shown(entry.type), name: shown(name), ...near.parts },
    ...(span && { span }),
    fix: fix || undefined,
  });
}

/** The name in front of a field's value: `name =`. */
function keySpan(
  run: Validation,
  pointer: string,
  name: string,
): { start: number; end: number } | undefined {
  const span = run.places.exact(pointer);
  const { source } = run.places;
  if (span === undefined || source === undefined) return undefined;
  for (const spelt of [name, quoteText(name)]) {
    const before = source.slice(0, span.start).trimEnd();
    if (!before.endsWith("=") && !before.endsWith(":")) return undefined;
    const head = before.slice(0, -1).trimEnd();
    if (head.endsWith(spelt)) return { start: head.length - spelt.length, end: head.length };
  }
  return undefined;
}

function checkLiteral(
  run: Validation,
  value: unknown,
  pointer: string,
  name: string,
  schema: unknown,
): void {
  if (own(own(schema, "x-millrace"), "literal") !== true) return;
  const [leaf] = leavesOf(value, pointer);
  if (leaf !== undefined) {
    run.findings.add("FLOW3013", leaf.pointer, { parts: { place: shown(name) } });
  }
}

function checkConnection(run: Validation, value: unknown, pointer: string): void {
  const name = literalText(value);
  if (name === undefined) return;
  const declared = listOrNone(own(run.graph, "connections"))
    .map((connection) => own(connection, "name"))
    .filter((it): it is string => typeof it === "string");
  if (declared.includes(name)) return;
  run.findings.add("FLOW2014", pointer, {
    parts: { name: shown(name), list: declared.map(shown).join(", ") || "none" },
  });
}

function checkSchemaField(run: Validation, value: unknown, pointer: string): void {
  if (leavesOf(value, pointer).length === 0) checkSchema(run, value, pointer);
}

/** FLOW3007 for every problem of a JSON Schema that stands at a place. True: it is one. */
export function checkSchema(run: Validation, schema: unknown, pointer: string): boolean {
  const read = readSchema(schema);
  if (!("problems" in read)) return true;
  for (const problem of read.problems) {
    run.findings.add("FLOW3007", pointer + problem.pointer, {
      parts: { pointer: problem.pointer || "/", problem: problem.message },
    });
  }
  return false;
}

/** A port that a field yields must not have the name of one that means something else. */
function checkPorts(run: Validation, node: NodeModel, entry: CatalogEntry): void {
  const { portsFrom } = entry;
  if (portsFrom === undefined) return;
  const taken = new Set([...entry.ports.map(({ name }) => name), "error"]);
  const value = own(node.node.fields, portsFrom);
  const pointer = `${node.pointer}/fields${step(portsFrom)}`;
  const report = (name: string, at: string): void => {
    if (!taken.has(name)) return;
    const message = `${shown(portsFrom)} must not name the port ${name}, which has a meaning of its own`;
    run.findings.add("FLOW3005", at, { message });
  };
  if (Array.isArray(value)) {
    value.forEach((element, at) => {
      const name = own(element, "name");
      if (typeof name === "string") report(name, `${pointer}/${at}/name`);
    });
  } else if (isObject(value)) for (const name of keysOf(value)) report(name, pointer + step(name));
}
