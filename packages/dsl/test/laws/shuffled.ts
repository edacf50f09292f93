/** A graph that means the same: its sets and the keys of its objects in another order. */
import type { FlowGraph, Json } from "@millrace/contracts";
import type { Random } from "./random.ts";

const SETS: readonly string[] = ["nodes", "edges", "inputs", "outputs", "connections", "schedules"];

/** Members that hold data: it may bear the names of sets, so inside of it only keys change places. */
const DATA: readonly string[] = [
  ...["data", "fields", "policy", "meta", "default", "schema", "value", "output"],
];

/** The graph with its sets and keys shuffled; lists stay. */
export function shuffled(graph: FlowGraph, r: Random): FlowGraph {
  return shuffle(graph, r, "") as unknown as FlowGraph;
}

function shuffle(value: unknown, r: Random, key: string): Json {
  if (Array.isArray(value)) {
    const items = value.map((item) => shuffle(item, r, key === "data" ? "data" : ""));
    return SETS.includes(key) ? r.shuffle(items) : items;
  }
  if (typeof value !== "object" || value === null) return value as Json;
  // The `inputs` of a schedule are no list, but data too.
  const isData = DATA.includes(key) || key === "inputs";
  return Object.fromEntries(
    r
      .shuffle(Object.entries(value))
      .map(([name, member]) => [
        name,
        shuffle(member, r, isData || DATA.includes(name) ? "data" : name),
      ]),
  );
}
