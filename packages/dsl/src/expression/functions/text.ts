/** Functions over text. Positions and sizes count code points; nothing depends on a locale. */
import type { Json } from "@millrace/contracts";
import { ANY, INT, LIST, listOf, STRING, unionOf } from "../../types/flow-type.ts";
import {
  type Evaluation,
  handleText,
  produceElements,
  produceText,
  spend,
  wrongType,
} from "../budget.ts";
import { codePointCount, codePointOffset, kindName, listIndex } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";

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
    call(ev, site, list, separator) {
      spend(ev, site, list.length);
      let length = separator.length * Math.max(0, list.length - 1);
      for (const part of list) {
        if (typeof part !== "string") {
          wrongType(site, `join takes a list of strings, found ${kindName(part)} in it`);
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
    call: (ev, site, whole, part) => unitIndex(ev, site, whole, part) >= 0,
  }),
  define<[string | readonly Json[], Json]>({
    signature: "indexOf(string, part) int, indexOf(list, T) int",
    params: [unionOf(STRING, LIST), ANY],
    call(ev, site, whole, part) {
      const at = unitIndex(ev, site, whole, part);
      return typeof whole === "string" && at > 0 ? codePointCount(whole.slice(0, at)) : at;
    },
  }),
  test("startsWith", (text, part) => text.startsWith(part)),
  test("endsWith", (text, part) => text.endsWith(part)),
  define<[string, string, string]>({
    signature: "replace(string, from, to) string",
    params: [STRING, STRING, STRING],
    call(ev, site, text, from, to) {
      handleText(ev, site, text.length + from.length);
      if (from === "") {
        const found = codePointCount(text) + 1;
        produceText(ev, site, text.length + found * to.length);
        return ["", ...Array.from(text), ""].join(to);
      }
      let found = 0;
      for (let at = findText(text, from, 0); at >= 0; at = findText(text, from, at + from.length)) {
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
    call(ev, site, text, start, end = text.length) {
      handleText(ev, site, text.length);
      const from = codePointOffset(text, start);
      return text.slice(from, Math.max(from, codePointOffset(text, end)));
    },
  }),
];

/** Where a part stands in text, in UTF-16 units, or an equal element in a list; -1: nowhere. */
function unitIndex(
  ev: Evaluation,
  site: CallSite,
  whole: string | readonly Json[],
  part: Json,
): number {
  if (typeof whole !== "string") return listIndex(ev, site, whole, part);
  if (typeof part !== "string") {
    wrongType(site, `${site.name} looks for a string in a string, found ${kindName(part)}`);
  }
  handleText(ev, site, whole.length + part.length);
  return findText(whole, part, 0);
}

/** A function from text to text; `weight`: how often the text is handled. */
export function mapping(
  name: string,
  change: (text: string, site: CallSite) => string,
  weight = 1,
): FunctionRow {
  return define<[string]>({
    signature: `${name}(string) string`,
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
    call(ev, site, text, part) {
      handleText(ev, site, text.length + part.length);
      return holds(text, part);
    },
  });
}

/** Up to here the platform's search is the faster one whatever the texts. */
const LONG_PART = 32;

/** The parts between separators, at most `limit`: one more than can be paid for is enough to fail. */
function partsBetween(text: string, separator: string, limit: number): string[] {
  if (separator.length <= LONG_PART) return text.split(separator, limit);
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; parts.length < limit; from = at + separator.length) {
    at = findText(text, separator, from);
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
function findText(text: string, part: string, from: number): number {
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
