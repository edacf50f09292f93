/** Functions over any value: sizes, conversions, JSON. */
import type { Json, JsonObject } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { ANY, BOOL, INT, NUMBER, STRING, unionOf } from "../../types/flow-type.ts";
import { badArgument, handleText, produceElements, spend } from "../budget.ts";
import { checkResult, codePointCount, finite, kindName, toJson, toText } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { NUMBER_TEXT } from "./numbers.ts";

const MAX_INDENT = 8;

export const GENERAL: readonly FunctionRow[] = [
  define<[string | readonly Json[] | JsonObject]>({
    signature: "size(string|list|object) int",
    call(ev, site, value) {
      if (Array.isArray(value)) return value.length;
      if (typeof value !== "string") {
        const { length } = memberNames(value as JsonObject);
        spend(ev, site, length);
        return length;
      }
      handleText(ev, site, value.length);
      return codePointCount(value);
    },
  }),
  define<[Json]>({
    signature: "string(T) string",
    call: toText,
  }),
  define<[string | number | boolean]>({
    signature: "number(string|number|bool) number",
    returns: ([type]) => (type?.kind === "int" || type?.kind === "bool" ? INT : NUMBER),
    call(ev, site, value) {
      if (typeof value !== "string") return Number(value);
      handleText(ev, site, value.length);
      return toNumber(site, value);
    },
  }),
  define<[string | number]>({
    signature: "int(string|number) int",
    call(ev, site, value) {
      if (typeof value === "string") handleText(ev, site, value.length);
      return Math.trunc(typeof value === "string" ? toNumber(site, value) : value) + 0;
    },
  }),
  define<[string | boolean]>({
    signature: 'bool("true"|"false"|bool) bool',
    params: [unionOf(STRING, BOOL)],
    call(_run, site, value) {
      if (typeof value === "boolean") return value;
      if (value !== "true" && value !== "false") {
        badArgument(site, 'bool takes "true" or "false", found another string');
      }
      return value === "true";
    },
  }),
  define<[Json]>({
    signature: "type(T) string",
    returns: {
      kind: "string",
      values: ["null", "bool", "number", "string", "list", "object"],
    },
    call: (_run, _site, value) => kindName(value),
  }),
  define<[Json, number | undefined]>({
    signature: "json(T, indent?) string",
    params: [ANY, INT],
    call(ev, site, value, indent = 0) {
      if (indent < 0 || indent > MAX_INDENT) {
        badArgument(site, `json takes an indent from 0 to ${MAX_INDENT}`);
      }
      return toJson(ev, site, value, indent);
    },
  }),
  define<[string]>({
    signature: "parseJson(string) T",
    call(ev, site, text) {
      handleText(ev, site, text.length);
      const value = parse(site, text);
      checkResult(ev, site, value, false);
      payForParsed(value, (count) => produceElements(ev, site, count), site);
      return value;
    },
  }),
];

function toNumber(site: CallSite, text: string): number {
  if (!NUMBER_TEXT.test(text)) badArgument(site, `${site.name} found text that is no number`);
  return finite(site, Number(text));
}

function parse(site: CallSite, text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // The platform's message quotes the text, which may be a secret.
    return badArgument(site, "parseJson found text that is not JSON");
  }
}

/** `1e999` is JSON but no number of the language. */
function payForParsed(value: Json, pay: (elements: number) => void, site: CallSite): void {
  if (typeof value === "number") finite(site, value);
  if (typeof value !== "object" || value === null) return;
  const members = Object.values(value);
  pay(members.length);
  for (const member of members) payForParsed(member as Json, pay, site);
}
