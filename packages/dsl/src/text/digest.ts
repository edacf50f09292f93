/** `digest`: the identity of a graph. */
import type { FlowGraph, Json, JsonObject } from "@millrace/contracts";
import { isObject } from "../expression/values.ts";
import { sha256Hex } from "../sha256.ts";
import { canonicalJson } from "./canonical-json.ts";
import { normalizeGraph } from "./normalize.ts";

/**
 * `sha256:` and 64 hex digits over the RFC 8785 form of the normalized graph, with nodes, edges, inputs, outputs,
 * connections and schedules as sets, and without `layout`. Two graphs that mean the same have the same digest.
 */
export function digest(graph: FlowGraph): string {
  const { layout: _, ...identity } = normalizeGraph(graph);
  const text = canonicalJson(sortSets(identity as unknown as JsonObject));
  return `sha256:${sha256Hex(new TextEncoder().encode(text))}`;
}

/** Members that are sets, and what their elements are sorted by; equal ones by all that they hold. */
const SETS: { readonly [member: string]: readonly string[] } = {
  inputs: ["name"],
  nodes: ["id"],
  edges: ["from", "port", "to"],
  outputs: ["name"],
  connections: ["name"],
  schedules: ["name"],
};

/**
 * Sorts the sets of a graph and of the bodies in it, innermost first, so that nodes that only differ in the order of their
 * bodies sort alike. Bodies are worked off from a list, not by recursion.
 */
function sortSets(graph: JsonObject): Json {
  const root: Record<string, Json | undefined> = { ...graph };
  const holders = [root];
  for (const holder of holders) {
    for (const member of Object.keys(SETS)) {
      const list = holder[member];
      if (!Array.isArray(list)) continue;
      holder[member] = (list as Json[]).map((item) => {
        const body = isObject(item) ? item["body"] : undefined;
        if (!isObject(body)) return item;
        const copy: Record<string, Json | undefined> = { ...body };
        holders.push(copy);
        return { ...(item as JsonObject), body: copy };
      });
    }
  }
  for (const holder of holders.reverse()) {
    for (const [member, keys] of Object.entries(SETS)) {
      const list = holder[member];
      if (Array.isArray(list)) holder[member] = sortBy(list as Json[], keys);
    }
  }
  return root;
}

function sortBy(list: readonly Json[], keys: readonly string[]): Json[] {
  const rows = list.map((item) => ({
    item,
    key: keys.map((key) => (isObject(item) ? String(item[key]) : "")),
  }));
  rows.sort((a, b) => {
    for (const [index, key] of a.key.entries()) {
      const other = b.key[index] as string;
      if (key !== other) return key < other ? -1 : 1;
    }
    const [left, right] = [canonicalJson(a.item), canonicalJson(b.item)];
    return left < right ? -1 : left > right ? 1 : 0;
  });
  return rows.map(({ item }) => item);
}
