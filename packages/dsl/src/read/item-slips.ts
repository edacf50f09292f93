/**
 * Items that are not written as they should be, on the way to a message: reported, and read as meant where that is clear.
 */

import { aliasOf, BLOCK_HINTS } from "../diagnostics/aliases.ts";
import { replacement } from "../diagnostics/bag.ts";
import { type Block, memberByText, NODE_POLICIES } from "../language/blocks.ts";
import type { FreshItem, Label, TypeNode } from "../language/items.ts";
import { CHAR, CLASSES, isNameStart } from "../syntax/chars.ts";
import { FAIL } from "../syntax/cursor.ts";
import type { Scanner } from "../syntax/scanner.ts";
import { behindBrackets } from "../syntax/skip.ts";
import { readEdge } from "./edges.ts";
import { readType } from "./read-type.ts";
import { beginsValue, holdsType, isProse, proseEnd, severalEnds } from "./slips.ts";

/** Reports unexpected text where an item begins; always throws. */
export function unexpectedStart(s: Scanner): never {
  const code = s.peek();
  if (code === 91) severalEnds(s);
  if (/^(?:<{7}|={7}|>{7})(?![<=>])/.test(s.src.slice(s.pos, s.pos + 8))) {
    const found = "a merge conflict";
    s.error("FLOW1006", s.pos, s.lineEnd(s.pos), { parts: { what: "a name", found } });
    throw FAIL;
  }
  if (code < 128) return s.expected("a name");
  const end = s.tokenEndAt(s.pos);
  s.error("FLOW1001", s.pos, end, { parts: { found: s.tokenText(s.pos, end) } });
  throw FAIL;
}

/** The type of a head without its colon, `node a t {`; undefined where a type need not stand. */
export function typeWithoutColon(s: Scanner, rule: Block): TypeNode | undefined {
  const start = s.pos;
  const from = s.tokenEnd;
  const isEquals = rule.value === "none" && s.peek() === 61;
  const at = isEquals ? firstBehind(s, start + 1) : start;
  const isType = isNameStart(s.src.charCodeAt(at)) && holdsType(s, at);
  if (!isType) return rule.type === "needed" ? s.expected("`:` and a type") : undefined;
  const end = s.tokenEndAt(start);
  s.error("FLOW1006", start, end, {
    parts: { what: "`:`", found: s.tokenText(start, end) },
    fix: replacement("write :", from, isEquals ? end : from, ":"),
  });
  s.pos = at;
  return readType(s);
}

/** `edge a -> b`: read as the edge that it is. */
export function edgeBehindWord(
  s: Scanner,
  start: number,
  { text, start: from, end }: Label,
): FreshItem {
  s.error("FLOW1106", start, from, {
    message: "an edge is written without a word in front",
    fix: "",
  });
  return readEdge(s, from, text, end);
}

/** Whether a word is followed by what the head of a block never has: `if a.b > 1 {`, `return x`. */
export function isStatement(s: Scanner, keywordEnd: number): boolean {
  const rest = s.src.slice(keywordEnd, Math.min(s.lineEnd(keywordEnd), keywordEnd + MAX_HEAD));
  return !/^[ \t]*(?:[A-Za-z_][\w-]*|"[^"]*")?[ \t]*(?:[:={#].*)?$/.test(rest);
}

/** A longer line is not searched for a statement. */
const MAX_HEAD = 1000;

/** A statement of another language: reported, and passed over with its block. */
export function statement(s: Scanner, start: number, keyword: string, keywordEnd: number): never {
  s.error("FLOW1006", start, keywordEnd, {
    parts: { what: "a block", found: keyword },
    hint: aliasOf(keyword, BLOCK_HINTS) ?? null,
  });
  const open = s.src.indexOf("{", keywordEnd);
  if (open !== -1 && open < s.lineEnd(keywordEnd)) {
    s.pos = s.tokenEnd = behindBrackets(s.src, open);
  }
  throw FAIL;
}

/** A word that is neither a block nor a field with its `=`; `mends`: any field of that name may stand here. */
export function noEqualsSign(s: Scanner, keywordEnd: number, mends: boolean): never {
  const at = firstBehind(s, keywordEnd);
  const end = s.tokenEndAt(at);
  s.error("FLOW1006", at, end, {
    parts: { what: "`=`", found: s.tokenText(at, end) },
    fix:
      mends && beginsValue(s, at)
        ? replacement("write =", keywordEnd, keywordEnd, " =")
        : undefined,
  });
  throw FAIL;
}

/** Whether a node has a policy of this name. */
export function isPolicy(name: string): boolean {
  return memberByText(NODE_POLICIES, name) !== undefined;
}

/** The first character from `at` on that is not blank. */
export function firstBehind(s: Scanner, at: number): number {
  let first = at;
  while (CLASSES[s.src.charCodeAt(first)] === CHAR.blank) first += 1;
  return first;
}

/** A closer that closes nothing is skipped. */
export function strayCloser(s: Scanner): void {
  const at = s.pos;
  s.pos += 1;
  s.stray ||= s.src.charCodeAt(at) === 125;
  s.error("FLOW1017", at, at + 1, {
    parts: { closer: s.src.charAt(at) },
    fix: "",
  });
}

/** A line of three backticks: chat programs put a flow between two of them. */
export function markdownFence(s: Scanner): void {
  const start = s.pos;
  const end = s.lineEnd(start);
  const behind = (from: number): number =>
    isProse(s.src.slice(s.lineEnd(from))) ? s.src.length : s.lineEnd(from);
  s.pos = start === s.fenceEnd ? behind(start) : end;
  if (start === s.fenceEnd) return;
  const edits = [{ start: proseEnd(s.src) === start ? 0 : start, end, text: "" }];
  const close = s.src.indexOf("\n```", end);
  if (close !== -1) edits.push({ start: close + 1, end: behind(close + 1), text: "" });
  s.error("FLOW1107", start, end, { fix: { title: "remove it", edits } });
  s.fenceEnd = close === -1 ? -1 : close + 1;
}
