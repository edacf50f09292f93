/**
 * What stands in QuickJS before the code of a step: a console that collects, no clock and no chance, and the three functions
 * that the host calls. They answer JSON text. Nothing of the host can be reached from in here, because nothing of it is here.
 */
import { MAX_JSON_DEPTH } from "@millrace/contracts";

/** Lines that `console` keeps of one call, and how many characters of each. */
export const MAX_LINES = 100;
export const MAX_LINE = 1_024;

/**
 * A script whose value is `[enter, leave, blame]`.
 *   enter(run, input)  calls `run` with the input, which is JSON text; answers a record, or "" where the result is a promise.
 *   leave()            after all jobs: the record of that promise; throws what it was rejected with.
 *   blame(error)       the record of something thrown.
 * A record is `{value}`, `{problem: [pointer, what]}`, `{pending: true}` or `{error}`, each with `lines` and `dropped`.
 */
export const PRELUDE: string = `(() => {
"use strict";
const { parse, stringify } = JSON;
const { defineProperty, getPrototypeOf, keys } = Object;
const { construct, apply } = Reflect;
const { isArray } = Array;
const plain = Object.prototype;
const ErrorOf = Error, PromiseOf = Promise, TextOf = String, Refusal = TypeError, isNumber = Number.isFinite;
const { then } = PromiseOf.prototype;
let lines = [], dropped = 0, settled;

const refused = (what) => () => {
  throw new Refusal(what + " is not available: a step does the same every time. Pass a value in its input");
};
const DateOf = Date;
const now = refused("the time of day");
function ADate(...given) {
  if (new.target === undefined || given.length === 0) now();
  return construct(DateOf, given, new.target);
}
defineProperty(ADate, "name", { value: "Date" });
defineProperty(ADate, "length", { value: 7 });
defineProperty(ADate, "prototype", { value: DateOf.prototype, writable: false });
for (const [name, value] of [["parse", DateOf.parse], ["UTC", DateOf.UTC], ["now", now]]) {
  defineProperty(ADate, name, { value, writable: true, configurable: true });
}
defineProperty(DateOf.prototype, "constructor", { value: ADate });
defineProperty(globalThis, "Date", { value: ADate });
defineProperty(Math, "random", { value: refused("Math.random()") });
delete globalThis.SharedArrayBuffer;

const show = (value) => {
  if (typeof value === "string") return value;
  if (value instanceof ErrorOf) return value.name + ": " + value.message;
  if (typeof value === "object" && value !== null) return TextOf(stringify(value));
  return TextOf(value);
};
globalThis.console = {};
for (const level of ["log", "info", "debug", "warn", "error"]) {
  globalThis.console[level] = (...values) => {
    if (lines.length === ${MAX_LINES}) dropped += 1;
    else {
      let text = "";
      for (let at = 0; at < values.length; at += 1) text += (at === 0 ? "" : " ") + show(values[at]);
      lines[lines.length] = { level, text: text.length > ${MAX_LINE} ? text.slice(0, ${MAX_LINE}) + "…" : text };
    }
  };
}

const problemOf = (value, depth) => {
  switch (typeof value) {
    case "string": case "boolean": return undefined;
    case "number": return isNumber(value) ? undefined : ["", "is " + value];
    case "object": break;
    case "undefined": return ["", "is undefined"];
    default: return ["", "is a " + typeof value];
  }
  if (value === null) return undefined;
  if (depth > ${MAX_JSON_DEPTH}) return ["", "is nested deeper than ${MAX_JSON_DEPTH} levels, or holds itself"];
  if (isArray(value)) {
    for (let at = 0; at < value.length; at += 1) {
      const problem = problemOf(value[at], depth + 1);
      if (problem !== undefined) return ["/" + at + problem[0], problem[1]];
    }
    return undefined;
  }
  const above = getPrototypeOf(value);
  if (above !== null && above !== plain) return ["", "is a " + show(above.constructor?.name)];
  const names = keys(value);
  for (let at = 0; at < names.length; at += 1) {
    const key = names[at];
    const member = value[key];
    if (member === undefined) continue;
    const problem = key === "__proto__" ? ["", "is no legal key"] : problemOf(member, depth + 1);
    if (problem !== undefined) return ["/" + key.slice(0, 64) + problem[0], problem[1]];
  }
  return undefined;
};
const record = (name, json) => '{"' + name + '":' + json + ',"lines":' + stringify(lines) + ',"dropped":' + dropped + "}";
const answer = (value) => {
  const problem = problemOf(value, 1);
  return problem === undefined ? record("value", stringify(value)) : record("problem", stringify(problem));
};
return [
  (run, input) => {
    const result = run(input === undefined ? undefined : parse(input));
    if (typeof result !== "object" || result === null || typeof result.then !== "function") return answer(result);
    apply(then, result instanceof PromiseOf ? result : new PromiseOf((resolve) => resolve(result)), [
      (value) => { settled = { value }; },
      (error) => { settled = { error }; },
    ]);
    return "";
  },
  () => {
    if (settled === undefined) return record("pending", "true");
    if ("error" in settled) throw settled.error;
    return answer(settled.value);
  },
  (error) => {
    let thrown = { text: "a value that cannot be shown" };
    try {
      thrown = error instanceof ErrorOf
        ? { name: TextOf(error.name), message: TextOf(error.message), stack: TextOf(error.stack) }
        : { text: show(error) };
    } catch {}
    return record("error", stringify(thrown));
  },
];
})()`;
