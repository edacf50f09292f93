/** `digest`: the identity of a graph. */

import type { FlowGraph, Json, JsonObject } from "@millrace/contracts";
import {
  canonicalJson,
  memberNames,
  pointerSegment,
  sha256Hex,
  Written,
} from "@millrace/contracts/kit";
import { isObject, isPlain } from "../data.ts";
import { DslError } from "../errors.ts";
import { type Collect, normalizeWith } from "./normalize.ts";

/**
 * `sha256:` and 64 hex digits over the RFC 8785 form of the normalized graph, with nodes, edges, inputs, outputs,
 * connections and schedules as sets, and without `layout`. Two graphs that mean the same have the same digest. Throws
 * `DslError` code `graph_invalid`, with the `pointer` of the bad place, for a value that is no JSON object.
 */
export function digest(graph: FlowGraph): string {
  checkJson(graph);
  if (!isObject(graph))
    throw new DslError("graph_invalid", "the graph must be an object", { pointer: "" });
  const { layout: _, ...identity } = normalizeWith(graph, sorted);
  const json = canonicalJson(identity as unknown as Json);
  return `sha256:${sha256Hex(new TextEncoder().encode(json))}`;
}

const BY_NAME: readonly string[] = ["name"];
/** Sort keys of the elements of sets that are not sorted by name. */
const KEYS: { readonly [list: string]: readonly string[] } = {
  nodes: ["id"],
  edges: ["from", "port", "to"],
};

/** A set, written in order: by its keys, equal ones by their whole content, bodies included. */
const sorted: Collect = (list, name, make) => {
  const keys = KEYS[name] ?? BY_NAME;
  const rows = list.map((element) => {
    const item = make(element);
    const values = keys.map((key) => (isObject(item) ? String(item[key]) : ""));
    return { values, json: canonicalJson(item) };
  });
  rows.sort((a, b) => {
    for (let i = 0; i < keys.length; i += 1) {
      const left = a.values[i] as string;
      const right = b.values[i] as string;
      if (left !== right) return left < right ? -1 : 1;
    }
    return a.json < b.json ? -1 : a.json > b.json ? 1 : 0;
  });
  return new Written(`[${rows.map(({ json }) => json).join()}]`) as unknown as readonly Json[];
};

/** A list or object during the walk, and the number of its visited parts; a list has no names. */
interface Open {
  readonly holder: JsonObject;
  readonly names: readonly string[] | undefined;
  readonly size: number;
  next: number;
}

/**
 * Throws `DslError` code `graph_invalid` at the first place that JSON does not have: an infinite number, a function or the
 * like, an instance of a class, or a circular reference. Members that are undefined are absent.
 */
function checkJson(root: unknown): void {
  const open: Open[] = [];
  const around = new Set<object>();
  for (let at = root; ; ) {
    const problem = problemOf(at, around);
    if (problem !== undefined) {
      const pointer = open
        .map(({ names, next }) => pointerSegment(names?.[next - 1] ?? next - 1))
        .join("");
      const place = pointer === "" ? "the graph" : pointer;
      throw new DslError("graph_invalid", `${place} ${problem}`, { pointer });
    }
    if (typeof at === "object" && at !== null) {
      const holder = at as JsonObject;
      around.add(holder);
      const names = Array.isArray(at) ? undefined : memberNames(holder);
      open.push({ holder, names, size: (names ?? (at as unknown[])).length, next: 0 });
    }
    let top = open.at(-1);
    for (; top !== undefined && top.next === top.size; top = open.at(-1)) {
      around.delete(top.holder);
      open.pop();
    }
    if (top === undefined) return;
    at = top.holder[top.names?.[top.next] ?? top.next];
    top.next += 1;
  }
}

function problemOf(value: unknown, around: ReadonlySet<object>): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : "must be a finite number";
  }
  if (typeof value !== "object") return `must be JSON, found ${typeof value}`;
  if (around.has(value)) return "must not hold itself";
  return Array.isArray(value) || isPlain(value) ? undefined : "must be a plain object";
}
