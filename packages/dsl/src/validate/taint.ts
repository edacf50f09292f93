/**
 * Which texts come from outside: outputs that the catalog marks `untrusted`, followed through the types that only hand
 * values on.
 */
import type { CatalogEntry } from "@millrace/contracts";
import type { Expression } from "../expression/ast.ts";
import type { BodyModel, NodeModel } from "../model/bodies.ts";
import { isObject, own } from "../model/plain.ts";
import { type FlowType, membersOf } from "../types/flow-type.ts";
import { shown, type Validation } from "./context.ts";
import type { Read, ReadLeaf } from "./reads.ts";

/** Types whose record hands on what their fields or bodies gave, by the member that holds it. */
const CARRIED: { readonly [type: string]: string } = {
  transform: "value",
  switch: "value",
  map: "items",
  loop: "state",
};

/** Fields of those types that are handed on. */
const CARRYING: ReadonlySet<string> = new Set([
  "transform.value",
  "switch.on",
  "map.items",
  "loop.init",
]);

/** Functions whose result is no text of their argument. */
const CLEANING: ReadonlySet<string> = new Set(
  "size number int bool type contains startsWith endsWith all exists sum round floor ceil abs range epochMs dateDiff date dateAdd dateFormat sha256 now ago".split(
    " ",
  ),
);

const COMPARING: ReadonlySet<string> = new Set([
  "==",
  "!=",
  "in",
  "<",
  "<=",
  ">",
  ">=",
  "&&",
  "||",
]);

/** What carries text on: the record of a node, or the locals of a body. */
type Carrier = NodeModel | BodyModel;

export class Taint {
  readonly #run: Validation;
  readonly #members = new WeakMap<CatalogEntry, ReadonlySet<string>>();
  /** Where the text of a carrier comes from. */
  readonly #sources = new Map<Carrier, string>();

  constructor(run: Validation, leaves: readonly ReadLeaf[]) {
    this.#run = run;
    this.#spread(leaves);
  }

  /** Where the text comes from that a read brings; undefined: it is trusted. */
  sourceOf({ meaning, reference }: Read): string | undefined {
    if (meaning.kind === "local") {
      return meaning.name === "index" ? undefined : this.#sources.get(meaning.body);
    }
    if (meaning.kind !== "node") return undefined;
    const { node } = meaning;
    const [member] = meaning.path;
    const entry = this.#run.entryOf(node);
    const untrusted = entry === undefined ? undefined : this.#untrusted(entry);
    const named = member === undefined ? [...(untrusted ?? [])][0] : member;
    if (named !== undefined && (untrusted?.has(named) || untrusted?.has(""))) {
      return shown(`${node.id}.${named}`);
    }
    const carried = CARRIED[node.node.type];
    const reads = member === undefined || member === carried;
    return reads && reference.root !== "" ? this.#sources.get(node) : undefined;
  }

  /** Members of a record that are untrusted; "" stands for all. */
  #untrusted(entry: CatalogEntry): ReadonlySet<string> {
    const known = this.#members.get(entry);
    if (known !== undefined) return known;
    const marked = (schema: unknown): boolean =>
      own(own(schema, "x-millrace"), "untrusted") === true;
    const members = new Set<string>(marked(entry.output) ? [""] : []);
    const properties = own(entry.output, "properties");
    if (isObject(properties)) {
      for (const [name, schema] of Object.entries(properties))
        if (holds(schema, marked)) members.add(name);
    }
    this.#members.set(entry, members);
    return members;
  }

  #spread(leaves: readonly ReadLeaf[]): void {
    const arrows = new Map<Carrier, Carrier[]>();
    const open: Carrier[] = [];
    const mark = (carrier: Carrier, source: string): void => {
      if (this.#sources.has(carrier)) return;
      this.#sources.set(carrier, source);
      open.push(carrier);
    };
    const direct: { to: readonly Carrier[]; source: string }[] = [];
    for (const leaf of leaves) {
      const to = carriersOf(leaf);
      if (to.length === 0) continue;
      for (const read of textReads(leaf, false)) {
        const source = this.sourceOf(read);
        if (source !== undefined) direct.push({ to, source });
        const { meaning } = read;
        const from =
          meaning.kind === "node"
            ? meaning.node
            : meaning.kind === "local"
              ? meaning.body
              : undefined;
        if (from !== undefined) arrows.set(from, [...(arrows.get(from) ?? []), ...to]);
      }
    }
    for (const { to, source } of direct) for (const carrier of to) mark(carrier, source);
    for (let from = open.pop(); from !== undefined; from = open.pop()) {
      const source = this.#sources.get(from);
      if (source === undefined) continue;
      for (const to of arrows.get(from) ?? []) mark(to, source);
    }
  }
}

/** What a value hands its text on to. */
function carriersOf({ site }: ReadLeaf): readonly Carrier[] {
  const { reader, kind, name } = site;
  if (reader === undefined) return [];
  const { type } = reader.node;
  const isLoop = type === "loop" && reader.inner !== undefined;
  if (kind === "body-output") return isLoop && reader.inner ? [reader, reader.inner] : [reader];
  if (kind !== "field" || !CARRYING.has(`${type}.${name}`)) return [];
  if (type === "map") return reader.inner === undefined ? [] : [reader.inner];
  return isLoop && reader.inner ? [reader, reader.inner] : [reader];
}

/** Whether a schema, or one of its members or elements, is marked. */
function holds(schema: unknown, marked: (schema: unknown) => boolean): boolean {
  const open = [schema];
  for (let at = 0; at < open.length && at < MAX_SCHEMAS; at += 1) {
    const one = open[at];
    if (marked(one)) return true;
    const properties = own(one, "properties");
    if (isObject(properties)) open.push(...Object.values(properties));
    const items = own(one, "items");
    if (isObject(items)) open.push(items);
  }
  return false;
}

/** Schemas of one member that are looked into; a record of more has its marks further up. */
const MAX_SCHEMAS = 1000;

/** Reads whose text is in the result; `encoded`: `uriEncode` cleans, too. */
export function textReads({ tree, reads }: ReadLeaf, encoded: boolean): readonly Read[] {
  if (reads.length === 0) return reads;
  const clean = cleanSpans(tree, encoded);
  if (clean.length === 0) return reads;
  return reads.filter(
    ({ reference }) =>
      !clean.some((span) => span.start <= reference.start && reference.end <= span.end),
  );
}

function cleanSpans(tree: Expression, encoded: boolean): readonly Expression[] {
  const clean: Expression[] = [];
  const open: Expression[] = [tree];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const cleans =
      (node.kind === "call" &&
        (CLEANING.has(node.name) || (encoded && node.name === "uriEncode"))) ||
      (node.kind === "binary" && COMPARING.has(node.op)) ||
      node.kind === "unary";
    if (cleans) {
      clean.push(node);
      continue;
    }
    if (node.kind === "conditional") {
      clean.push(node.test);
      open.push(node.then, node.otherwise);
    } else open.push(...partsOf(node));
  }
  return clean;
}

/** The parts of a tree. */
export function partsOf(node: Expression): readonly Expression[] {
  switch (node.kind) {
    case "template":
      return node.parts.filter((part): part is Expression => typeof part !== "string");
    case "list":
      return node.elements;
    case "object":
      return node.entries.map(({ value }) => value);
    case "member":
      return [node.object];
    case "index":
      return [node.object, node.index];
    case "call":
      return node.args;
    case "unary":
      return [node.operand];
    case "binary":
      return [node.left, node.right];
    case "conditional":
      return [node.test, node.then, node.otherwise];
    default:
      return [];
  }
}

/** Whether values of a type may hold text. */
export function mayBeText(type: FlowType | undefined): boolean {
  return (
    type === undefined ||
    membersOf(type).some(({ kind }) => ["any", "string", "list", "object"].includes(kind))
  );
}
