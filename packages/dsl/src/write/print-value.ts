/**
 * Values in value position: block strings, lists and objects over one line or several. Everything inside an expression is
 * on one line.
 */
import type { Expression } from "../syntax/ast.ts";
import { type Collection, elementsOf, isCollection, type Notes } from "../syntax/notes.ts";
import { nameText, needsEscape, printExpression } from "../syntax/print-expression.ts";
import type { Writer } from "./writer.ts";

/** Longest text between the brackets of a list or object on one line. */
const MAX_INLINE = 72;

/** Prints a value whose key stands at indent `level`. */
export function printValue(w: Writer, e: Expression, level: number): void {
  if (isCollection(e)) {
    const inline = inlineCollection(e);
    if (inline === undefined) printLines(w, e, level);
    else w.write(inline);
  } else if (isBlock(e)) printBlock(w, e, level);
  else w.write(printExpression(e));
}

/** The text of a collection that fits on one line. */
function inlineCollection(e: Collection): string | undefined {
  if (e.notes) return undefined;
  const count = e.kind === "list" ? e.elements.length : e.entries.length;
  for (let index = 0; index < count; index += 1) {
    if (holdsCollection(elementAt(e, index))) return undefined;
  }
  let text = "";
  for (let index = 0; index < count; index += 1) {
    const inline = inlineValue(elementAt(e, index));
    if (inline === undefined) return undefined;
    if (index > 0) text += ", ";
    if (e.kind === "object") text += `${nameText(e.entries[index]?.key ?? "")}: `;
    text += inline;
    if (text.length > MAX_INLINE) return undefined;
  }
  if (e.kind === "list") return `[${text}]`;
  return text === "" ? "{}" : `{ ${text} }`;
}

function elementAt(e: Collection, index: number): Expression {
  return (e.kind === "list" ? e.elements[index] : e.entries[index]?.value) as Expression;
}

function inlineValue(e: Expression): string | undefined {
  if (isCollection(e)) return inlineCollection(e);
  return isBlock(e) ? undefined : printExpression(e);
}

function holdsCollection(e: Expression): boolean {
  if (e.kind === "list") return e.elements.some(isCollection);
  return e.kind === "object" && e.entries.some(isCollectionEntry);
}

function isCollectionEntry(entry: { readonly value: Expression }): boolean {
  return isCollection(entry.value);
}

/** One element a line. */
function printLines(w: Writer, e: Collection, level: number): void {
  const isList = e.kind === "list";
  w.write(isList ? "[" : "{");
  for (const [index, element] of elementsOf(e).entries()) {
    const notes: Notes | undefined = e.notes?.elements[index];
    if (notes) {
      w.comments(notes.lead, level + 1, index === 0);
      if (notes.blank && (index > 0 || notes.lead.length > 0)) w.emptyLine();
    }
    w.line(level + 1);
    if (!isList) w.write(`${nameText(e.entries[index]?.key ?? "")}: `);
    printValue(w, element, level + 1);
    w.write(",");
    w.trailingComment(notes?.trailingComment);
  }
  w.comments(e.notes?.foot ?? [], level + 1, elementsOf(e).length === 0);
  w.line(level);
  w.write(isList ? "]" : "}");
}

/** Whether a string or template prints as a block: it holds a line end, and every character of it can be seen there. */
function isBlock(e: Expression): boolean {
  if (e.kind === "literal") return typeof e.value === "string" && isBlockText(e.value);
  if (e.kind !== "template") return false;
  // A hole is a visible character; U+E000 stands for it.
  return isBlockText(e.parts.map((part) => (typeof part === "string" ? part : "\ue000")).join(""));
}

function isBlockText(text: string): boolean {
  return text.includes("\n") && !/[ \t](?:\n|$)/.test(text) && !needsEscape(text);
}

function printBlock(w: Writer, e: Expression, level: number): void {
  const parts = e.kind === "template" ? e.parts : [e.kind === "literal" ? String(e.value) : ""];
  let longest = 2;
  for (const part of parts) {
    if (typeof part === "string") longest = Math.max(longest, longestQuotes(part));
  }
  const fence = '"'.repeat(longest + 1);
  let text = "";
  for (const [index, part] of parts.entries()) {
    if (typeof part !== "string") text += `\${${printExpression(part)}}`;
    else text += blockText(part, typeof parts[index + 1] === "object");
  }
  w.write(fence);
  for (const line of text.split("\n")) {
    if (line === "") w.emptyLine();
    else {
      w.line(level + 1);
      w.write(line);
    }
  }
  w.line(level + 1);
  w.write(fence);
}

/** Literal text of a block: backslashes count only before `${`, where each of them is doubled. */
function blockText(text: string, beforeHole: boolean): string {
  const literal = text.replace(/(\\*)\$\{/g, (_, slashes: string) => `${slashes}${slashes}\\\${`);
  return beforeHole ? literal.replace(/\\+$/, (slashes) => slashes + slashes) : literal;
}

function longestQuotes(text: string): number {
  let longest = 0;
  for (const run of text.match(/"+/g) ?? []) longest = Math.max(longest, run.length);
  return longest;
}
