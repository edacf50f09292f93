/** Text from outside that reaches a place where it can do harm (FLOW6002, 6005, 6007). */

import { isObject, own } from "../../data.ts";
import { shown } from "../../diagnostics/quote.ts";
import type { Expression } from "../../syntax/ast.ts";
import type { Read } from "../model/resolve.ts";
import type { Leaf } from "../model/sites.ts";
import type { Validation } from "../validation.ts";

import type { Checked } from "./expressions.ts";
import { mayBeText, Taint, textReads } from "./taint.ts";

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
    const sink = own(own(schema, "x-millrace"), "sink");
    if (typeof sink === "string") return sink;
  }
  return undefined;
}

/** Inputs count where text is code; URLs and paths of inputs are the business of the policies. */
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
