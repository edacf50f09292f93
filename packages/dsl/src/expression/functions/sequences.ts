/** Functions over what has positions: lists, and text by its code points. Arguments are never changed. */
import type { Json } from "@millrace/contracts";
import {
  ANY,
  type FlowType,
  INT,
  LIST,
  listOf,
  membersOf,
  STRING,
  unionOf,
  unionOfAll,
} from "../../types/flow-type.ts";
import {
  badArgument,
  type Evaluation,
  handleText,
  produceElements,
  produceText,
  spend,
} from "../budget.ts";
import { codePointCount, codePointOffset } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { itemsOf } from "./numbers.ts";

/** A list or text. */
type Sequence = string | readonly Json[];

export const SEQUENCES: readonly FunctionRow[] = [
  define<[Sequence, number, number | undefined]>({
    signature: "slice(list, from, to?) list, slice(string, from, to?) string",
    params: [unionOf(STRING, LIST), INT, INT],
    returns: ([whole]) => partType(whole),
    call: slice,
  }),
  define<[Sequence, number]>({
    signature: "take(list, n) list, take(string, n) string",
    params: [unionOf(STRING, LIST), INT],
    returns: ([whole]) => partType(whole),
    call: (ev, site, whole, n) =>
      n < 0 ? slice(ev, site, whole, n) : slice(ev, site, whole, 0, n),
  }),
  define<[Sequence]>({
    signature: "reverse(list) list, reverse(string) string",
    params: [unionOf(STRING, LIST)],
    returns: ([whole]) => partType(whole),
    call(ev, site, whole) {
      if (typeof whole !== "string") {
        produceElements(ev, site, whole.length);
        return whole.toReversed();
      }
      // Each code point is a text of its own meanwhile.
      spend(ev, site, whole.length >> 2);
      produceText(ev, site, whole.length);
      return Array.from(whole).reverse().join("");
    },
  }),
  define<[readonly Json[], number]>({
    signature: "chunk(list, n) list",
    params: [LIST, INT],
    nests: true,
    returns: ([list = LIST]) => listOf(listOf(itemsOf(list))),
    check: (size, index) => (index === 1 ? sizeProblem(size as number) : undefined),
    call(ev, site, list, size) {
      const problem = sizeProblem(size);
      if (problem !== undefined) badArgument(site, `chunk: ${problem}`);
      const count = Math.ceil(list.length / size);
      produceElements(ev, site, list.length + count);
      return Array.from({ length: count }, (_, i) => list.slice(i * size, (i + 1) * size));
    },
  }),
  define<[readonly (readonly Json[])[]]>({
    signature: "zip(list, list, …) list",
    nests: true,
    returns: (lists) => listOf(listOf(unionOfAll(lists.map(itemsOf)))),
    call(ev, site, lists) {
      const length = Math.min(...lists.map((list) => list.length));
      produceElements(ev, site, length * (lists.length + 1));
      return Array.from({ length }, (_, i) => lists.map((list) => list[i] ?? null));
    },
  }),
];

function slice(ev: Evaluation, site: CallSite, whole: Sequence, from: number, to?: number): Json {
  if (typeof whole !== "string") {
    const part = whole.slice(from, to);
    produceElements(ev, site, part.length);
    return part;
  }
  handleText(ev, site, whole.length);
  const size = codePointCount(whole);
  const at = (position: number): number =>
    codePointOffset(whole, position < 0 ? size + position : position);
  const start = at(from);
  return whole.slice(start, Math.max(start, at(to ?? size)));
}

function sizeProblem(size: number): string | undefined {
  return size >= 1 ? undefined : "the size of its lists is at least 1";
}

/** A part of a list or text is of its type; which of some texts is not known any more. */
function partType(whole: FlowType = ANY): FlowType {
  return unionOfAll(membersOf(whole).map((type) => (type.kind === "string" ? STRING : type)));
}
