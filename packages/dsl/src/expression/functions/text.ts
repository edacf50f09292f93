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
import { codePointCount, codePointOffset, kindName, listHas } from "../values.ts";
import { type CallSite, define, type FunctionSpec } from "./define.ts";

export const TEXT: readonly FunctionSpec[] = [
  mapping("lower", "the text in lower case", (text) => text.toLowerCase()),
  mapping("upper", "the text in upper case", (text) => text.toUpperCase()),
  mapping("trim", "the text without blanks and line ends around it", (text) => text.trim()),
  define<[string, string]>({
    name: "split",
    group: "text",
    signature: "split(string, separator) list",
    summary: "the parts between separators; code points when the separator is empty",
    params: [STRING, STRING],
    returns: listOf(STRING),
    call(run, site, text, separator) {
      produceText(run, site, text.length);
      if (separator === "") {
        produceElements(run, site, codePointCount(text));
        return Array.from(text);
      }
      // One part more than can be paid for: enough to fail, never more than that is made.
      const parts = text.split(separator, run.steps + 1);
      produceElements(run, site, parts.length);
      return parts;
    },
  }),
  define<[readonly Json[], string]>({
    name: "join",
    group: "text",
    signature: "join(list of string, separator) string",
    summary: "the texts with the separator between them",
    params: [listOf(STRING), STRING],
    returns: STRING,
    call(run, site, list, separator) {
      spend(run, site, list.length);
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
      produceText(run, site, length);
      return list.join(separator);
    },
  }),
  define<[string | readonly Json[], Json]>({
    name: "contains",
    group: "text",
    signature: "contains(string, part) bool, contains(list, T) bool",
    summary: "whether the text has the part, or the list an equal element",
    params: [unionOf(STRING, LIST), ANY],
    returns: BOOL,
    call(run, site, whole, part) {
      if (typeof whole !== "string") return listHas(run, site, whole, part);
      if (typeof part !== "string") {
        fail(
          site,
          "type_mismatch",
          `contains looks for a string in a string, found ${kindName(part)}`,
        );
      }
      return search(run, site, whole, part, (a, b) => a.includes(b));
    },
  }),
  test("startsWith", "whether the text begins with the part", (text, part) =>
    text.startsWith(part),
  ),
  test("endsWith", "whether the text ends with the part", (text, part) => text.endsWith(part)),
  define<[string, string, string]>({
    name: "replace",
    group: "text",
    signature: "replace(string, from, to) string",
    summary:
      "every occurrence of `from` replaced, taken literally; an empty `from` is at every code point",
    params: [STRING, STRING, STRING],
    returns: STRING,
    call(run, site, text, from, to) {
      handleText(run, site, text.length + from.length);
      const found = from === "" ? codePointCount(text) + 1 : occurrences(run, site, text, from);
      produceText(run, site, text.length + found * (to.length - from.length));
      if (from === "") return ["", ...Array.from(text), ""].join(to);
      return text.replaceAll(from, () => to);
    },
  }),
  define<[string, number, number | undefined]>({
    name: "substring",
    group: "text",
    signature: "substring(string, start, end?) string",
    summary: "the code points from `start` up to `end`, both cut to the text",
    params: [STRING, INT, INT],
    required: 2,
    returns: STRING,
    call(run, site, text, start, end = text.length) {
      handleText(run, site, text.length);
      const from = codePointOffset(text, start);
      return text.slice(from, Math.max(from, codePointOffset(text, end)));
    },
  }),
];

function mapping(name: string, summary: string, change: (text: string) => string): FunctionSpec {
  return define<[string]>({
    name,
    group: "text",
    signature: `${name}(string) string`,
    summary,
    params: [STRING],
    returns: STRING,
    call(run, site, text) {
      handleText(run, site, text.length);
      const changed = change(text);
      produceText(run, site, changed.length);
      return changed;
    },
  });
}

function test(
  name: string,
  summary: string,
  holds: (text: string, part: string) => boolean,
): FunctionSpec {
  return define<[string, string]>({
    name,
    group: "text",
    signature: `${name}(string, part) bool`,
    summary,
    params: [STRING, STRING],
    returns: BOOL,
    call: (run, site, text, part) => search(run, site, text, part, holds),
  });
}

function search(
  run: Evaluation,
  site: CallSite,
  text: string,
  part: string,
  holds: (text: string, part: string) => boolean,
): boolean {
  handleText(run, site, text.length + part.length);
  return holds(text, part);
}

function occurrences(run: Evaluation, site: CallSite, text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count += 1;
  spend(run, site, count >> 6);
  return count;
}
