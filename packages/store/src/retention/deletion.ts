/** Statements that delete rows, together with the rows that only they refer to. */
import type { Database, Op, SqlReader, SqlValue } from "../sql/port.ts";

/** Tables with rows of a run besides `run_blob`. */
const OWNED = [
  "journal",
  "step_value",
  "private_value",
  "confirmation",
  "timer",
  "feed",
  "run_tag",
] as const;

/** Tables with what people said to a run, where servers hand it to each other. */
export const SAID: readonly string[] = ["inbox"];

/** Statements that delete ended runs with their own rows; shared rows stay. */
export async function deletion(reader: Database, numbers: readonly number[]): Promise<Op[]> {
  const rows = numbers.map((no) => [no]);
  const graphs = new Set<SqlValue>();
  const blobs: Op[] = [];
  for (const no of numbers) {
    const row = await reader.get("SELECT graph FROM run WHERE no = ?", [no]);
    if (row !== undefined) graphs.add(row["graph"] ?? null);
    blobs.push(...(await blobDeletion(reader, no)));
  }
  return [
    ...[...OWNED, ...(reader.holder === null ? [] : SAID)].map((table) => ({
      sql: `DELETE FROM ${table} WHERE run = ?`,
      rows,
    })),
    ...blobs,
    { sql: "DELETE FROM run WHERE no = ?", rows },
    {
      sql:
        "DELETE FROM graph WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM run r WHERE r.graph = graph.digest) " +
        "AND NOT EXISTS (SELECT 1 FROM template_version t WHERE t.graph = graph.digest)",
      rows: [...graphs].map((digest) => [digest]),
    },
  ];
}

/** Statements that take a run's blobs from it; a blob that no run names goes. */
export async function blobDeletion(reader: SqlReader, run: number): Promise<Op[]> {
  const digests = await reader.all("SELECT digest FROM run_blob WHERE run = ?", [run]);
  if (digests.length === 0) return [];
  return [
    { sql: "DELETE FROM run_blob WHERE run = ?", rows: [[run]] },
    unnamedBlobs(digests.map(({ digest }) => digest ?? null)),
  ];
}

/** Deletes those of the blobs that no run names. */
export function unnamedBlobs(digests: readonly SqlValue[]): Op {
  return {
    sql: "DELETE FROM blob WHERE digest = ? AND NOT EXISTS (SELECT 1 FROM run_blob b WHERE b.digest = blob.digest)",
    rows: digests.map((digest) => [digest]),
  };
}
