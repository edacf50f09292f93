/** What the page keeps of a log, and its state at any moment. */
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  makeSnapshot,
  viewToJson,
} from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventLog } from "../../src/page/state/event-log.ts";

const logs = fc.nat({ max: 1_000_000 }).map((seed) => legalLog(seed).events);

function fold(events: readonly ExecutionEvent[]): unknown {
  const view = createView();
  for (const event of events) foldEvents(view, event);
  return viewToJson(view);
}

function logOf(events: readonly ExecutionEvent[], options = {}): EventLog {
  const log = new EventLog(options);
  for (const event of events) log.push(event);
  return log;
}

describe("the log of a run in the page", () => {
  test("gives at any event the fold of all events up to it, in whatever order it is asked", () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 9 }), fc.array(fc.nat()), (events, every, at) => {
        const log = logOf(events, { every });
        for (const position of at) {
          const seq = position % (events.length + 1);
          expect(viewToJson(log.viewAt(seq) as never)).toEqual(fold(events.slice(0, seq)));
        }
      }),
    );
  });

  test("keeps no more events than it may, and still gives the states of those that it keeps", () => {
    fc.assert(
      fc.property(logs, fc.integer({ min: 1, max: 5 }), fc.nat(), (events, every, at) => {
        const log = logOf(events, { every, max: 3 * every });
        expect(log.events.length).toBeLessThanOrEqual(3 * every);
        expect(log.last).toBe(events.length);
        expect(log.events.map(({ seq }) => seq)).toEqual(
          events.map(({ seq }) => seq).filter((seq) => seq > log.since),
        );
        const seq = log.since + (at % (log.last - log.since + 1));
        expect(viewToJson(log.viewAt(seq) as never)).toEqual(fold(events.slice(0, seq)));
        expect(log.since === 0 || log.viewAt(log.since - 1) === undefined).toBe(true);
        for (const { seq } of log.events) expect(log.at(seq)?.seq).toBe(seq);
        for (const event of log.events) {
          if ("node" in event && event.node !== undefined) {
            expect(log.ofNode(event.node)).toContain(event);
          }
        }
      }),
    );
  });

  test("begins anew with a snapshot and folds on from it", () => {
    fc.assert(
      fc.property(logs, fc.nat(), (events, at) => {
        const before = events.slice(0, at % events.length);
        const view = createView();
        for (const event of before) foldEvents(view, event);
        const rest = events.slice(before.length);
        const snapshot = before.length > 0 ? [makeSnapshot(view, view.updatedAt)] : [];
        const log = logOf([...snapshot, ...rest]);
        expect(log.since).toBe(before.length);
        expect(viewToJson(log.viewAt(log.last) as never)).toEqual(fold(events));
      }),
    );
  });

  test("ignores what it has already", () => {
    const { events } = legalLog(7);
    expect(logOf([...events, ...events]).events).toEqual(events);
  });
});
