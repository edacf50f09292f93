/** `RunOptions.pins`: results that are given instead of made. They go the way of results that a rerun takes over. */
import { NodeError } from "@millrace/contracts";
import type { Layout } from "../compile/layout.ts";
import { EngineError } from "../errors.ts";
import type { RunOptions } from "../options.ts";
import { deepFreeze, toOutput } from "../values.ts";
import type { Reused } from "./reuse.ts";

/** The pins by node. Throws `EngineError` `input_invalid` for an unknown node or port, and for what is not JSON. */
export function pinnedResults(layout: Layout, pins: NonNullable<RunOptions["pins"]>): Reused {
  return new Map(
    Object.entries(pins).map(([id, { port = "out", output }]) => {
      const node = layout.index.get(id);
      if (node === undefined) throw invalid(`names the unknown node "${id}"`);
      const known = portsOf(layout, node);
      if (!known.includes(port)) {
        throw invalid(`"${id}" has no port "${port}"; it has ${known.join(", ")}`);
      }
      if (output === undefined) throw invalid(`"${id}" has no output`);
      return [id, { port, output: plain(id, output) }];
    }),
  );
}

/** Ports by which a node may leave: those of its type, and those that the flow gives edges. */
export function portsOf(layout: Layout, node: number): readonly string[] {
  const named = layout.types[node]?.entry.ports.map(({ name }) => name) ?? [];
  const own = named.length === 0 ? ["out"] : named;
  return [...new Set([...own, ...(layout.ports[node] ?? [])])];
}

function plain(id: string, output: unknown): ReturnType<typeof toOutput> {
  try {
    const value = toOutput(output);
    deepFreeze(value);
    return value;
  } catch (error) {
    const why = error instanceof NodeError || error instanceof Error ? error.message : "not JSON";
    throw invalid(`the output of "${id}" is not JSON: ${why}`);
  }
}

function invalid(what: string): EngineError {
  return new EngineError("input_invalid", `options.pins: ${what}`);
}
