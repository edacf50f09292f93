import {
  type AnyEvent,
  checkLog,
  createView,
  foldEvents,
  parseEvent,
  serialiseEvent,
  type UnknownEvent,
  viewToJson,
} from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";

const fold = (events: Iterable<AnyEvent>) => {
  const view = createView();
  for (const event of events) foldEvents(view, event);
  return viewToJson(view);
};

const unknown: fc.Arbitrary<Partial<UnknownEvent> & { kind: string }> = fc.constantFrom(
  { kind: "node.glowed", node: "n0", attempt: 1, colour: "red" },
  { kind: "budget.spent", node: "n0", attempt: 7 },
  { kind: "run.moved", to: "mars" },
  { kind: "thought" },
);

/** The log with something of a newer writer in it, at the place `at`. */
function withUnknown(seed: number, at: number, event: Partial<UnknownEvent>): AnyEvent[] {
  const { events } = legalLog(seed);
  const place = at % events.length;
  const inserted = [...events.slice(0, place), event, ...events.slice(place)];
  return inserted.map((each, i) => {
    const { runId, ts } = events[Math.max(0, Math.min(i, place) - 1)] as AnyEvent;
    return { v: 1, runId, ts, ...each, seq: i + 1 } as AnyEvent;
  });
}

test("I14: a kind that nobody knows moves seq and updatedAt only", () => {
  holds(
    fc.property(fc.nat(100_000), fc.nat(), unknown, (seed, at, event) => {
      const plain = fold(legalLog(seed).events);
      const view = fold(withUnknown(seed, at, event));
      const still = { seq: 0, updatedAt: 0, logs: [] };
      expect({ ...view, ...still }).toEqual({ ...plain, ...still });
      expect(view.seq).toBe(plain.seq + 1);
    }),
  );
});

test("a log with unknown kinds is legal, wherever they stand but at its ends", () => {
  holds(
    fc.property(fc.nat(100_000), fc.nat(), unknown, (seed, at, event) => {
      const { events } = legalLog(seed);
      const place = 1 + (at % (events.length - 1));
      expect(checkLog(withUnknown(seed, place, event))).toEqual([]);
    }),
  );
});

test("unknown fields change nothing and are kept when passing on", () => {
  for (let seed = 0; seed < 20; seed += 1) {
    const { events } = legalLog(seed);
    const newer = events.map((event) => ({ ...event, colour: { deep: ["red"] } }) as AnyEvent);
    expect(checkLog(newer)).toEqual([]);
    const { summary, ...view } = fold(newer);
    expect(view).toEqual({ ...fold(events), summary: undefined });
    expect(summary).toMatchObject({ colour: { deep: ["red"] } });
    for (const event of newer) {
      expect(parseEvent(serialiseEvent(event))).toEqual(event);
    }
  }
});

test("new members of open lists pass, new members of closed ones do not", () => {
  const { events } = legalLog(3);
  const change = (kind: string, over: object) =>
    events.map((event) => (event.kind === kind ? ({ ...event, ...over } as AnyEvent) : event));
  expect(checkLog(change("run.started", { trigger: "satellite" }))).toEqual([]);
  expect(checkLog(change("summary", { status: "evaporated" }))).not.toEqual([]);
});
