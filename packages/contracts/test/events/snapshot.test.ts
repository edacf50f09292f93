import {
  createView,
  type ExecutionEvent,
  foldEvents,
  makeSnapshot,
  mergeDeltas,
  parseEventStrict,
  type RunView,
  serialiseEvent,
  viewFromJson,
  viewToJson,
} from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";
import { journal, node, started, type Words } from "./builder.ts";

function fold(events: Iterable<ExecutionEvent>, view: RunView = createView()): RunView {
  for (const event of events) foldEvents(view, event);
  return view;
}
const text = (view: RunView): string => JSON.stringify(viewToJson(view));

test("I12: from a snapshot of any moment the rest of the log leads to the same view", () => {
  for (let seed = 0; seed < casesOf(200); seed += 1) {
    const { events } = legalLog(seed);
    const whole = text(fold(events));
    const view = createView();
    for (const [k, event] of events.entries()) {
      foldEvents(view, event);
      const line = serialiseEvent(makeSnapshot(view, event.ts));
      const snapshot = parseEventStrict(line) as ReturnType<typeof makeSnapshot>;
      const restored = viewFromJson(snapshot.view);
      expect(text(restored)).toBe(text(view));
      expect(text(fold(events.slice(k + 1), restored))).toBe(whole);
    }
  }
});

test("a snapshot holds still while its view goes on", () => {
  const { events } = legalLog(23, { maxNodes: 12 });
  const view = fold(events.slice(0, events.length / 2));
  const snapshot = makeSnapshot(view, 1);
  const before = JSON.stringify(snapshot);
  fold(events, view);
  expect(JSON.stringify(snapshot)).toBe(before);
});

test("its seq is that of the last event folded in", () => {
  const view = fold(journal(started(), ...node("a")));
  expect(makeSnapshot(view, 99)).toMatchObject({
    v: 1,
    kind: "snapshot",
    runId: "r1",
    seq: 3,
    ts: 99,
    view: { seq: 3 },
  });
});

test("a snapshot that is not older than a view replaces it, an older one is ignored", () => {
  const log = journal(started(), ...node("a"), ...node("b"));
  const snapshot = makeSnapshot(fold(log.slice(0, 3)), 5);
  const late = foldEvents(createView(), snapshot);
  expect(text(fold(log, late))).toBe(text(fold(log)));
  const ahead = fold(log);
  foldEvents(ahead, snapshot);
  expect(text(ahead)).toBe(text(fold(log)));
});

test("the fold of merged deltas is the fold of the deltas", () => {
  holds(
    fc.property(fc.nat(100_000), fc.infiniteStream(fc.boolean()), (seed, coins) => {
      const { events } = legalLog(seed);
      const merged: ExecutionEvent[] = [];
      for (const event of events) {
        const last = merged.at(-1);
        const joined =
          last?.kind === "llm.delta" && event.kind === "llm.delta" && coins.next().value
            ? mergeDeltas(last, event)
            : null;
        if (joined === null) merged.push(event);
        else merged[merged.length - 1] = joined;
      }
      expect(text(fold(merged))).toBe(text(fold(events)));
      let seq = 0;
      for (const event of merged) {
        const stands = event.kind === "llm.delta" ? (event.merged ?? 1) : 1;
        expect(event.seq).toBe(seq + stands);
        seq = event.seq;
      }
    }),
  );
});

test("the view of a map of any size stays small", () => {
  const view = createView();
  const [first] = journal(started());
  foldEvents(view, first as ExecutionEvent);
  const items = 20_000;
  let seq = 1;
  const write = (words: Words): void => {
    seq += 1;
    foldEvents(view, { v: 1, runId: "r1", seq, attempt: 1, ...words } as unknown as ExecutionEvent);
  };
  write({ kind: "node.started", node: "m", ts: 1, type: "map" });
  for (let i = 0; i < items; i += 1) {
    write({ kind: "node.started", node: `m[${i}]/x`, ts: i, type: "transform" });
    write({
      kind: "node.succeeded",
      node: `m[${i}]/x`,
      ts: i,
      output: "x".repeat(2_000),
      durationMs: 0,
    });
  }
  expect(view.nodes.size).toBe(2_001);
  expect(view.settled).toHaveLength(2_000);
  expect(view.trimmed).toBe(items - 2_000);
  expect(view.bodyCounts.succeeded).toBe(items);
  expect(serialiseEvent(makeSnapshot(view, 1)).length).toBeLessThan(8 * 1024 * 1024);
});

test("a snapshot of a writer that errs leaves a view that can be shown and folded on", () => {
  const odd = {
    logs: [null, 7],
    failures: [null],
    counts: null,
    nodes: [null, { node: "ask", text: 7 }],
    calls: [null, { call: "c1", node: "ask", texts: { text: 7, __proto__: null } }],
    confirmations: [null],
  };
  const envelope = { v: 1, runId: "r1", ts: 1 } as const;
  const snapshot = { ...envelope, kind: "snapshot", seq: 5, view: odd };
  const view = foldEvents(createView(), snapshot as unknown as ExecutionEvent);
  const delta = { node: "ask", attempt: 1, call: "c1", channel: "text", offset: 0, text: "Hi" };
  foldEvents(view, { ...envelope, ...delta, kind: "llm.delta", seq: 6 } as ExecutionEvent);
  const shown = viewToJson(view);
  expect(shown.nodes.map(({ node }) => node)).toEqual(["ask"]);
  expect(shown.calls.map(({ texts }) => texts)).toEqual([{ text: "Hi" }]);
  expect([shown.logs, shown.failures, shown.confirmations]).toEqual([[], [], []]);
  expect(viewToJson(viewFromJson(null as never))).toEqual(viewToJson(createView()));
});
