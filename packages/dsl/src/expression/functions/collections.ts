/** Functions over lists and objects. Arguments are never changed. */
import type { Json, JsonObject } from "@millrace/contracts";
import { memberNames } from "@millrace/contracts/kit";
import { isObject, setMember } from "../../data.ts";
import {
  ANY,
  type FlowType,
  INT,
  LIST,
  listOf,
  membersOf,
  NULL,
  OBJECT,
  objectOf,
  STRING,
  unionOf,
  unionOfAll,
} from "../../types/flow-type.ts";
import {
  type Evaluation,
  fail,
  handleText,
  overDepth,
  produceElements,
  spend,
  wrongType,
} from "../budget.ts";
import { checkData, memberOf } from "../data.ts";
import { type CallSite, define, type FunctionRow } from "./define.ts";
import { itemsOf } from "./numbers.ts";

/** A longer list is never what a flow means: a `map` node over that many items wants a data source. */
export const MAX_RANGE = 10_000;

export const COLLECTIONS: readonly FunctionRow[] = [
  end("first", (list) => list[0]),
  end("last", (list) => list[list.length - 1]),
  define<[readonly Json[]]>({
    signature: "flatten(list) list",
    returns: ([list]) => listOf(flatItems(list ?? LIST)),
    call(ev, site, list) {
      let count = 0;
      // An empty list is looked at too.
      for (const element of list) count += Array.isArray(element) ? element.length || 1 : 1;
      produceElements(ev, site, count);
      return list.flat() as Json[];
    },
  }),
  define<[readonly Json[]]>({
    signature: "unique(list) list",
    returns: ([list]) => listOf(itemsOf(list ?? LIST)),
    call(ev, site, list) {
      produceElements(ev, site, list.length);
      const seen = new Set<string | number | boolean | null>();
      return list.filter((element) => {
        const before = seen.size;
        seen.add(identity(ev, site, element ?? null));
        return seen.size > before;
      });
    },
  }),
  define<[number, number | undefined]>({
    signature: "range(n) list, range(from, to) list",
    params: [INT, INT],
    returns: listOf(INT),
    call(ev, site, a, b) {
      const from = b === undefined ? 0 : a;
      const length = Math.max(0, (b ?? a) - from);
      if (length > MAX_RANGE) {
        fail(site, "budget_exceeded", `range gives at most ${MAX_RANGE} numbers`);
      }
      if (!Number.isSafeInteger(from) || !Number.isSafeInteger(from + length)) {
        fail(site, "number_range", "range counts no further than 2^53");
      }
      produceElements(ev, site, length);
      return Array.from({ length }, (_, i) => from + i);
    },
  }),
  define<[JsonObject]>({
    signature: "keys(object) list",
    returns: listOf(STRING),
    call: (ev, site, object) => paidNames(ev, site, object),
  }),
  define<[JsonObject]>({
    signature: "values(object) list",
    returns: ([object]) => listOf(valuesOf(object ?? OBJECT)),
    call: (ev, site, object) => paidNames(ev, site, object).map((name) => memberOf(object, name)),
  }),
  define<[JsonObject]>({
    signature: "entries(object) list",
    nests: true,
    returns: ([object]) =>
      listOf(
        objectOf([
          ["key", STRING],
          ["value", valuesOf(object ?? OBJECT)],
        ]),
      ),
    call(ev, site, object) {
      const names = paidNames(ev, site, object);
      produceElements(ev, site, names.length * 2);
      return names.map((key) => ({ key, value: memberOf(object, key) }));
    },
  }),
  define<[readonly Json[]]>({
    signature: "fromEntries(list) object",
    call(ev, site, list) {
      produceElements(ev, site, list.length);
      const object: Record<string, Json> = {};
      for (const entry of list) {
        const key = isObject(entry) ? memberOf(entry, "key") : undefined;
        if (typeof key !== "string") {
          wrongType(site, "fromEntries takes objects with a string `key` and a `value`");
        }
        setMember(object, key, memberOf(entry as JsonObject, "value"));
      }
      return object;
    },
  }),
  define<[readonly JsonObject[]]>({
    signature: "merge(object, …) object",
    returns: mergedType,
    call(ev, site, objects) {
      const merged: Record<string, Json> = {};
      for (const object of objects) {
        for (const name of paidNames(ev, site, object)) {
          setMember(merged, name, memberOf(object, name));
        }
      }
      return merged;
    },
  }),
];

function end(name: string, pick: (list: readonly Json[]) => Json | undefined): FunctionRow {
  return define<[readonly Json[]]>({
    signature: `${name}(list) T`,
    returns: ([list]) => unionOf(itemsOf(list ?? LIST), NULL),
    call: (_run, _site, list) => pick(list) ?? null,
  });
}

function paidNames(ev: Evaluation, site: CallSite, object: JsonObject): string[] {
  const names = memberNames(object);
  produceElements(ev, site, names.length);
  return names;
}

/**
 * What equal values share and unequal ones do not: scalars themselves, data as text with sorted keys. Texts get a mark so
 * that they never look like data.
 */
function identity(ev: Evaluation, site: CallSite, value: Json): string | number | boolean | null {
  if (typeof value === "object" && value !== null) return sorted(ev, site, value, 0);
  if (typeof value !== "string") return value;
  handleText(ev, site, value.length);
  return `"${value}`;
}

function sorted(ev: Evaluation, site: CallSite, value: Json, depth: number): string {
  spend(ev, site, 1 + (typeof value === "string" ? value.length >> 6 : 0));
  checkData(site, value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (depth >= ev.limits.depth) overDepth(ev, site);
  if (Array.isArray(value)) {
    return `[${value.map((element) => sorted(ev, site, element ?? null, depth + 1)).join()}]`;
  }
  const object = value as JsonObject;
  const members = memberNames(object).map((name) => {
    handleText(ev, site, name.length);
    return `${JSON.stringify(name)}:${sorted(ev, site, memberOf(object, name), depth + 1)}`;
  });
  return `{${members.sort().join()}}`;
}

function flatItems(list: FlowType): FlowType {
  const items = itemsOf(list);
  return unionOfAll(membersOf(items).map((item) => (item.kind === "list" ? item.items : item)));
}

function valuesOf(type: FlowType): FlowType {
  if (type.kind !== "object") return ANY;
  if (type.open) return type.props.size > 0 ? ANY : (type.others ?? ANY);
  return unionOfAll([...type.props.values()]);
}

function mergedType(types: readonly FlowType[]): FlowType {
  const props = new Map<string, FlowType>();
  let open = false;
  for (const type of types) {
    if (type.kind !== "object") return OBJECT;
    // What an open object may hold besides its known members can hide those of the ones before it.
    if (type.open) props.clear();
    for (const [name, prop] of type.props) props.set(name, prop);
    open ||= type.open;
  }
  return { kind: "object", props, open };
}
