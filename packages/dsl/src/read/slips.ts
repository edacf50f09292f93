/** Looks at text that is not understood for what was meant: only on the way to a message, never on good text. */

import { replacement } from "../diagnostics/bag.ts";
import { isBlockKeyword } from "../language/blocks.ts";
import { FAIL } from "../syntax/cursor.ts";
import type { Scanner } from "../syntax/scanner.ts";

/** A longer line is data and is not searched for a slip. */
const MAX_LINE = 1000;

/** End of an arrow as others draw it (`=>`, `-->`, `==>`, `>>`, `→`, a mere `-`) at `at`, or -1. */
export function arrowEnd(src: string, at: number): number {
  const first = src.charCodeAt(at);
  if (first === 0x2192 || first === 0x21d2) return at + 1;
  let end = at;
  while ("-=\u2013\u2014".includes(src.charAt(end)) && end < src.length) end += 1;
  if (src.charCodeAt(end) !== 62) {
    return end === at + 1 && first !== 61 && /^ +[\w"]/.test(src.slice(end, end + 9)) ? end : -1;
  }
  if (end === at && src.charCodeAt(at + 1) !== 62) return -1;
  while (src.charCodeAt(end) === 62) end += 1;
  return end;
}

/** A longer line of edges would be very many of them. */
const MAX_EDGES = 200;

/** Edges with several nodes at an end, `[a, b] -> c & d`: reported, with a fix that writes one edge a line. */
export function severalEnds(s: Scanner): void {
  const line = lineFrom(s, s.itemStart).replace(/\s*(?:;\s*)?(?:#.*)?$/, "");
  if (line.length > MAX_EDGES) return;
  const ends = line.split(/\s*(?:[-=]*>+|\u2192)\s*/).map((end) => {
    const list =
      /^(?:\[\s*)?([\w-]+(?:\.[\w-]+)?(?:\s*[,&]\s*[\w-]+(?:\.[\w-]+)?)*)(?:\s*\])?$/.exec(end);
    return list?.[1]?.split(/\s*[,&]\s*/);
  });
  const edges = ends.slice(1).flatMap((to, at) => {
    return ends[at]?.flatMap((one) => to?.map((other) => `${one} -> ${other}`)) ?? [undefined];
  });
  // `a -> b, c -> d` are two edges, and are read as two items; with a list beside them only their author knows which two.
  const isTwo = /[>\u2192][^[\]]*,[^[\]]*[>\u2192]/.test(line);
  if (edges.length < 2 || edges.includes(undefined) || (isTwo && !/[[&]/.test(line))) return;
  const { itemStart: start } = s;
  const end = start + line.length;
  s.error("FLOW1006", start, end, {
    parts: { what: "an edge", found: "several" },
    hint: "an edge leads from one node to another",
    fix: isTwo ? undefined : replacement("write each", start, end, edges.join(s.lineBreak(start))),
  });
  throw FAIL;
}

/** Whether what stands at `at`, behind an item, begins another one. */
export function beginsItem(s: Scanner, at: number): boolean {
  const head = /^(@?)([\w-]+)[ \t]*(.{0,2})/.exec(lineFrom(s, at));
  if (!head) return false;
  const [, policy, keyword = "", next = ""] = head;
  if (policy !== "" || isBlockKeyword(keyword)) return true;
  return /^(?:=(?!=)|:)/.test(next) || arrowEnd(next, 0) !== -1;
}

/** Whether a value stands at `at`: a string, a number, a list or a name, and no text of several words. */
export function beginsValue(s: Scanner, at: number): boolean {
  return /^(?:["\d[]|[A-Za-z_][\w-]*(?![\w-]|[ \t]+[\w"]))/.test(lineFrom(s, at));
}

/** Whether a type, and nothing but what may follow one, stands at `at`. */
export function holdsType(s: Scanner, at: number): boolean {
  return /^[A-Za-z_][\w.-]*(?:@\d+)?(?:\[\]|\?)*[ \t\r]*(?:[{=#].*)?$/.test(lineFrom(s, at));
}

/** Hint for text after an item that begins no other item; undefined when the intention is unclear. */
export function hintForRest(s: Scanner, at: number): string | undefined {
  const before = s.src.slice(Math.max(s.itemStart, at - MAX_LINE), at);
  const rest = lineFrom(s, at);
  if (/\bif\b.+\b(?:then|else)\b/.test(before + rest)) return "a choice is written `c ? a : b`";
  if (/^is\b/.test(rest)) return "compare with `==` or `!=`";
  const isBareText = /=[ \t]*[A-Za-z][\w-]*[ \t]*$/.test(before) && !rest.startsWith('"');
  return isBareText ? "text stands in double quotes" : undefined;
}

/** Where the Markdown fence of a flow begins that stands behind lines of prose; 0 when the text begins otherwise. */
export function proseEnd(src: string): number {
  const first = /^\s*(\S{1,4})/.exec(src.slice(0, MAX_LINE))?.[1] ?? "";
  if (first === "" || first === "flow" || /^(?:#|```|\/[/*])/.test(first)) return 0;
  const fence = /^[ \t]*```[^\n]*\n\s*(?:#[^\n]*\n\s*)*flow[ \t]/m.exec(src);
  return fence && isProse(src.slice(0, fence.index)) ? fence.index : 0;
}

/** Whether text says something, and no item of a flow. */
export function isProse(text: string): boolean {
  const item =
    /^[ \t]*(?:flow|input|connection|schedule|node|output|layout)[ \t]+[\w"-]+[ \t]*(?:[:={]|$)|->/m;
  return /^[ \t]*[^\s#]/m.test(text) && !item.test(text);
}

/** A text in JSON or YAML: where it begins, and what to say of it. Undefined for anything that may be a flow. */
export function otherDocument(
  src: string,
): { start: number; end: number; message: string; hint: string } | undefined {
  const start = /[^\s\ufeff]/.exec(src)?.index ?? 0;
  const first = src.charAt(start);
  if (
    first === "{" ||
    (first === "[" && /^\[\s*[[{"\]]/.test(src.slice(start, start + MAX_LINE)))
  ) {
    const hint = "a graph in JSON is no text of a flow; `printFlow` writes it as one";
    return { start, end: start + 1, message: NOT_A_FLOW.replace("{}", "JSON"), hint };
  }
  const head = src.slice(start, start + MAX_HEAD);
  const line = /^(?:(?:#.*)?\n)*([ \t]*.*)/.exec(head)?.[1] ?? "";
  const keys = head.match(/^[ \t]*(?:- )?[A-Za-z_][\w.-]*:(?=[ \t\r]|$)/gm) ?? [];
  const isYaml =
    /^---[ \t\r]*$/.test(line) || (/^[A-Za-z_][\w.-]*:(?:[ \t\r]|$)/.test(line) && keys.length > 1);
  if (!isYaml || !isProse(src)) return undefined;
  const hint = "a step is written `node id: type { field = value }`";
  const end = start + (src.slice(start).search(/\n|$/) || 1);
  return { start, end, message: NOT_A_FLOW.replace("{}", "YAML"), hint };
}

/** Whether a text is JSON or YAML, and no flow. */
export function isOtherDocument(source: string): boolean {
  return otherDocument(source) !== undefined;
}

const NOT_A_FLOW = "this is {}; a flow begins with `flow 1 <id>`";

/** As much of a text as shows in which language it is written. */
const MAX_HEAD = 4000;

function lineFrom(s: Scanner, at: number): string {
  return s.src.slice(at, Math.min(s.lineEnd(at), at + MAX_LINE));
}
