/** Functions and macros as a person reads them; a module of its own, so that only its users load the sentences. */
import { MAX_RANGE } from "./collections.ts";
import type { FunctionInfo } from "./define.ts";
import { allFunctions } from "./table.ts";

/** Summary of each function. */
const SUMMARIES: { readonly [name: string]: string } = {
  filter: "the elements for which the condition holds",
  map: "the value of the expression for each element",
  all: "whether the condition holds for each element; stops at the first for which it does not",
  exists: "whether the condition holds for some element; stops at the first for which it does",
  sortBy: "the elements by rising key; equal keys keep their order, null comes last",
  groupBy:
    "the elements by the key that the expression gives; lists in the order in which they come, and keys too, but whole numbers first by size",
  countBy: "how many elements have each key that the expression gives",
  size: "number of code points, elements or keys",
  string: "the value as a template shows it",
  number: "the number that the text spells; 1 and 0 for true and false",
  int: "the number without its fraction",
  bool: "the truth value that the text spells",
  type: "null, bool, number, string, list or object",
  json: "JSON text, on several lines when an indent of 1 to 8 is given",
  parseJson: "the value that the JSON text spells",
  csvParse:
    'the rows of CSV text as objects by the names in the first row, with `{ header: false }` as lists; `{ separator: ";" }` parts cells',
  csvFormat:
    "CSV text of a list of objects, after a row of their names unless `{ header: false }`, or of lists; formulas in text are marked with `'`",
  lower: "the text in lower case",
  upper: "the text in upper case",
  trim: "the text without blanks and line ends around it",
  split: "the parts between separators; code points when the separator is empty",
  join: "the texts with the separator between them",
  contains: "whether the text has the part, or the list an equal element",
  indexOf: "where the part, or an equal element, first stands, counted from 0; -1 when nowhere",
  startsWith: "whether the text begins with the part",
  endsWith: "whether the text ends with the part",
  replace:
    "every occurrence of `from` replaced, taken literally; an empty `from` is at every code point",
  substring: "the code points from `start` up to `end`, both cut to the text",
  matches: "whether the pattern is found in the text: anywhere, unless it holds `^` and `$`",
  replaceAll: "every match of the pattern replaced by `to`, taken literally",
  min: "the smallest of the numbers, null for an empty list",
  max: "the largest of the numbers, null for an empty list",
  sum: "all elements added, 0 for an empty list",
  round: "to 0 to 15 decimal digits; halves go away from zero",
  floor: "the next integer below",
  ceil: "the next integer above",
  abs: "the number without its sign",
  first: "the first element, null when there is none",
  last: "the last element, null when there is none",
  slice:
    "the elements or code points from `from` up to but not including `to`; a negative position counts from the end",
  take: "the first `n` elements or code points; of a negative `n` the last",
  reverse: "the elements or code points from last to first",
  chunk: "lists of `n` elements each, in their order; the last may be shorter",
  zip: "a list of the first elements, one of the second, …, as far as each list has one",
  flatten: "the elements of the lists in the list, one level deep",
  unique: "the list without later elements that equal an earlier one",
  range: `the integers from 0 or \`from\` up to but not including the end, at most ${MAX_RANGE}`,
  keys: "the names of the members, in their order",
  values: "the values of the members, in their order",
  entries: "the members as a list of `{ key, value }`",
  fromEntries: "the object with the members of a list of `{ key, value }`; the last of a name wins",
  merge: "the members of all objects; of one name the last wins",
  now: "the time at which the attempt started",
  ago: "the time so long before now()",
  date: "the time that the text spells, without an offset that of the zone or of UTC, or that epoch milliseconds mean",
  epochMs: "the time in milliseconds since 1970",
  dateAdd: "the time so much later",
  dateDiff: "milliseconds from `b` to `a`",
  dateFormat:
    "the time in the zone, or in UTC, as `yyyy MM dd HH mm ss SSS` say, with `XXX` its offset; other letters stand in '…'",
  dateParse:
    "the time that text of that pattern shows in the zone, or in UTC; `yyyy MM dd` are needed",
  parseDuration:
    "the milliseconds that `1h30m` or, in ISO 8601, `PT1H30M` say; without years and months",
  base64Encode: "the UTF-8 of the text in base64",
  base64Decode: "the text whose UTF-8 is in base64",
  sha256: "the SHA-256 of the UTF-8 of the text, 64 hex digits",
  uriEncode: "the text with all but A-Z a-z 0-9 - . _ ~ percent-encoded",
  uriDecode: "the text with percent-encoded UTF-8 read",
};

/** Every function and macro for a reference page or a completion list, in groups: `{ name, group, signature, summary }`. */
export function listFunctions(): readonly FunctionInfo[] {
  return allFunctions().map(({ name, group, signature }) => ({
    ...{ name, group, signature },
    summary: SUMMARIES[name] ?? "",
    parameters: parametersOf(signature),
  }));
}

/** The parameters of the first form of a signature, each from its first letter to its last. */
function parametersOf(signature: string): [start: number, end: number][] {
  const open = signature.indexOf("(");
  const list = signature.slice(open + 1, signature.indexOf(")"));
  return [...list.matchAll(/[^,\s][^,]*/g)].map(({ 0: text, index }) => {
    const start = open + 1 + index;
    return [start, start + text.length];
  });
}
