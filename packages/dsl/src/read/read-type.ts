/** Types as they are written: `string?`, `{ a: int[] }`, `oauth@2`. */

import { shown } from "../diagnostics/quote.ts";
import type { TypeField, TypeNode } from "../language/items.ts";
import { typeText } from "../language/types.ts";
import { isDigit, isNameStart } from "../syntax/chars.ts";
import { LINE_END, type Scanner } from "../syntax/scanner.ts";
import { readName } from "../syntax/strings.ts";
/** Reads a type at the next token. */
export function readType(s: Scanner): TypeNode {
  const code = s.peek();
  const start = s.pos;
  let depth = s.depth;
  let type = code === 123 ? readObjectType(s) : readTypeName(s);
  if (s.src.charCodeAt(s.pos) === 60 && /^(?:array|list)$/i.test(s.src.slice(start, s.pos))) {
    type = readTypeOfList(s, start);
    depth = s.depth + 1;
  }
  for (;;) {
    const next = s.peek();
    const at = s.pos;
    const isArray = next === 91 && s.src.charCodeAt(at + 1) === 93;
    if (!isArray && next !== 63) return type;
    depth += 1;
    s.pos = s.tokenEnd = at + (isArray ? 2 : 1);
    if (depth <= s.maxDepth) {
      type = { kind: isArray ? "array" : "optional", of: type, start, end: s.pos };
    } else if (depth === s.maxDepth + 1) {
      s.error("FLOW1014", at, at + 1, { parts: { limit: `${s.maxDepth} levels` } });
    }
  }
}

/** `list<int>` of other languages, whose `<` is next: read as `int[]`. */
function readTypeOfList(s: Scanner, start: number): TypeNode {
  s.enter(s.pos);
  s.pos += 1;
  const of = readType(s);
  if (s.peek() !== 62) s.expected("`>`");
  s.pos = s.tokenEnd = s.pos + 1;
  s.depth -= 1;
  const end = s.pos;
  const text = `${typeText(of)}[]`;
  s.error("FLOW3012", start, end, {
    parts: { name: shown(s.src.slice(start, end)) },
    fix: text,
  });
  return { kind: "array", of, start, end };
}

/** `a.b`, or a quoted name: any string is a name. */
function readTypeName(s: Scanner): TypeNode {
  s.peek();
  const start = s.pos;
  let name = readName(s);
  if (name === undefined) s.expected("a type");
  const isBare = isNameStart(s.src.charCodeAt(start));
  while (isBare && s.src.charCodeAt(s.pos) === 46 && isNameStart(s.src.charCodeAt(s.pos + 1))) {
    s.pos += 1;
    name += `.${s.readIdent()}`;
  }
  const nameEnd = s.pos;
  let version: number | undefined;
  if (s.src.charCodeAt(s.pos) === 64) {
    let end = s.pos + 1;
    while (isDigit(s.src.charCodeAt(end))) end += 1;
    version = Number(s.src.slice(s.pos + 1, end));
    if (!Number.isSafeInteger(version) || version === 0) s.expected("a version", s.pos + 1);
    s.pos = s.tokenEnd = end;
  }
  return { kind: "name", name, nameEnd, version, start, end: s.pos };
}

function readObjectType(s: Scanner): TypeNode {
  const start = s.pos;
  s.enter(start);
  const { flat } = s;
  s.flat = 0;
  s.pos += 1;
  const fields: TypeField[] = [];
  const names = new Map<string, { start: number; end: number }>();
  for (;;) {
    s.skipLines();
    if (s.peek() === 125) break;
    const at = s.pos;
    const name = readName(s);
    if (name === undefined) s.expected("a name");
    const first = names.get(name);
    if (first) {
      s.error("FLOW2002", at, s.tokenEnd, {
        parts: { key: shown(name) },
        related: { ...first, message: "first set here" },
      });
    } else names.set(name, { start: at, end: s.tokenEnd });
    if (s.peek() !== 58) s.expected("`:`");
    s.pos += 1;
    const type = readType(s);
    fields.push({ name, type, start: at });
    const next = s.peek();
    if (next === 44) s.pos += 1;
    else if (next !== LINE_END && next !== 125) s.expected("`,` or `}`");
  }
  s.flat = flat;
  s.depth -= 1;
  s.pos = s.tokenEnd = s.pos + 1;
  return { kind: "object", fields, start, end: s.pos };
}
