import {
  type ExecutionEvent,
  escapeLine,
  ndjson,
  parseEvent,
  serialiseEvent,
  sse,
} from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { anyEvent, holds, text } from "./arbitrary.ts";
import { journal, RUN, T0 } from "./builder.ts";

const reference = (event: object): string => escapeLine(JSON.stringify(event));

test("the line of any event is its JSON with three characters escaped", () => {
  holds(
    fc.property(anyEvent, (event) => {
      expect(serialiseEvent(event)).toBe(reference(event));
    }),
    { numRuns: casesOf(2_000) },
  );
});

test("keys in another order, or more of them, do not change the law", () => {
  holds(
    fc.property(anyEvent, fc.infiniteStream(fc.nat()), text, (event, order, extra) => {
      const entries = Object.entries(event)
        .map((entry) => ({ entry, at: order.next().value }))
        .sort((a, b) => a.at - b.at)
        .map(({ entry }) => entry);
      const shuffled = Object.fromEntries(entries) as unknown as ExecutionEvent;
      expect(serialiseEvent(shuffled)).toBe(reference(shuffled));
      const more = { ...event, zz: extra };
      expect(serialiseEvent(more)).toBe(reference(more));
      const { ts, ...fewer } = event;
      expect(serialiseEvent(fewer as ExecutionEvent)).toBe(reference(fewer));
    }),
    { numRuns: 500 },
  );
});

test("a line holds no character at which a line splitter breaks, and reads back as the event", () => {
  const breaks = ["\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029"];
  holds(
    fc.property(fc.nat(1_000_000), (seed) => {
      for (const event of legalLog(seed).events) {
        const line = serialiseEvent(event);
        expect(breaks.filter((unit) => line.includes(unit))).toEqual([]);
        expect(parseEvent(line)).toEqual(event);
      }
    }),
    { numRuns: 40 },
  );
});

test("escapeLine leaves JSON without the three characters as it is", () => {
  expect(escapeLine('{"a":"é\\n"}')).toBe('{"a":"é\\n"}');
  expect(escapeLine('"\u0085\u2028\u2029"')).toBe('"\\u0085\\u2028\\u2029"');
});

test("a delta is written with its keys in wire order", () => {
  const [event] = journal({
    kind: "llm.delta",
    node: "ask",
    call: "c1",
    channel: "text",
    offset: 0,
    text: 'Hi "you"\u2028',
  });
  expect(serialiseEvent(event as ExecutionEvent)).toBe(
    `{"v":1,"kind":"llm.delta","runId":"${RUN}","seq":1,"ts":${T0},"node":"ask","attempt":1,"call":"c1","channel":"text","offset":0,"text":"Hi \\"you\\"\\u2028"}`,
  );
});

test("each surface is the line with something constant around it", () => {
  for (const event of legalLog(7).events) {
    const line = serialiseEvent(event);
    expect(sse.frame(event)).toBe(`data: ${line}\n\n`);
    expect(sse.frameWithId(event)).toBe(`data: ${line}\nid: ${event.seq}\n\n`);
    expect(ndjson.line(event)).toBe(`${line}\n`);
  }
});

test("a line that is made already is not made again", () => {
  const [event] = legalLog(1).events as [ExecutionEvent];
  expect(sse.frame(event, "LINE")).toBe("data: LINE\n\n");
  expect(sse.frameWithId(event, "LINE")).toBe("data: LINE\nid: 1\n\n");
});

test("what a reader passes on keeps its bytes, also where the payload is not of its kind", () => {
  const envelope = { v: 1, kind: "llm.delta", runId: RUN, seq: 1, ts: T0, node: "ask", attempt: 1 };
  for (const odd of ["5", 5, null, true, ["x"], { a: "\u2028" }]) {
    const delta = { ...envelope, call: odd, channel: odd, offset: odd, text: odd };
    expect(serialiseEvent(delta as unknown as ExecutionEvent)).toBe(reference(delta));
    const known = { ...delta, call: "c1", channel: "text" };
    expect(serialiseEvent(known as unknown as ExecutionEvent)).toBe(reference(known));
  }
});
