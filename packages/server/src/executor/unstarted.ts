/** The log of a run that was cancelled before it began: one event, the summary. */
import {
  createView,
  type Journal,
  makeSummary,
  type Summary,
  serialiseEvent,
} from "@millrace/contracts";

/** Writes it. @see the events page, "Summary" */
export async function writeUnstarted(
  journal: Journal,
  run: { readonly runId: string; readonly epoch: number },
  ts: number,
): Promise<void> {
  const { runId, epoch } = run;
  const payload = makeSummary(createView(runId), { status: "cancelled", ts });
  const event: Summary = { v: 1, kind: "summary", runId, seq: 1, ts, ...payload };
  const line = new TextEncoder().encode(serialiseEvent(event));
  await journal.append(runId, 0, [{ seq: 1, kind: event.kind, line, event }], {
    epoch,
    sync: true,
  });
}
