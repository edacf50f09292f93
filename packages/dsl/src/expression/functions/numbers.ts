/** Functions over numbers. No result is infinite, no number or negative zero. */
import type { Json } from "@millrace/contracts";
import {
  ANY,
  type FlowType,
  INT,
  LIST,
  listOf,
  membersOf,
  NULL,
  NUMBER,
  unionOf,
  unionOfAll,
} from "../../types/flow-type.ts";
import { badArgument, type Evaluation, spend, wrongType } from "../budget.ts";
import { finite, kindName } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";

/** The numbers of the language; the same as JSON's. */
export const NUMBER_TEXT: RegExp = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const MAX_DIGITS = 15;

export const NUMBERS: readonly FunctionRow[] = [
  extreme("min", (a, b) => a < b),
  extreme("max", (a, b) => a > b),
  define<[readonly Json[]]>({
    signature: "sum(list) number",
    params: [listOf(NUMBER)],
    returns: ([list]) => (list !== undefined && itemsOf(list).kind === "int" ? INT : NUMBER),
    call(ev, site, list) {
      let total = 0;
      for (const element of numbers(ev, site, list)) total += element;
      return finite(site, total);
    },
  }),
  define<[number, number | undefined]>({
    signature: "round(number, digits?) number",
    params: [NUMBER, INT],
    returns: (args) => (args.length === 1 ? INT : NUMBER),
    call(_run, site, value, digits = 0) {
      if (digits < 0 || digits > MAX_DIGITS) {
        badArgument(site, `round takes 0 to ${MAX_DIGITS} digits`);
      }
      return Math.sign(value) * roundDecimal(Math.abs(value), digits) + 0;
    },
  }),
  whole("floor", Math.floor),
  whole("ceil", Math.ceil),
  define<[number]>({
    signature: "abs(number) number",
    returns: ([type]) => (type?.kind === "int" ? INT : NUMBER),
    call: (_run, _site, value) => Math.abs(value),
  }),
];

function extreme(name: string, beats: (a: number, b: number) => boolean): FunctionRow {
  return define<[readonly Json[]]>({
    signature: `${name}(number, …) number, ${name}(list) number`,
    params: [unionOf(NUMBER, LIST)],
    returns: (args) => {
      const only = args.length === 1 ? args[0] : undefined;
      const fromList = only !== undefined && only.kind !== "number" && only.kind !== "int";
      const of = fromList ? [itemsOf(only)] : args;
      const number = of.every(({ kind }) => kind === "int") ? INT : NUMBER;
      return fromList ? unionOf(number, NULL) : number;
    },
    call(ev, site, args) {
      const [first] = args;
      const list = args.length === 1 && Array.isArray(first) ? (first as readonly Json[]) : args;
      let best: number | null = null;
      for (const value of numbers(ev, site, list)) {
        if (best === null || beats(value, best)) best = value;
      }
      return best;
    },
  });
}

function whole(name: string, change: (value: number) => number): FunctionRow {
  return define<[number]>({
    signature: `${name}(number) int`,
    call: (_run, _site, value) => change(value) + 0,
  });
}

function numbers(ev: Evaluation, site: CallSite, list: readonly Json[]): readonly number[] {
  spend(ev, site, list.length);
  for (const value of list) {
    if (typeof value !== "number") {
      wrongType(site, `${site.name} takes numbers, found ${kindName(value)}`);
    }
  }
  return list as readonly number[];
}

/** The element type of a list type, `any` when it is not known. */
export function itemsOf(type: FlowType): FlowType {
  const items = membersOf(type).flatMap((member) => (member.kind === "list" ? [member.items] : []));
  return items.length === 0 ? ANY : unionOfAll(items);
}

/**
 * Rounds a non-negative number on its shortest decimal spelling, so 1.005 to two digits is 1.01 although its binary value
 * lies just below.
 */
function roundDecimal(value: number, digits: number): number {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  const spelled = mantissa.replace(".", "");
  // The value is 0.spelled * 10^point; `keep` digits of `spelled` survive.
  const point = Number(exponent) + 1;
  const keep = point + digits;
  if (keep >= spelled.length) return value;
  if (keep < 0) return 0;
  const up = spelled.charCodeAt(keep) >= 53;
  const kept = BigInt(spelled.slice(0, keep) || "0") + (up ? 1n : 0n);
  return Number(`${kept}e-${digits}`);
}
