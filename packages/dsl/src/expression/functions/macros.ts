/**
 * Macros: functions whose last argument is evaluated once per element, with a name bound to it. Each is a loop over a list
 * that a compiled body fills; no macro calls another.
 */
import type { Json } from "@millrace/contracts";
import { setMember } from "../../data.ts";
import type { Span } from "../../syntax/ast.ts";
import { BOOL, type FlowType, INT, LIST, listOf, mapOf } from "../../types/flow-type.ts";
import {
  type Evaluation,
  handleText,
  overSteps,
  produceElements,
  spend,
  wrongType,
} from "../budget.ts";
import { compareText, Kind, kindName, kindOf } from "../data.ts";
import { type Part, pay } from "../unit.ts";
import { type Named, named, type Row } from "./define.ts";

/** The body of a macro, and the slot that holds the element meanwhile. */
export interface MacroBody {
  readonly slot: number;
  readonly part: Part;
}

/** Where a macro and its body stand. */
export interface MacroSite extends Span {
  readonly name: string;
  readonly body: Span;
}

/** A macro: always `name(list, x, body)`. */
export interface MacroSpec extends Named {
  /** The body must be a condition. */
  readonly condition?: true;
  /** The types that the body may have when it is no condition, in words and by kind; default: any. */
  readonly keys?: readonly [words: string, ...kinds: FlowType["kind"][]];
  /** It puts elements, or what the body gives, into data one level deeper. */
  readonly nests?: true;
  /** It can put one value into its result many times. */
  readonly multiplies?: true;
  readonly returns: (list: FlowType, body: FlowType) => FlowType;
  ev(ev: Evaluation, site: MacroSite, list: readonly Json[], body: MacroBody): Json;
}

const MACROS: readonly Row<MacroSpec>[] = [
  {
    signature: "filter(list, x, bool) list",
    condition: true,
    returns: (list) => (list.kind === "list" ? list : LIST),
    ev(ev, site, list, body) {
      const kept: Json[] = [];
      for (const element of list) {
        if (!holds(ev, site, body, element)) continue;
        produceElements(ev, site, 1);
        kept.push(element ?? null);
      }
      return kept;
    },
  },
  {
    signature: "map(list, x, T) list",
    nests: true,
    multiplies: true,
    returns: (_list, body) => listOf(body),
    ev(ev, site, list, body) {
      produceElements(ev, site, list.length);
      const made: Json[] = [];
      for (const element of list) {
        bind(ev, site, body, element);
        made.push(body.part.closure(ev));
      }
      return made;
    },
  },
  {
    signature: "all(list, x, bool) bool",
    condition: true,
    returns: () => BOOL,
    ev: (ev, site, list, body) => list.every((element) => holds(ev, site, body, element)),
  },
  {
    signature: "exists(list, x, bool) bool",
    condition: true,
    returns: () => BOOL,
    ev: (ev, site, list, body) => list.some((element) => holds(ev, site, body, element)),
  },
  {
    signature: "sortBy(list, x, number|string|bool) list",
    keys: ["number, string or bool keys", "null", "int", "number", "string", "bool"],
    returns: (list) => (list.kind === "list" ? list : LIST),
    ev(ev, site, list, body) {
      produceElements(ev, site, list.length);
      const keyed = list.map((element) => {
        bind(ev, site, body, element);
        return { element, key: body.part.closure(ev) };
      });
      checkKeys(site, keyed);
      return keyed
        .sort((a, b) => compareKeys(ev, site, a.key, b.key))
        .map(({ element }) => element);
    },
  },
  {
    signature: "groupBy(list, x, string) object",
    keys: ["string keys", "string"],
    nests: true,
    returns: (list) => mapOf(list.kind === "list" ? list : LIST),
    ev: (ev, site, list, body) =>
      byKey<Json[]>(ev, site, list, body, (element, group = []) => {
        group.push(element);
        return group;
      }),
  },
  {
    signature: "countBy(list, x, string) object",
    keys: ["string keys", "string"],
    returns: () => mapOf(INT),
    ev: (ev, site, list, body) =>
      byKey<number>(ev, site, list, body, (_element, count = 0) => count + 1),
  },
];

const TABLE: ReadonlyMap<string, MacroSpec> = new Map(named<MacroSpec>("macros", MACROS));

/** A macro by name; here, so that who only looks for names carries no function. */
export function findMacro(name: string): MacroSpec | undefined {
  return TABLE.get(name);
}

/** Every macro. */
export function allMacros(): Iterable<MacroSpec> {
  return TABLE.values();
}

/** An object of what the elements of each key amount to, keys in the order in which they first come. */
function byKey<T extends Json>(
  ev: Evaluation,
  site: MacroSite,
  list: readonly Json[],
  body: MacroBody,
  add: (element: Json, before: T | undefined) => T,
): Json {
  const groups = new Map<string, T>();
  for (const element of list) {
    produceElements(ev, site, 1);
    bind(ev, site, body, element);
    const key = body.part.closure(ev);
    if (typeof key !== "string") {
      const found = `${site.name} takes string keys, found ${kindName(key)}; \`string(…)\` makes text`;
      wrongType(site.body, found);
    }
    handleText(ev, site, key.length);
    const before = groups.get(key);
    if (before === undefined) produceElements(ev, site, 1);
    groups.set(key, add(element ?? null, before));
  }
  const object: Record<string, Json> = {};
  for (const [key, value] of groups) setMember(object, key, value);
  return object;
}

/** Gives the variable an element and pays for the body. */
function bind(ev: Evaluation, site: MacroSite, body: MacroBody, element: Json | undefined): void {
  ev.slots[body.slot] = element ?? null;
  pay(ev, body.part, site.body);
}

function holds(
  ev: Evaluation,
  site: MacroSite,
  body: MacroBody,
  element: Json | undefined,
): boolean {
  if (--ev.steps < 0) overSteps(ev, site);
  bind(ev, site, body, element);
  const result = body.part.closure(ev);
  if (typeof result !== "boolean") {
    wrongType(
      site.body,
      `the condition of ${site.name} must be true or false, found ${kindName(result)}`,
    );
  }
  return result;
}

function checkKeys(site: MacroSite, keyed: readonly { key: Json }[]): void {
  let kind = "null";
  for (const { key } of keyed) {
    const found = kindName(key);
    if (found === "null" || found === kind) continue;
    if (kind !== "null") {
      wrongType(site.body, `sortBy takes keys of one type, found ${kind} and ${found}`);
    }
    if ((kindOf(key) & (Kind.number | Kind.string | Kind.bool)) === 0) {
      wrongType(site.body, `sortBy takes numbers, strings or bools, found ${found}`);
    }
    kind = found;
  }
}

function compareKeys(ev: Evaluation, site: MacroSite, a: Json, b: Json): number {
  spend(ev, site, 1);
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a !== "string" || typeof b !== "string") return Number(a) - Number(b);
  handleText(ev, site, Math.min(a.length, b.length));
  return compareText(a, b);
}
