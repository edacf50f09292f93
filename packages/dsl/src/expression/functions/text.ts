/** Functions over text. Positions and sizes count code points; nothing depends on a locale. */
import type { Json } from "@millrace/contracts";
import { ANY, BOOL, INT, LIST, listOf, STRING, unionOf } from "../../types/flow-type.ts";
import {
  type Evaluation,
  fail,
  handleText,
  produceElements,
  produceText,
  spend,
} from "../budget.ts";
import { codePointCount, codePointOffset, kindName, listHas } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";

/** Up to here the platform's search is the faster one whatever the texts. */
const LONG_PART = 32;

export const TEXT: readonly FunctionRow[] = [
  mapping("lower", (text) => text.toLowerCase()),
  mapping("upper", (text) => text.toUpperCase()),
  mapping("trim", (text) => text.trim()),
  define<[string, string]>({
    signature: "split(string, separator) list",
    params: [STRING, STRING],
    returns: listOf(STRING),
    call(ev, site, text, separator) {
      produceText(ev, site, text.length);
      if (separator === "") {
        produceElements(ev, site, codePointCount(text));
        return Array.from(text);
      }
      handleText(ev, site, separator.length);
      const parts = partsBetween(text, separator, ev.steps + 1);
      produceElements(ev, site, parts.length);
      return parts;
    },
  }),
  define<[readonly Json[], string]>({
    signature: "join(list of string, separator) string",
    params: [listOf(STRING), STRING],
    returns: STRING,
    call(ev, site, list, separator) {
      spend(ev, site, list.length);
      let length = separator.length * Math.max(0, list.length - 1);
      for (const part of list) {
        if (typeof part !== "string") {
          fail(
            site,
            "type_mismatch",
            `join takes a list of strings, found ${kindName(part)} in it`,
          );
        }
        length += part.length;
      }
      produceText(ev, site, length);
      return list.join(separator);
    },
  }),
  define<[string | readonly Json[], Json]>({
    signature: "contains(string, part) bool, contains(list, T) bool",
    params: [unionOf(STRING, LIST), ANY],
    returns: BOOL,
    call(ev, site, whole, part) {
      if (typeof whole !== "string") return listHas(ev, site, whole, part);
      if (typeof part !== "string") {
        fail(
          site,
          "type_mismatch",
          `contains looks for a string in a string, found ${kindName(part)}`,
        );
      }
      return search(ev, site, whole, part, (a, b) => indexOf(a, b, 0) >= 0);
    },
  }),
  test("startsWith", (text, part) => text.startsWith(part)),
  test("endsWith", (text, part) => text.endsWith(part)),
  define<[string, string, string]>({
    signature: "replace(string, from, to) string",
    params: [STRING, STRING, STRING],
    returns: STRING,
    call(ev, site, text, from, to) {
      handleText(ev, site, text.length + from.length);
      if (from === "") {
        const found = codePointCount(text) + 1;
        produceText(ev, site, text.length + found * to.length);
        return ["", ...Array.from(text), ""].join(to);
      }
      let found = 0;
      for (let at = indexOf(text, from, 0); at >= 0; at = indexOf(text, from, at + from.length)) {
        found += 1;
      }
      spend(ev, site, found >> 6);
      produceText(ev, site, text.length + found * (to.length - from.length));
      return from.length <= LONG_PART
        ? text.replaceAll(from, () => to)
        : partsBetween(text, from, found + 1).join(to);
    },
  }),
  define<[string, number, number | undefined]>({
    signature: "substring(string, start, end?) string",
    params: [STRING, INT, INT],
    required: 2,
    returns: STRING,
    call(ev, site, text, start, end = text.length) {
      handleText(ev, site, text.length);
      const from = codePointOffset(text, start);
      return text.slice(from, Math.max(from, codePointOffset(text, end)));
    },
  }),
];

/** A function from text to text; `weight`: how often the text is handled. */
export function mapping(
  name: string,
  change: (text: string, site: CallSite) => string,
  weight = 1,
): FunctionRow {
  return define<[string]>({
    signature: `${name}(string) string`,
    params: [STRING],
    returns: STRING,
    call(ev, site, text) {
      handleText(ev, site, text.length * weight);
      const changed = change(text, site);
      produceText(ev, site, changed.length);
      return changed;
    },
  });
}

function test(name: string, holds: (text: string, part: string) => boolean): FunctionRow {
  return define<[string, string]>({
    signature: `${name}(string, part) bool`,
    params: [STRING, STRING],
    returns: BOOL,
    call: (ev, site, text, part) => search(ev, site, text, part, holds),
  });
}

function search(
  ev: Evaluation,
  site: CallSite,
  text: string,
  part: string,
  holds: (text: string, part: string) => boolean,
): boolean {
  handleText(ev, site, text.length + part.length);
  return holds(text, part);
}

/** The parts between separators, at most `limit`: one more than can be paid for is enough to fail. */
function partsBetween(text: string, separator: string, limit: number): string[] {
  if (separator.length <= LONG_PART) return text.split(separator, limit);
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; parts.length < limit; from = at + separator.length) {
    at = indexOf(text, separator, from);
    if (at < 0) break;
    parts.push(text.slice(from, at));
  }
  parts.push(text.slice(from));
  return parts;
}

/**
 * Where `part` first stands in `text` from `from` on, or -1. The platform's search may compare all of the part at each place
 * of the text: minutes for texts of a megabyte. Long parts are found in linear time (Knuth, Morris, Pratt 1977).
 */
function indexOf(text: string, part: string, from: number): number {
  const { length } = part;
  if (length <= LONG_PART) return text.indexOf(part, from);
  /** For each prefix of the part: how much of its end is again a beginning of the part. */
  const border = new Int32Array(length + 1);
  for (let i = 1, matched = 0; i < length; i += 1) {
    const unit = part.charCodeAt(i);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = border[matched] as number;
    if (unit === part.charCodeAt(matched)) matched += 1;
    border[i + 1] = matched;
  }
  for (let at = from, matched = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    while (matched > 0 && unit !== part.charCodeAt(matched)) matched = border[matched] as number;
    if (unit === part.charCodeAt(matched)) matched += 1;
    if (matched === length) return at - length + 1;
  }
  return -1;
}
