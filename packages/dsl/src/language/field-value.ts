/** Values of the text as values of the graph: `{"$"}`, `{"$t"}`, `{"$lit"}`, and data as it is. */

import type { FieldValue, Json } from "@millrace/contracts";
import { pointerSegment, setMember } from "../data.ts";
import type { Expression, TemplateExpression } from "../syntax/ast.ts";
import { ownEntries } from "../syntax/ast.ts";
import { printExpression } from "../syntax/print-expression.ts";

/** Where graph places are in the text; collected only for `locate`. */
export interface Marks {
  add(pointer: string, start: number, end: number, expression?: Expression): void;
}

/** Keys that mean something when an object has no other. */
export function isReserved(key: string): boolean {
  return key === "$" || key === "$t" || key === "$lit";
}

/** The graph form of a value. Recursion goes as deep as the text nests. */
export function toFieldValue(e: Expression, pointer: string, marks: Marks | undefined): FieldValue {
  marks?.add(pointer, e.start, e.end, e);
  switch (e.kind) {
    case "literal":
      return e.value;
    case "list":
      return e.elements.map((element, index) =>
        toFieldValue(element, marks ? `${pointer}/${index}` : "", marks),
      );
    case "object": {
      const entries = ownEntries(e);
      const single = entries.length === 1 ? entries[0] : undefined;
      const wrapped = single !== undefined && isReserved(single.key);
      const inside = wrapped ? `${pointer}/$lit` : pointer;
      if (wrapped) marks?.add(inside, e.start, e.end);
      const members: Record<string, Json> = {};
      for (const { key, value } of entries) {
        const place = marks ? inside + pointerSegment(key) : "";
        setMember(members, key, toFieldValue(value, place, marks));
      }
      return wrapped ? { $lit: members } : members;
    }
    case "template":
      marks?.add(`${pointer}/$t`, e.start, e.end);
      return { $t: templateParts(e, pointer, marks) };
    default:
      marks?.add(`${pointer}/$`, e.start, e.end, e);
      return { $: printExpression(e) };
  }
}

function templateParts(e: TemplateExpression, pointer: string, marks: Marks | undefined): Json[] {
  return e.parts.map((part, index) => {
    if (typeof part === "string") return part;
    marks?.add(`${pointer}/$t/${index}`, part.start, part.end, part);
    marks?.add(`${pointer}/$t/${index}/$`, part.start, part.end, part);
    return { $: printExpression(part) };
  });
}

/** The data that an expression writes out, or `undefined` when a part of it has to be evaluated. */
export function toLiteral(
  e: Expression,
  pointer: string,
  marks: Marks | undefined,
): Json | undefined {
  marks?.add(pointer, e.start, e.end);
  if (e.kind === "literal") return e.value;
  if (e.kind === "list") {
    const elements: Json[] = [];
    for (const [index, element] of e.elements.entries()) {
      const value = toLiteral(element, marks ? `${pointer}/${index}` : "", marks);
      if (value === undefined) return undefined;
      elements.push(value);
    }
    return elements;
  }
  if (e.kind !== "object") return undefined;
  const members: Record<string, Json> = {};
  for (const { key, value } of ownEntries(e)) {
    const data = toLiteral(value, marks ? pointer + pointerSegment(key) : "", marks);
    if (data === undefined) return undefined;
    setMember(members, key, data);
  }
  return members;
}

/** The first part of a value that is no literal. */
export function firstEvaluated(e: Expression): Expression | undefined {
  if (e.kind === "literal") return undefined;
  const inner = e.kind === "list" ? e.elements : e.kind === "object" ? e.entries : undefined;
  if (!inner) return e;
  for (const part of inner) {
    const found = firstEvaluated("value" in part && "key" in part ? part.value : part);
    if (found) return found;
  }
  return undefined;
}
