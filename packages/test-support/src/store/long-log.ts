/** Logs that are long and say little; the last event is a summary. */
import { createView, type EncodedEvent, makeSummary, serialiseEvent } from "@millrace/contracts";

/** Time of all of their events. */
export const TS = 1_750_000_000_000;

export function linesOfText(runId: string, count: number): EncodedEvent[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = index + 1;
    const head = { v: 1, runId, seq, ts: TS } as const;
    const event =
      seq === count
        ? { ...head, kind: "summary" as const, ...summaryOf(runId) }
        : {
            ...head,
            kind: "log" as const,
            level: "info" as const,
            channel: "engine" as const,
            text: `line ${seq}`,
          };
    const line = new TextEncoder().encode(serialiseEvent(event));
    return { seq, kind: event.kind, line, event };
  });
}

function summaryOf(runId: string) {
  return makeSummary(createView(runId), { status: "cancelled", ts: TS });
}
