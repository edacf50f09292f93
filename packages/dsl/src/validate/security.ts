/** Text from outside that reaches a place where it can do harm (FLOW6002, 6005, 6007). */

import type { Expression } from "../expression/ast.ts";
import { isObject, own } from "../model/plain.ts";
import type { FlowType } from "../types/flow-type.ts";
import type { Validation } from "./context.ts";
import { shown } from "./context.ts";
import type { Read, ReadLeaf } from "./reads.ts";
import { mayBeText, Taint, textReads } from "./taint.ts";

const SINKS: { readonly [sink: string]: string } = {
  command: "a command",
  sql: "SQL",
  html: "HTML",
  url: "the host of a URL",
};

/** Follows untrusted text to its sinks. */
export function checkSinks(
  run: Validation,
  leaves: readonly ReadLeaf[],
  types: ReadonlyMap<ReadLeaf, FlowType>,
): void {
  const taint = new Taint(run, leaves);
  for (const read of leaves) {
    if (read.site.kind !== "field" || !mayBeText(types.get(read))) continue;
    const sink = sinkOf(read);
    const isSystem = read.site.name === "system" && isAi(run, read);
    if (sink === undefined && !isSystem) continue;
    if (sink === "url" && hasFixedHost(read)) continue;
    for (const one of textReads(read, sink === "url")) {
      const source = taint.sourceOf(one) ?? inputSource(one, sink);
      if (source !== undefined) report(run, read, one, source, sink);
    }
  }
}

function isAi(run: Validation, { site }: ReadLeaf): boolean {
  return site.reader !== undefined && run.entryOf(site.reader)?.kind === "ai";
}

function sinkOf({ site, leaf }: ReadLeaf): string | undefined {
  for (const schema of leaf.path.length === 0 ? [site.schema] : leaf.schemas) {
    const sink = own(own(schema, "x-millrace"), "sink");
    if (typeof sink === "string") return sink;
  }
  return undefined;
}

/** Inputs count where text is code; URLs and paths of inputs are the business of the policies. */
function inputSource({ meaning, reference }: Read, sink: string | undefined): string | undefined {
  if (meaning.kind !== "inputs" || sink === undefined || sink === "url" || sink === "path") {
    return undefined;
  }
  return shown(["inputs", ...reference.path.slice(0, 1)].join("."));
}

function report(
  run: Validation,
  read: ReadLeaf,
  { reference }: Read,
  source: string,
  sink: string | undefined,
): void {
  const { pointer } = read.leaf;
  const span = read.inText ? { start: reference.start, end: reference.end } : undefined;
  if (sink === undefined) run.findings.add("FLOW6007", pointer, { parts: { source }, span });
  else if (sink === "path") run.findings.add("FLOW6005", pointer, { parts: { source }, span });
  else {
    const isProgram = sink === "command" && read.site.name === "program";
    run.findings.add("FLOW6002", pointer, {
      parts: { source, sink: SINKS[sink] ?? sink },
      span,
      ...(isProgram && { severity: "error" as const }),
    });
  }
}

/** Whether scheme and host of a URL are settled before an expression of it. */
function hasFixedHost({ site, leaf, tree }: ReadLeaf): boolean {
  if (!leaf.hole) return hostSettled(leadingText(tree));
  let value: unknown = site.value;
  for (const key of leaf.path) value = own(value, String(key));
  const parts = own(value, "$t");
  const at = Number(leaf.pointer.slice(leaf.pointer.lastIndexOf("/") + 1));
  if (!Array.isArray(parts)) return false;
  const before = parts.slice(0, at).map((part) => (typeof part === "string" ? part : HOLE));
  return hostSettled(before.join(""));
}

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

/** Whether a value is written as a template. */
export function templateParts(value: unknown): readonly unknown[] | undefined {
  const parts = isObject(value) ? own(value, "$t") : undefined;
  return Array.isArray(parts) ? parts : undefined;
}
