/**
 * Values in value position: block strings, lists and objects over one line or several. Everything inside an expression is
 * on one line. `Writer` collects the lines.
 */

import type { Expression } from "../syntax/ast.ts";
import {
  type Collection,
  type Comment,
  elementsOf,
  isCollection,
  type Notes,
} from "../syntax/notes.ts";
import { nameText, needsEscape, printExpression } from "../syntax/print-expression.ts";

/** Longest text between the brackets of a list or object on one line. */
export const MAX_INLINE = 72;

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
  return e.kind === "object" && e.entries.some(({ value }) => isCollection(value));
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

/** Whether a text with a line end prints as a block: every character of it can be seen there. */
export function isBlockText(text: string): boolean {
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

/** A line end and the indent behind it, for the levels that are common. */
const LINE_STARTS: readonly string[] = Array.from(
  { length: 12 },
  (_, level) => `\n${"  ".repeat(level)}`,
);

export class Writer {
  // Joined once: a string that grows by small steps becomes a tree that costs more than its text.
  private readonly parts: string[] = [];

  write(text: string): void {
    this.parts.push(text);
  }

  /** Lines that were printed elsewhere, with their indent. */
  lines(text: string): void {
    if (this.parts.length > 0) this.parts.push("\n");
    this.parts.push(text);
  }

  /** Starts a line at an indent of two spaces a level. */
  line(level: number): void {
    const start = LINE_STARTS[level] ?? `\n${"  ".repeat(level)}`;
    this.parts.push(this.parts.length > 0 ? start : start.slice(1));
  }

  /** An empty line before the next one; at the start of the text there is none. */
  emptyLine(): void {
    if (this.parts.length > 0) this.parts.push("\n");
  }

  /** Comments on lines of their own. `atStart`: nothing stands before them in their block, so no empty line does either. */
  comments(comments: readonly Comment[], level: number, atStart: boolean): void {
    for (const [index, comment] of comments.entries()) {
      if (comment.blank && !(atStart && index === 0)) this.emptyLine();
      this.line(level);
      this.parts.push(`#${comment.text}`);
    }
  }

  /** A comment behind what was just written. */
  trailingComment(text: string | undefined): void {
    if (text !== undefined) this.parts.push(` #${text}`);
  }

  /** The printed text, without a final line end. */
  get text(): string {
    return this.parts.join("");
  }

  /** The whole text, with its final line end; nothing is "". */
  finish(): string {
    if (this.parts.length > 0) this.parts.push("\n");
    return this.text;
  }
}
