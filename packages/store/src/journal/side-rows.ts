/**
 * Rows that the events of a batch change besides the log and the feed of all runs: status of the run, confirmations, timers.
 * Derived here from the events themselves and written with them, so there is no second call to forget.
 */
import type { ConfirmRequested, Summary } from "@millrace/contracts";
import type { Dialect, Lines, Op, SqlValue } from "../sql/port.ts";
import { endOfPrivate } from "./private-values.ts";

/** Facts about the runs of a journal. `untimed`: those whose nodes have no timer that could end. */
export interface SideRows {
  readonly dialect: Dialect;
  readonly untimed: Set<number>;
}

/** Adds the statements for a batch of a run to `ops`, in the order of its events. */
export function addSideRows(
  ops: Op[],
  { run, events }: Pick<Lines, "run" | "events">,
  { dialect, untimed }: SideRows,
): void {
  for (const { event } of events) {
    switch (event.kind) {
      case "run.started":
        add(
          ops,
          `UPDATE run SET status = 'running', started_at = ?, options = ${dialect.withMember("options", "flowHash")} WHERE no = ?`,
          [event.ts, event.flow.hash, run],
        );
        break;
      case "run.paused":
        add(ops, SET_STATUS, ["paused", run]);
        break;
      case "run.resumed":
        add(ops, SET_STATUS, ["running", run]);
        break;
      case "run.cancelling":
        add(ops, SET_STATUS, ["cancelling", run]);
        break;
      case "confirm.requested":
        add(ops, ASK, questionOf(run, event));
        break;
      case "confirm.resolved":
        // The first answer counts.
        ops.push({
          sql:
            "UPDATE confirmation SET status = ?, by = ?, value = ?, comment = ?, resolved_at = ? " +
            "WHERE run = ? AND id = ? AND status = 'requested'",
          rows: [
            [
              event.outcome,
              event.by ?? null,
              event.value === undefined ? null : JSON.stringify(event.value),
              event.comment ?? null,
              event.ts,
              run,
              event.id,
            ],
          ],
          need: "lease_lost",
        });
        break;
      case "node.waiting":
        if (event.on === "timer" && event.until !== undefined) {
          untimed.delete(run);
          add(ops, SET_TIMER, [run, event.node, event.attempt, event.until]);
        }
        break;
      case "node.retrying":
        if (!untimed.delete(run)) add(ops, END_TIMERS, [run, event.node]);
        add(ops, SET_TIMER, [run, event.node, event.next, event.ts + event.delayMs]);
        break;
      case "node.started":
      case "node.resumed":
      case "node.succeeded":
      case "node.failed":
      case "node.cancelled":
        if (!untimed.has(run)) add(ops, END_TIMERS, [run, event.node]);
        break;
      case "summary":
        ops.push(...endOf(run, event));
        if (!untimed.delete(run)) add(ops, "DELETE FROM timer WHERE run = ?", [run]);
        break;
      default:
    }
  }
}

function add(ops: Op[], sql: string, row: readonly SqlValue[]): void {
  ops.push({ sql, rows: [row] });
}

const SET_STATUS = "UPDATE run SET status = ? WHERE no = ?";
const SET_TIMER =
  "INSERT INTO timer(run, node, attempt, fire_at) VALUES(?, ?, ?, ?) " +
  "ON CONFLICT(run, node, attempt) DO UPDATE SET fire_at = excluded.fire_at";
const END_TIMERS = "DELETE FROM timer WHERE run = ? AND node = ?";
const ASK =
  "INSERT INTO confirmation(run, id, node, status, prompt, schema, tool, deadline, requested_at) " +
  "VALUES(?, ?, ?, 'requested', ?, ?, ?, ?, ?)";

function questionOf(run: number, event: ConfirmRequested): SqlValue[] {
  return [
    run,
    event.id,
    event.node,
    event.prompt,
    event.schema === undefined ? null : JSON.stringify(event.schema),
    event.tool === undefined ? null : JSON.stringify(event.tool),
    event.deadline ?? null,
    event.ts,
  ];
}

function endOf(run: number, event: Summary): Op[] {
  const { v: _v, kind: _kind, runId: _runId, seq: _seq, ts, ...summary } = event;
  const status = summary.status === "invalid" ? "failed" : summary.status;
  const failed = status === "failed" ? 1 : null;
  return [
    {
      sql: "UPDATE run SET status = ?, ended_at = ?, summary = ?, untold = ?, unacknowledged = ? WHERE no = ?",
      rows: [[status, ts, JSON.stringify(summary), failed, failed, run]],
    },
    endOfPrivate(run),
  ];
}
