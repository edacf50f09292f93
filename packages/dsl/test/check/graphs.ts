/** Graphs that never were text. */
import type { FlowGraph } from "@millrace/contracts";
import { type FlowCatalog, validateFlow } from "@millrace/dsl";
import { catalog } from "../fixtures/catalog.ts";

/** A graph of nothing. */
export const EMPTY = {
  version: 1,
  id: "g",
  inputs: [],
  nodes: [],
  edges: [],
  outputs: [],
  connections: [],
  schedules: [],
  layout: {},
};

/** The code of each finding. */
export function codes(graph: unknown, known: FlowCatalog = catalog): string[] {
  return validateFlow(graph as FlowGraph, known, { lint: true }).map(({ code }) => code);
}

/** As many of what `make` makes. */
export function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** A node that evaluates an expression. */
export const transform = (id: string, source: string) => ({
  id,
  type: "transform",
  fields: { value: { $: source } },
});

/** An object that holds itself, more than once. */
export function endless(): object {
  const value: { [key: string]: unknown } = {};
  value["x"] = value;
  value["y"] = [value, value];
  return value;
}
