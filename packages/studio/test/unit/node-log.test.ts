/** What is known of one node of a long run. */
import type { ExecutionEvent } from "@millrace/contracts";
import { legalLog } from "@millrace/test-support/logs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EventLog, nodeOf } from "../../src/page/state/event-log.ts";
import { NodeLog } from "../../src/page/state/node-log.ts";

describe("the log of a node", () => {
  test("has every event of it, however few the page keeps and whenever somebody begins to look", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 1_000_000 }),
        fc.integer({ min: 2, max: 40 }),
        fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1 }),
        (seed, max, steps) => {
          const { events } = legalLog(seed, { maxNodes: 8 });
          const path = events.map(nodeOf).find((node) => node !== undefined) ?? "";
          const log = new EventLog({ max, every: 2 });
          const known = new NodeLog(path);
          const ofNode = (some: readonly ExecutionEvent[]): readonly ExecutionEvent[] =>
            some.filter((event) => nodeOf(event) === path);
          for (let at = 0, step = 0; at < events.length; step += 1) {
            const next = at + (steps[step % steps.length] as number);
            for (const event of events.slice(at, next)) log.push(event);
            at = next;
            known.follow(log);
            if (known.end >= log.since) continue;
            // What left before it was looked at is read from the server.
            const missing = events.filter(({ seq }) => seq > known.end && seq <= log.since);
            known.add(ofNode(missing), log.since);
            known.follow(log);
          }
          expect(known.events).toEqual(ofNode(events));
        },
      ),
      { numRuns: 50 },
    );
  });

  test("misses nothing while it follows, so that nothing is read again", () => {
    const { events } = legalLog(3, { maxNodes: 12 });
    const log = new EventLog({ max: 4, every: 1 });
    const known = new NodeLog("");
    for (const event of events) {
      log.push(event);
      known.follow(log);
      expect(known.end).toBe(event.seq);
    }
    expect(log.since).toBeGreaterThan(0);
  });

  test("keeps the newest of very many events", () => {
    const { events } = legalLog(5, { maxNodes: 12 });
    const known = new NodeLog("", 3);
    known.add(events.slice(0, 2), 2);
    known.add(events.slice(2, 9), 9);
    expect(known.events).toEqual(events.slice(6, 9));
  });
});
