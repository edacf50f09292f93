/** The rows of a timeline, now and at earlier moments. */
import { createTrace, foldTrace, type SpanView } from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { timelineRows } from "../../src/page/screens/run/timeline-rows.ts";

const PLACE = { selected: undefined, attempt: undefined };

describe("a timeline", () => {
  test("has a row for each attempt, with its calls and waits on it", () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000 }), (seed) => {
        const { events } = legalLog(seed);
        const trace = createTrace();
        for (const event of events) foldTrace(trace, event);
        const rows = timelineRows(trace, { ...PLACE, at: undefined, time: trace.updatedAt });
        const spans: SpanView[] = [...trace.spans.values()];
        const attempts = spans.filter(({ kind }) => kind === "node");
        expect(rows).toHaveLength(attempts.length);
        expect(rows.flatMap(({ segments }) => segments)).toHaveLength(spans.length);
      }),
    );
  });

  test("at a moment has what had begun by then, and nothing is longer than it was", () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_000_000 }), fc.nat(), (seed, place) => {
        const { events } = legalLog(seed);
        const at = 1 + (place % events.length);
        const time = events[at - 1]?.ts ?? 0;
        const trace = createTrace();
        for (const event of events) foldTrace(trace, event);
        const then = createTrace();
        for (const event of events.slice(0, at)) foldTrace(then, event);
        const whole = timelineRows(trace, { ...PLACE, at, time });
        const partial = timelineRows(then, { ...PLACE, at: undefined, time });
        const bare = (rows: typeof whole) =>
          rows.map(({ path, attempt, segments }) => ({
            path,
            attempt,
            segments: segments.map(({ kind, from, to }) => ({ kind, from, to })),
          }));
        expect(bare(whole)).toEqual(bare(partial));
      }),
    );
  });
});
