/** L8 and totality: texts with slips in them, texts cut off, bytes that are no text. */

import { isDeepStrictEqual } from "node:util";
import type { Diagnostic, Range } from "@millrace/contracts";
import { formatFlow, type ParseResult, parseFlow, printFlow, validateFlow } from "@millrace/dsl";
import { catalog } from "../fixtures/catalog.ts";
import { breakOne, slipOne, someItems } from "./faults.ts";
import { NASTY } from "./generate.ts";
import type { Random } from "./random.ts";
import { Broken, type Sample, syntaxOf } from "./sample.ts";

const PIECES: readonly string[] = [
  ...NASTY,
  ..."\"'{}[]()=:,;.@#$-!<>?|&*/%\\\n\r\t §→",
  ...["//", "/*", "*/", "and", "===", "None", "=>", "@retry", "${", '"""', "1e400", "01", "body"],
];

/** How many seeds share one validation of a garbled text: it costs as much as all other laws together. */
const VALIDATE_EVERY = 8;

/**
 * Findings that silence others: what they are about is looked at more closely once it is known. A control outside of strings and
 * comments (FLOW6003) keeps its whole item from being read.
 */
const SILENCING: readonly string[] = ["FLOW2003", "FLOW3001", "FLOW6003"];

/** A text with one fault has few fixes; one that was taken for something else altogether may have many. */
const MAX_FIXES = 3;

const SOUND = someItems(9).map(({ item }) => item);

/**
 * Every range of a garbled text lies in it, between characters, in order. A fix, applied alone to a sound text in which one token
 * is wrong, adds no syntax error. Where characters were put in at random a fix may guess wrong, and what followed in the dropped
 * item comes to light, so of garbled texts only the fixes of validation are held to this: they are about what was read.
 */
export function checkRanges(sample: Sample): void {
  const r = sample.random(8);
  const text = garble(sample.decorated, r);
  const read = parseFlow(text);
  checkPlaces(text, read.diagnostics);
  const broken = r.below(SOUND.length);
  const fault = r.pick([breakOne, slipOne]);
  const items = SOUND.map((item, at) => (at === broken ? fault(item, r) : item));
  checkFixes(`flow 1 faults\n\n${items.join("\n\n")}\n`);
  if (sample.seed % VALIDATE_EVERY !== 0 || sample.isLarge) return;
  const more = validateFlow(read.graph, catalog, { document: read.document, lint: true });
  checkPlaces(text, more);
  for (const { code, fixes = [] } of more) {
    const [fix] = fixes;
    if (!fix || r.chance(0.8) || SILENCING.includes(code)) continue;
    const fixed = applied(text, fix.edits);
    if (errorsIn(parseFlow(fixed).diagnostics) <= errorsIn(read.diagnostics)) continue;
    throw new Broken(`the fix of ${code} (${fix.title}) adds errors`, `${text}\n---\n${fixed}`);
  }
}

function checkFixes(text: string): void {
  const { diagnostics } = parseFlow(text);
  const fixes = diagnostics.flatMap((one) => (one.fixes ?? []).map((fix) => ({ ...one, fix })));
  for (const { code, fix } of fixes.slice(0, MAX_FIXES)) {
    const after = parseFlow(applied(text, fix.edits)).diagnostics;
    if (errorsIn(after) <= errorsIn(diagnostics)) continue;
    throw new Broken(`the fix of ${code} (${fix.title}) adds errors`, text, checkFixes);
  }
}

/** How many errors of syntax there are. */
function errorsIn(diagnostics: readonly Diagnostic[]): number {
  return syntaxOf(diagnostics).filter(({ severity }) => severity === "error").length;
}

function applied(text: string, edits: readonly { range: Range; newText: string }[]): string {
  let fixed = text;
  const last = [...edits].sort((a, b) => b.range.start.offset - a.range.start.offset);
  for (const { range, newText } of last) {
    fixed = fixed.slice(0, range.start.offset) + newText + fixed.slice(range.end.offset);
  }
  return fixed;
}

function checkPlaces(text: string, diagnostics: readonly Diagnostic[]): void {
  let last = 0;
  for (const { code, range, related = [], fixes = [] } of diagnostics) {
    const edits = fixes.flatMap((fix) => fix.edits.map((edit) => edit.range));
    const others = [...related.map((other) => other.range), ...edits];
    for (const { start, end } of range ? [range, ...others] : others) {
      const lies = start.offset >= 0 && start.offset <= end.offset && end.offset <= text.length;
      const isWhole = !splitsPair(text, start.offset) && !splitsPair(text, end.offset);
      if (lies && isWhole && start.line > 0 && start.column > 0) continue;
      throw new Broken(`${code} has the range ${start.offset}-${end.offset}`, text);
    }
    const at = range?.start.offset ?? last;
    if (at < last) throw new Broken(`${code} at ${at} follows one at ${last}`, text);
    last = at;
  }
}

function splitsPair(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1);
  const after = text.charCodeAt(at);
  return before >= 0xd800 && before < 0xdc00 && after >= 0xdc00 && after < 0xe000;
}

/** One to three characters or words taken out or put in anywhere. */
export function garble(text: string, r: Random): string {
  let garbled = text;
  for (let count = r.below(3); count >= 0; count -= 1) {
    const at = r.below(garbled.length + 1);
    const gone = r.chance(0.5) ? r.below(3) : 0;
    const piece = r.chance(0.7) ? r.pick(PIECES) : "";
    garbled = garbled.slice(0, at) + piece + garbled.slice(at + gone);
  }
  return garbled;
}

const MUTATIONS: readonly ((text: string, r: Random) => string | Uint8Array)[] = [
  (text, r) => text.slice(0, r.below(text.length + 1)),
  (text, r) => text.slice(r.below(text.length + 1)),
  swapTokens,
  swapTokens,
  swapValue,
  (text, r) => {
    const [from, to] = [r.below(text.length + 1), r.below(text.length + 1)];
    return text.slice(0, from) + text.slice(to);
  },
  (text, r) => {
    const bytes = new TextEncoder().encode(text);
    for (let count = r.below(4); count >= 0; count -= 1)
      bytes[r.below(bytes.length)] = r.below(256);
    return bytes;
  },
  (_, r) => Uint8Array.from({ length: r.below(200) }, () => r.below(256)),
  (_, r) => Array.from({ length: r.below(40) }, () => r.pick(PIECES)).join(r.pick(["", " "])),
];

const VALUES = [
  ..."0 -1 1.5 1e9 5s null true [1] {} a.b".split(" "),
  '"x"',
  '{ max: "y", ttl: 1 }',
];

/** Values of a few attributes exchanged for others, most of which their places do not take. */
function swapValue(text: string, r: Random): string {
  return text.replace(/ = [^{[("\n]+$| = ".*"$|@\d+/gm, (found) => {
    if (r.chance(0.8)) return found;
    return found.startsWith("@") ? `@${r.below(2)}` : ` = ${r.pick(VALUES)}`;
  });
}

/** A few tokens deleted, doubled or put in each other's place. */
function swapTokens(text: string, r: Random): string {
  const tokens = text.match(/[\w$]+|\s+|"+|[^\w\s"]/g) ?? [];
  for (let count = r.below(3); count >= 0 && tokens.length > 0; count -= 1) {
    const [at, other] = [r.below(tokens.length), r.below(tokens.length)];
    const [token, second] = [tokens[at] as string, tokens[other] as string];
    tokens[at] = r.pick(["", token + token, `${token} ${second}`, second]);
  }
  return tokens.join("");
}

const PROTOTYPES: readonly object[] = [Object.prototype, Array.prototype, String.prototype];

function prototypeKeys(): string {
  return PROTOTYPES.map((prototype) => Reflect.ownKeys(prototype).map(String).join()).join(";");
}

const KEYS = prototypeKeys();

/**
 * Whatever the input, reading and formatting answer, the graph that was read prints, and what has no syntax error has none when it
 * is formatted, and obeys L2 and L3.
 */
export function checkTotal(sample: Sample): void {
  const r = sample.random(10);
  const input = r.pick(MUTATIONS)(sample.decorated, r);
  const text = typeof input === "string" ? input : new TextDecoder().decode(input);
  if (typeof input !== "string") checkAnswers(input, text);
  checkText(text);
  if (prototypeKeys() !== KEYS) throw new Broken("a prototype was changed", text);
}

function checkText(text: string): void {
  const read = checkAnswers(text, text);
  const isSound = errorsIn(read.diagnostics) === 0;
  const formatted = formatFlow(text).text;
  const broken = (says: string): Broken => new Broken(says, text, checkText);
  if (!isSound) {
    if (formatted !== text) throw broken("a text with syntax errors was formatted");
    return;
  }
  if (formatFlow(formatted).text !== formatted) throw broken("formatting twice changes more");
  const again = parseFlow(formatted);
  if (errorsIn(again.diagnostics) > 0) throw broken("formatting adds an error");
  if (isDeepStrictEqual(again.graph, read.graph)) return;
  throw broken("formatting changes the graph");
}

function checkAnswers(input: string | Uint8Array, text: string): ParseResult {
  try {
    const read = parseFlow(input);
    printFlow(read.graph);
    if (read.diagnostics.filter(({ severity }) => severity === "error").length <= 101) return read;
  } catch (thrown) {
    throw new Broken(String((thrown as Error)?.stack ?? thrown), text, checkText);
  }
  throw new Broken("more than a hundred errors", text, checkText);
}
