/** Graphs of runs and templates. Each is there once, under the digest of its text, and never changes. */
import { createHash } from "node:crypto";
import type { FlowGraph } from "@millrace/contracts";
import { StoreError } from "../errors.ts";
import type { Op, SqlReader } from "../sql/port.ts";

const MAX_NAMES = 1_000; // graphs that are looked for in memory first

/** The graph that was named last: most often many runs of one flow begin together. */
let last: { readonly text: string; readonly digest: string } | undefined;

const parsed = new WeakMap<SqlReader, Map<string, WeakRef<FlowGraph>>>();

/** The name of a graph and the row that keeps it. */
export function graphRow(graph: FlowGraph): { readonly digest: string; readonly op: Op } {
  const text = JSON.stringify(graph);
  if (last?.text !== text) last = { text, digest: digestOfText(text) };
  const { digest } = last;
  return {
    digest,
    op: {
      sql: "INSERT INTO graph(digest, json) VALUES(?, ?) ON CONFLICT DO NOTHING",
      rows: [[digest, text]],
    },
  };
}

/** `sha256:` and 64 hex digits. */
export function digestOfText(text: string): string {
  return `sha256:${createHash("sha256").update(text).digest("hex")}`;
}

/**
 * The graph of this name; the same object as long as it is referenced, so that a thousand runs read it once.
 * Rejects with `store_corrupt` for a row that is not what its name says: no run goes on with another graph than its own.
 */
export async function graphOf(reader: SqlReader, digest: string): Promise<FlowGraph> {
  const known = parsed.get(reader) ?? new Map<string, WeakRef<FlowGraph>>();
  parsed.set(reader, known);
  const held = known.get(digest)?.deref();
  if (held !== undefined) return held;
  const row = await reader.get("SELECT json FROM graph WHERE digest = ?", [digest]);
  if (row === undefined) throw new StoreError("not_found", "the run was deleted, and its graph");
  const text = String(row["json"]);
  if (digestOfText(text) !== digest) {
    throw new StoreError("store_corrupt", `the stored graph ${digest} was changed`);
  }
  const graph: FlowGraph = JSON.parse(text);
  if (known.size >= MAX_NAMES) known.clear();
  known.set(digest, new WeakRef(graph));
  return graph;
}
