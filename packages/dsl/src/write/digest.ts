/** `digest`: the identity of a graph. */
import type { FlowGraph, Json } from "@millrace/contracts";
import { canonicalJson, sha256Hex, Written } from "@millrace/contracts/kit";
import { isObject } from "../data.ts";
import { DslError } from "../errors.ts";
import { checkJson } from "./check-json.ts";
import { type Collect, normalizeWith } from "./normalize.ts";

/**
 * `sha256:` and 64 hex digits over the RFC 8785 form of the normalized graph, with nodes, edges, inputs, outputs,
 * connections and schedules as sets, and without `layout`. Two graphs that mean the same have the same digest. Throws
 * `DslError` code `graph_invalid`, with the `pointer` of the bad place, for what is no object of JSON.
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
/** What the elements of sets are sorted by when that is not their name. */
const KEYS: { readonly [list: string]: readonly string[] } = {
  nodes: ["id"],
  edges: ["from", "port", "to"],
};

/** A set, written in order: by its keys, equal ones by all that they hold, bodies included. */
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
