/**
 * Replaces the old log of an ended run by a snapshot and its summary.
 *   P1  While lines go, `pruned` is 2; afterwards 1. A reader meanwhile sees the end of the log, never a part with a gap.
 *   P2  Two lines stay in the place of the last two: a `snapshot` of the states of nodes, without what they said, and the
 *       `summary` as it was written.
 */
import {
  makeSnapshot,
  type RunViewJson,
  serialiseEvent,
  viewFromJson,
  viewToJson,
} from "@millrace/contracts";
import { foldedLog } from "../journal/pages.ts";
import type { Database, Op, SqlRow, SqlWriter } from "../sql/port.ts";
import { blobDeletion, SAID } from "./deletion.ts";

/** Values of `run.pruned`. */
const GOING = 2;
const GONE = 1;

/** A snapshot that is larger goes without its nodes: it is kept for a year, beside the summary, which counts them. */
const SNAPSHOT_BYTES = 65_536;

/** How the slices of a pass are cut: `write` takes a transaction of `rows` rows at most. */
export interface Slices {
  readonly rows: number;
  write(ops: readonly Op[]): ReturnType<SqlWriter["write"]>;
}

/** Takes the log, the step values and the blobs of an ended run. */
export async function pruneRun(reader: Database, run: number, slices: Slices): Promise<void> {
  const row = await reader.get(
    `SELECT id, ${reader.dialect.lastSeq} AS last, pruned FROM run WHERE no = ?`,
    [run],
  );
  if (row === undefined) return; // deleted in between
  const last = Number(row["last"]);
  const first = row["pruned"] === GOING ? [] : await snapshotRows(reader, run, row);
  await slices.write([
    ...first,
    {
      sql: `UPDATE run SET pruned = ${GOING} WHERE no = ? AND ended_at IS NOT NULL`,
      rows: [[run]],
    },
  ]);
  const oldest = await reader.get("SELECT min(seq) AS seq FROM journal WHERE run = ?", [run]);
  for (let seq = Number(oldest?.["seq"] ?? last); seq < last - 1; ) {
    const until = Math.min(seq + slices.rows, last - 1);
    await slices.write([
      { sql: "DELETE FROM journal WHERE run = ? AND seq < ?", rows: [[run, until]] },
    ]);
    seq = until;
  }
  await slices.write([
    { sql: "DELETE FROM step_value WHERE run = ?", rows: [[run]] },
    { sql: "DELETE FROM private_value WHERE run = ?", rows: [[run]] },
    ...(reader.holder === null ? [] : SAID).map((table) => ({
      sql: `DELETE FROM ${table} WHERE run = ?`,
      rows: [[run]],
    })),
    ...(await blobDeletion(reader, run)),
    { sql: `UPDATE run SET pruned = ${GONE} WHERE no = ?`, rows: [[run]] },
  ]);
}

/** The statement that puts the snapshot in the place of the event before the summary. */
async function snapshotRows(reader: Database, run: number, row: SqlRow): Promise<Op[]> {
  const seq = Number(row["last"]) - 1;
  if (seq < 1) return []; // it ended before it began: the summary says all
  const view = await foldedLog(reader, { run, runId: String(row["id"]), end: seq });
  const line = lineOf(bare(viewToJson(view)));
  const short = line.byteLength > SNAPSHOT_BYTES ? lineOf(withoutNodes(viewToJson(view))) : line;
  return [
    {
      sql: "UPDATE journal SET kind = 'snapshot', line = ? WHERE run = ? AND seq = ?",
      rows: [[short, run, seq]],
    },
  ];
}

/** The states alone: what nodes gave, said and logged has had its time. */
function bare(view: RunViewJson): RunViewJson {
  return {
    ...view,
    logs: [],
    calls: [],
    nodes: view.nodes.map(({ output, outputRef, text, textCall, progress, ...rest }) => rest),
  };
}

function withoutNodes(view: RunViewJson): RunViewJson {
  return { ...bare(view), nodes: [], confirmations: [], trimmed: view.trimmed + view.nodes.length };
}

function lineOf(view: RunViewJson): Uint8Array {
  return Buffer.from(serialiseEvent(makeSnapshot(viewFromJson(view), view.updatedAt)));
}
