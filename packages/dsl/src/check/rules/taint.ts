/**
 * Text from outside that reaches a place where it can do harm (FLOW6002, 6005, 6007): outputs that the catalog marks
 * `untrusted`, followed through the types that only hand values on.
 */

import type { CatalogEntry } from "@millrace/contracts";
import { isObject, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import { findReferences } from "../../expression/references.ts";
import { childrenOf, type Expression } from "../../syntax/ast.ts";
import { type FlowType, membersOf } from "../../types/flow-type.ts";
import type { BodyModel, NodeModel } from "../model/bodies.ts";
import { hintOf, isHinted } from "../model/deferred.ts";
import type { Read } from "../model/resolve.ts";
import type { Leaf, Site } from "../model/sites.ts";
import type { Validation } from "../validation.ts";
import type { Checked } from "./expressions.ts";

/** Types that hand on what a field of theirs, or their body, gave: that field, and the member of their record that holds it. */
const CARRYING: { readonly [type: string]: readonly [field: string, member: string] } = {
  transform: ["value", "value"],
  switch: ["on", "value"],
  map: ["items", "items"],
  loop: ["init", "state"],
};

/** Functions whose result is no text of their argument. */
const CLEANING: ReadonlySet<string> = new Set(
  "size number int bool type contains indexOf matches startsWith endsWith all exists sum round floor ceil abs range epochMs dateDiff date dateAdd dateFormat dateParse parseDuration sha256 now ago".split(
    " ",
  ),
);

const COMPARING: ReadonlySet<string> = new Set("== != in < <= > >= && ||".split(" "));

/** A source that passes text on: the record of a node, or the locals of a body. */
type Carrier = NodeModel | BodyModel;

class Taint {
  readonly #members = new Map<CatalogEntry, ReadonlySet<string>>();
  /** Where the text of a carrier comes from. */
  readonly #sources = new Map<Carrier, string>();
  /** Source of each arrow along which text is passed on. */
  readonly #from: Carrier[] = [];
  readonly #to: Carrier[] = [];

  /** Notes what an expression hands on. */
  add(checked: Checked): void {
    const to = carriersOf(checked.leaf.site);
    if (to.length === 0) return;
    for (const read of textReads(checked, false)) {
      const source = this.#untrustedRead(read);
      const from = read.node ?? read.body;
      for (const carrier of to) {
        if (source !== undefined && !this.#sources.has(carrier)) this.#sources.set(carrier, source);
        if (from === undefined) continue;
        this.#from.push(from);
        this.#to.push(carrier);
      }
    }
  }

  /** Follows the arrows, once all expressions are noted. */
  spread(): void {
    const open = [...this.#sources.keys()];
    if (open.length === 0) return;
    const arrows = new Map<Carrier, Carrier[]>();
    for (const [at, from] of this.#from.entries()) {
      const to = this.#to[at] as Carrier;
      const known = arrows.get(from);
      if (known === undefined) arrows.set(from, [to]);
      else known.push(to);
    }
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
      const source = this.#sources.get(from) ?? "";
      for (const to of arrows.get(from) ?? []) {
        if (this.#sources.has(to)) continue;
        this.#sources.set(to, source);
        open.push(to);
      }
    }
  }

  /** The source of the text that a read returns; undefined: it is trusted. */
  sourceOf(read: Read): string | undefined {
    const { node, body, name, member } = read;
    if (body !== undefined) return name === "index" ? undefined : this.#sources.get(body);
    if (node === undefined) return undefined;
    const carried = member === undefined || member === CARRYING[node.node.type]?.[1];
    return this.#untrustedRead(read) ?? (carried ? this.#sources.get(node) : undefined);
  }

  #untrustedRead({ node, member }: Read): string | undefined {
    const members = node?.entry && this.#untrusted(node.entry);
    if (node === undefined || members === undefined || members.size === 0) return undefined;
    const named = member ?? [...members][0] ?? "";
    return members.has(named) || members.has("") ? shown(`${node.id}.${named}`) : undefined;
  }

  /** Members of a record that are untrusted; "" stands for all. */
  #untrusted(entry: CatalogEntry): ReadonlySet<string> {
    const known = this.#members.get(entry);
    if (known !== undefined) return known;
    const members = new Set<string>(isHinted([entry.output], "untrusted") ? [""] : []);
    const properties = own(entry.output, "properties");
    if (isObject(properties)) {
      for (const [name, schema] of Object.entries(properties)) if (holds(schema)) members.add(name);
    }
    this.#members.set(entry, members);
    return members;
  }
}

/** The carriers that get the text of a value. */
function carriersOf({ reader, kind, name }: Site): readonly Carrier[] {
  if (reader === undefined) return NO_CARRIERS;
  const { type } = reader.node;
  const isField = kind === "field" && CARRYING[type]?.[0] === name;
  if (!isField && kind !== "body-output") return NO_CARRIERS;
  const { inner } = reader;
  if (type === "loop" && inner !== undefined) return [reader, inner];
  return type === "map" && isField ? (inner === undefined ? NO_CARRIERS : [inner]) : [reader];
}

const NO_CARRIERS: readonly Carrier[] = [];

/** Whether a schema, or one of its members or elements, is marked. */
function holds(schema: unknown): boolean {
  const open = [schema];
  for (let at = 0; at < open.length && at < MAX_SCHEMAS; at += 1) {
    const one = open[at];
    if (isHinted([one], "untrusted")) return true;
    const properties = own(one, "properties");
    if (isObject(properties)) for (const inner of Object.values(properties)) open.push(inner);
    const items = own(one, "items");
    if (isObject(items)) open.push(items);
  }
  return false;
}

/** Schemas of one member that are looked into; a record of more has its marks further up. */
const MAX_SCHEMAS = 1000;

/** Reads whose text is in the result; `encoded`: `uriEncode` cleans, too. */
function textReads({ tree, reads }: Checked, encoded: boolean): readonly Read[] {
  if (reads.length === 0) return reads;
  const clean: Expression[] = [];
  addClean(tree, encoded, clean);
  if (clean.length === 0) return reads;
  const places = findReferences(tree);
  const cleanStarts = new Set(
    clean.flatMap((part) => findReferences(part).map(({ start }) => start)),
  );
  return reads.filter(({ index }) => !cleanStarts.has(places[index]?.start ?? -1));
}

/** Adds the parts of a tree of whose text nothing is in its result. */
function addClean(node: Expression, encoded: boolean, clean: Expression[]): void {
  const cleans =
    (node.kind === "call" && (CLEANING.has(node.name) || (encoded && node.name === "uriEncode"))) ||
    (node.kind === "binary" && COMPARING.has(node.op)) ||
    node.kind === "unary";
  if (cleans) {
    clean.push(node);
    return;
  }
  for (const part of childrenOf(node)) {
    if (node.kind === "conditional" && part === node.test) clean.push(part);
    else addClean(part, encoded, clean);
  }
}

/** Whether values of a type may hold text. */
function mayBeText(type: FlowType | undefined): boolean {
  return (
    type === undefined ||
    membersOf(type).some(({ kind }) => ["any", "string", "list", "object"].includes(kind))
  );
}

const SINKS: { readonly [sink: string]: string } = {
  command: "a command",
  sql: "SQL",
  html: "HTML",
  url: "the host of a URL",
};

/** Text that reaches a sink, from wherever it comes. */
interface Arrival {
  readonly leaf: Leaf;
  readonly read: Read;
  /** None: the `system` of an `ai` node. */
  readonly sink: string | undefined;
}

/** Fields whose values are sent, and never shown: the only ones that take secrets. */
const SECRET_FIELDS: { readonly [type: string]: string } = { "http.request": "headers" };

/** Functions that pass a secret on whole: a redactor finds it in the result. */
const WHOLE: ReadonlySet<string> = new Set(["template", "literal", "name", "member", "index"]);

/** FLOW6008 for a secret that is read elsewhere, not by its name, or to compute something of it. */
export function checkSecrets(ctx: Validation, { leaf, tree, reads }: Checked): void {
  const secrets = reads.filter(({ kind }) => kind === "secrets");
  if (secrets.length === 0) return;
  const { kind, name, reader } = leaf.site;
  const isSent = kind === "field" && SECRET_FIELDS[reader?.node.type ?? ""] === name;
  const isWhole = (node: Expression): boolean =>
    WHOLE.has(node.kind) && !choosesBySecret(node) && childrenOf(node).every(isWhole);
  const places = findReferences(tree);
  for (const { index } of secrets) {
    if (isSent && isWhole(tree) && places[index]?.path.length === 1) continue;
    const span = ctx.map.reference(leaf, index)?.whole;
    ctx.report("FLOW6008", leaf.pointer, { span });
  }
}

/** Whether a secret says which element is read: what is sent then tells of the secret, and no redactor knows it. */
function choosesBySecret(node: Expression): boolean {
  return node.kind === "index" && findReferences(node.index).some(({ root }) => root === "secrets");
}

/** Follows untrusted text to its sinks. */
export class Sinks {
  readonly #taint = new Taint();
  readonly #arrivals: Arrival[] = [];

  /** Notes an expression. */
  add(checked: Checked): void {
    this.#taint.add(checked);
    const { leaf } = checked;
    const { kind, name, reader } = leaf.site;
    if (kind !== "field") return;
    const sink = sinkOf(leaf);
    const isSystem = name === "system" && reader?.entry?.kind === "ai";
    if ((sink === undefined && !isSystem) || !mayBeText(checked.type)) return;
    if (sink === "url" && hasFixedHost(checked)) return;
    for (const read of textReads(checked, sink === "url")) {
      this.#arrivals.push({ leaf, read, sink });
    }
  }

  /** Reports what arrived, once all expressions are noted. */
  report(ctx: Validation): void {
    this.#taint.spread();
    for (const arrival of this.#arrivals) {
      const { read, sink } = arrival;
      const source = this.#taint.sourceOf(read) ?? inputSource(read, sink);
      if (source !== undefined) report(ctx, arrival, source);
    }
  }
}

function sinkOf({ schemas }: Leaf): string | undefined {
  for (const schema of schemas) {
    const sink = hintOf(schema, "sink");
    if (typeof sink === "string") return sink;
  }
  return undefined;
}

/** Inputs count where text is code; URLs and paths of inputs are left to the policies. */
function inputSource({ kind, member }: Read, sink: string | undefined): string | undefined {
  if (kind !== "inputs" || sink === undefined || sink === "url" || sink === "path") {
    return undefined;
  }
  return shown(member === undefined ? "inputs" : `inputs.${member}`);
}

function report(ctx: Validation, { leaf, read, sink }: Arrival, source: string): void {
  const { pointer } = leaf;
  const span = ctx.map.reference(leaf, read.index)?.whole;
  if (sink === undefined) ctx.report("FLOW6007", pointer, { parts: { source }, span });
  else if (sink === "path") ctx.report("FLOW6005", pointer, { parts: { source }, span });
  else {
    const isProgram = sink === "command" && leaf.site.name === "program";
    ctx.report("FLOW6002", pointer, {
      parts: { source, sink: SINKS[sink] ?? sink },
      span,
      severity: isProgram ? ("error" as const) : undefined,
    });
  }
}

/** Whether scheme and host of a URL are settled before an expression of it. */
function hasFixedHost({ leaf, tree }: Checked): boolean {
  if (leaf.hole < 0) return hostSettled(leadingText(tree));
  const parts = templateParts(leaf.path === undefined ? leaf.site.value : leaf.path.value);
  if (parts === undefined) return false;
  const count = Math.min(leaf.hole, MAX_PARTS);
  const before = parts.slice(0, count).map((part) => (typeof part === "string" ? part : HOLE));
  return hostSettled(before.join(""));
}

/** Parts of a URL within which its host ends. */
const MAX_PARTS = 32;
const HOLE = "\uffff";

function hostSettled(before: string): boolean {
  return /[/?#]/.test(before.replace(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//, ""));
}

/** The text that a value starts with, as far as it is written out. */
function leadingText(tree: Expression): string {
  let at = tree;
  while (at.kind === "binary" && at.op === "+") at = at.left;
  if (at.kind === "literal") return typeof at.value === "string" ? at.value : "";
  if (at.kind !== "template") return "";
  const [first] = at.parts;
  return typeof first === "string" ? first : HOLE;
}

/** The parts of a value that is a template. */
export function templateParts(value: unknown): readonly unknown[] | undefined {
  const parts = isObject(value) ? own(value, "$t") : undefined;
  return Array.isArray(parts) ? parts : undefined;
}
