/** Graphs of runs and templates. Each is there once, under the digest of its text, and never changes. */
import { createHash } from "node:crypto";
import type { FlowGraph } from "@millrace/contracts";
import { StoreError } from "../errors.ts";
import type { Op, SqlReader } from "../sql/port.ts";

const MAX_NAMES = 1_000; // graphs that are looked for in memory first

/** The name of a graph and the row that keeps it. */
interface NamedGraph {
  readonly digest: string;
  readonly op: Op;
}

/** The graph that was named last, and the digest of its plan: most often many runs of one flow begin together. */
let last: (NamedGraph & { readonly graph: FlowGraph; text: string; plan?: string }) | undefined;

const parsed = new WeakMap<SqlReader, Map<string, WeakRef<FlowGraph>>>();

/** `plan`: the digest of its plan, which has an object of its own for it: the text of the same object is not made again. */
export function graphRow(graph: FlowGraph, plan?: string): NamedGraph {
  if (plan !== undefined && plan === last?.plan && graph === last.graph) return last;
  const text = JSON.stringify(graph);
  const digest = last?.text === text ? last.digest : digestOfText(text);
  const sql = "INSERT INTO graph(digest, json) VALUES(?, ?) ON CONFLICT DO NOTHING";
  const op = { sql, rows: [[digest, text]] };
  last = { graph, text, digest, op, ...(plan !== undefined && { plan }) };
  return last;
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
