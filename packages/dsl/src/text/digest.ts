/** `digest`: the identity of a graph. */
import type { FlowGraph, Json, JsonObject } from "@millrace/contracts";
import { isObject } from "../expression/values.ts";
import { sha256Hex } from "../sha256.ts";
import { canonicalJson, Written } from "./canonical-json.ts";
import { normalizeGraph } from "./normalize.ts";

/**
 * `sha256:` and 64 hex digits over the RFC 8785 form of the normalized graph, with nodes, edges, inputs, outputs,
 * connections and schedules as sets, and without `layout`. Two graphs that mean the same have the same digest.
 */
export function digest(graph: FlowGraph): string {
  const { layout: _, ...identity } = normalizeGraph(graph);
  const json = canonicalJson(withSortedSets(identity as unknown as JsonObject));
  return `sha256:${sha256Hex(new TextEncoder().encode(json))}`;
}

/** Members that are sets, and what their elements are sorted by; equal ones by all that they hold. */
const SETS: readonly (readonly [member: string, keys: readonly string[]])[] = [
  ["inputs", ["name"]],
  ["nodes", ["id"]],
  ["edges", ["from", "port", "to"]],
  ["outputs", ["name"]],
  ["connections", ["name"]],
  ["schedules", ["name"]],
];

type Holder = Record<string, Json | undefined>;

/**
 * A graph with its sets, and those of the bodies in it, written in order: innermost first, so that nodes that only differ
 * in the order of their bodies sort alike. Bodies are worked off from a list, not by recursion.
 */
function withSortedSets(graph: JsonObject): Json {
  const root: Holder = { ...graph };
  const holders = [root];
  for (const holder of holders) {
    for (const [member] of SETS) {
      const list = holder[member];
      if (!Array.isArray(list)) continue;
      holder[member] = (list as Json[]).map((item) => {
        const body = isObject(item) ? item["body"] : undefined;
        if (!isObject(body)) return item;
        const copy: Holder = { ...body };
        holders.push(copy);
        return { ...(item as JsonObject), body: copy as Json };
      });
    }
  }
  for (const holder of holders.reverse()) {
    for (const [member, keys] of SETS) {
      const list = holder[member];
      if (Array.isArray(list)) holder[member] = sorted(list, keys) as unknown as Json;
    }
  }
  return root as Json;
}

function sorted(list: readonly Json[], keys: readonly string[]): Written {
  const rows = list.map((item) => ({
    keys: keys.map((key) => (isObject(item) ? String(item[key]) : "")),
    json: canonicalJson(item),
  }));
  rows.sort((a, b) => {
    for (let i = 0; i < keys.length; i += 1) {
      const order = compare(a.keys[i] as string, b.keys[i] as string);
      if (order !== 0) return order;
    }
    return compare(a.json, b.json);
  });
  return new Written(`[${rows.map(({ json }) => json).join()}]`);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
