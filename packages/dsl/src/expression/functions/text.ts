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
import { codePointCount, codePointOffset, kindName, listIndex } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { findText, LONG_PART, partsBetween } from "./search.ts";

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
    call: (ev, site, whole, part) => unitIndex(ev, site, whole, part) >= 0,
  }),
  define<[string | readonly Json[], Json]>({
    signature: "indexOf(string, part) int, indexOf(list, T) int",
    params: [unionOf(STRING, LIST), ANY],
    returns: INT,
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
    returns: STRING,
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
    required: 2,
    returns: STRING,
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
    fail(
      site,
      "type_mismatch",
      `${site.name} looks for a string in a string, found ${kindName(part)}`,
    );
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
    call(ev, site, text, part) {
      handleText(ev, site, text.length + part.length);
      return holds(text, part);
    },
  });
}
