/** Semantic tokens: what a name means, which a grammar of colours cannot know. Comments and strings need none. */

import { isBlockKeyword } from "../language/blocks.ts";
import type { BlockItem, EdgeEnd, Item, TypeNode } from "../language/items.ts";
import { type CallExpression, childrenOf, type Expression, type Span } from "../syntax/ast.ts";
import { ALWAYS_PRESENT } from "../types/scope.ts";
import { type NamedKind, type NameIndex, nameSpan, type Place } from "./names.ts";
import type { Reading } from "./reading.ts";
import { TOKEN_MODIFIERS, TOKEN_TYPES } from "./types.ts";

type TokenType = (typeof TOKEN_TYPES)[number];
type Modifier = (typeof TOKEN_MODIFIERS)[number];

interface Token extends Span {
  readonly type: TokenType;
  readonly modifiers: readonly Modifier[];
}

const NONE: readonly Modifier[] = [];

/**
 * The tokens that overlap a stretch, by offset, none over another and none over a line end. Four numbers each: start, length, index
 * in `TOKEN_TYPES`, bits of `TOKEN_MODIFIERS`.
 */
export function tokensOf(
  reading: Reading,
  names: NameIndex,
  from: number = 0,
  to: number = reading.text.length,
): Uint32Array {
  const finder = new TokenFinder(reading, from, to);
  for (const place of names.places) finder.name(place);
  finder.items(reading.items);
  return packed(finder.found, reading.text);
}

/** How tokens are told to a client. Of two at one place the first found stays. */
function packed(found: readonly Token[], text: string): Uint32Array {
  const sorted = [...found].sort((a, b) => a.start - b.start);
  const numbers: number[] = [];
  let done = 0;
  for (const { start, end, type, modifiers } of sorted) {
    if (start < done || start >= end || /[\r\n]/.test(text.slice(start, end))) continue;
    const bits = modifiers.reduce((sum, one) => sum | (1 << TOKEN_MODIFIERS.indexOf(one)), 0);
    numbers.push(start, end - start, TOKEN_TYPES.indexOf(type), bits);
    done = end;
  }
  return Uint32Array.from(numbers);
}

const NAME_TYPES: { readonly [kind in NamedKind]: TokenType } = {
  node: "variable",
  local: "variable",
  variable: "variable",
  connection: "variable",
  input: "parameter",
};

/** Kinds of names whose value comes from outside of the flow. */
const READONLY: readonly NamedKind[] = ["input", "local", "variable"];

class TokenFinder {
  readonly found: Token[] = [];
  readonly #reading: Reading;
  readonly #from: number;
  readonly #to: number;
  #deprecated: ReadonlySet<number> | undefined;

  constructor(reading: Reading, from: number, to: number) {
    this.#reading = reading;
    this.#from = Number.isNaN(from) ? 0 : from;
    this.#to = Number.isNaN(to) ? reading.text.length : to;
  }

  /** The place of a name. */
  name(place: Place): void {
    if (!this.#overlaps(place.start, place.end)) return;
    const { named, isDeclaration } = place;
    const { start, end } = nameSpan(place, this.#reading.text);
    const modifiers: Modifier[] = [];
    if (isDeclaration) modifiers.push("declaration");
    if (READONLY.includes(named.kind)) modifiers.push("readonly");
    this.#add(NAME_TYPES[named.kind], start, end, modifiers);
  }

  items(items: readonly Item[]): void {
    for (const item of items) {
      if (!this.#overlaps(item.start, item.end)) continue;
      if (item.kind === "attr") {
        if (item.policy) this.#add("decorator", item.start, item.nameEnd);
        else this.#add("property", item.nameStart, item.nameEnd);
        this.#value(item.value);
      } else if (item.kind === "edge") {
        for (const end of item.ends) this.#port(end);
        if (item.meta) this.#value(item.meta);
      } else this.#block(item);
    }
  }

  #block(item: BlockItem): void {
    if (isBlockKeyword(item.keyword)) this.#add("keyword", item.start, item.keywordEnd);
    for (const { digits, start, end } of item.labels) if (digits) this.#add("number", start, end);
    if (item.type) this.#type(item.type, item.keyword === "node" && this.#isDeprecated(item.type));
    if (item.value) this.#value(item.value);
    this.items(item.items ?? []);
  }

  #port({ port, nodeEnd, end }: EdgeEnd): void {
    if (port === undefined) return;
    const dot = /^\s*\.\s*/.exec(this.#reading.text.slice(nodeEnd, end))?.[0] ?? "";
    this.#add("enumMember", nodeEnd + dot.length, end);
  }

  #type(node: TypeNode, isDeprecated: boolean): void {
    if (node.kind === "name") {
      this.#add("type", node.start, node.nameEnd, isDeprecated ? ["deprecated"] : NONE);
    } else if (node.kind === "object") {
      for (const { name, type, start } of node.fields) {
        if (this.#reading.text.startsWith(name, start)) {
          this.#add("property", start, start + name.length);
        }
        this.#type(type, false);
      }
    } else this.#type(node.of, false);
  }

  /** Whether the type at a place is that of a deprecated entry of the catalog. */
  #isDeprecated({ start }: Span): boolean {
    const { model } = this.#reading;
    this.#deprecated ??= new Set(
      model.nodes
        .filter(({ entry }) => entry?.deprecated !== undefined)
        .map(({ pointer }) => this.#reading.span(`${pointer}/type`)?.start ?? -1),
    );
    return this.#deprecated.has(start);
  }

  #value(e: Expression): void {
    if (!this.#overlaps(e.start, e.end)) return;
    const { text } = this.#reading;
    if (e.kind === "duration" || (e.kind === "literal" && typeof e.value === "number")) {
      this.#add("number", e.start, e.end);
    } else if (e.kind === "call") {
      const start = nameOfCall(text, e);
      if (start !== undefined) this.#add("function", start, start + e.name.length);
    } else if (e.kind === "member" && text.startsWith(e.name, e.end - e.name.length)) {
      this.#add("property", e.end - e.name.length, e.end);
    } else if (e.kind === "name" && ALWAYS_PRESENT.has(e.name)) {
      this.#add("keyword", e.start, e.end);
    }
    for (const inner of childrenOf(e)) this.#value(inner);
  }

  #add(type: TokenType, start: number, end: number, modifiers = NONE): void {
    if (this.#overlaps(start, end)) this.found.push({ type, start, end, modifiers });
  }

  #overlaps(start: number, end: number): boolean {
    return start < this.#to && end > this.#from;
  }
}

/** Where the name of a call stands: in front of its parentheses, behind the dot where it is called as a method. */
function nameOfCall(text: string, call: CallExpression): number | undefined {
  const { name, args, start, end } = call;
  if (text.startsWith(name, start) && /^\s*\(/.test(text.slice(start + name.length, end))) {
    return start;
  }
  const [of, next] = args;
  if (!of) return undefined;
  const between = text.slice(of.end, next?.start ?? end);
  const at = between.search(/\.\s*[A-Za-z_]/);
  const from = at === -1 ? -1 : between.indexOf(name, at);
  return from === -1 ? undefined : of.end + from;
}
