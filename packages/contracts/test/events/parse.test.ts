import {
  EventParseError,
  MAX_JSON_DEPTH,
  parseEvent,
  parseEventStrict,
  serialiseEvent,
} from "@millrace/contracts";
import { executionEventSchema } from "@millrace/contracts/schemas";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";

const envelope = { v: 1, kind: "node.skipped", runId: "r1", seq: 1, ts: 5, node: "a", attempt: 1 };
const line = (over: object): string => JSON.stringify({ ...envelope, why: "dead", ...over });

function codeOf(text: string, parse = parseEvent): string | undefined {
  try {
    parse(text);
    return undefined;
  } catch (error) {
    expect(EventParseError.isInstance(error)).toBe(true);
    return (error as EventParseError).code;
  }
}

test.each([
  ["", "not JSON"],
  ["{", "not JSON"],
  ["[]", "not a JSON object"],
  ["null", "not a JSON object"],
  ["7", "not a JSON object"],
  [line({ v: "1" }), "v is not a number"],
  [line({ v: undefined }), "v is not a number"],
  [line({ kind: "Node.Started" }), "kind"],
  [line({ kind: "a.b.c" }), "kind"],
  [line({ kind: "x".repeat(41) }), "kind"],
  [line({ runId: "" }), "runId"],
  [line({ runId: "a b" }), "runId"],
  [line({ runId: "x".repeat(65) }), "runId"],
  [line({ seq: 0 }), "seq"],
  [line({ seq: 1.5 }), "seq"],
  [line({ seq: 2 ** 53 }), "seq"],
  [line({ ts: "now" }), "ts"],
  [line({ node: undefined }), "node"],
  [line({ attempt: 0 }), "attempt"],
  [line({ node: "a//b" }), "path"],
  [line({ kind: "log", attempt: undefined }), "attempt"],
  [line({ kind: "run.paused" }), "neither node nor attempt"],
  [line({ kind: "summary" }), "neither node nor attempt"],
])("%j is malformed: %s", (text, why) => {
  expect(codeOf(text)).toBe("event_malformed");
  expect(() => parseEvent(text)).toThrow(why);
});

test("another version is named, so that a newer reader can be looked for", () => {
  expect(codeOf(line({ v: 2 }))).toBe("event_version_unsupported");
  expect(() => parseEvent(line({ v: 2 }))).toThrow("version 2");
});

test("a message never quotes the text", () => {
  const secret = "hunter2hunter2";
  expect(() => parseEvent(`{"${secret}`)).toThrow(/^(?!.*hunter2)/);
  expect(() => parseEvent(line({ runId: ` ${secret}` }))).toThrow(/^(?!.*hunter2)/);
});

test("a line over 8 MiB is refused, counted in bytes", () => {
  const sized = (bytes: number): string =>
    line({ pad: "é".repeat((bytes - line({ pad: "" }).length) / 2) });
  expect(codeOf(sized(8 * 1024 * 1024))).toBeUndefined();
  expect(codeOf(`${sized(8 * 1024 * 1024)}  `)).toBe("event_malformed");
});

test("a value of the full depth passes, one that no reader could walk does not", () => {
  const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;
  const output = (value: string): string =>
    `{"v":1,"kind":"node.succeeded","runId":"r1","seq":1,"ts":5,"node":"a","attempt":1,"output":${value},"durationMs":1}`;
  expect(codeOf(output(nested(MAX_JSON_DEPTH)))).toBeUndefined();
  expect(codeOf(output(nested(1_000)))).toBe("event_malformed");
  expect(codeOf(output(nested(200_000)))).toBe("event_malformed");
  expect(codeOf(output(`"${"[".repeat(1_000)}"`))).toBeUndefined();
});

test("lax reading checks the envelope only; strict reading the whole event", () => {
  const bad = line({ why: 7 });
  expect(codeOf(bad)).toBeUndefined();
  expect(codeOf(bad, parseEventStrict)).toBe("event_malformed");
  expect(() => parseEventStrict(bad)).toThrow("why is not one of dead, when, run_ended");
});

test.each<[string, object, RegExp]>([
  ["a missing field", { why: undefined }, /why is missing/],
  ["an unknown field", { colour: "red" }, /colour is not a known key/],
  ["a word of no list", { why: "tired" }, /why is not one of/],
  ["an unknown kind", { kind: "node.glowed" }, /kind is none of version 1/],
])("strict reading refuses %s", (_what, over, message) => {
  expect(() => parseEventStrict(line(over))).toThrow(message);
});

test("strict reading names the place inside a payload", () => {
  const error = { code: "Bad Code", message: "m", retryable: false };
  const failed = line({
    kind: "node.failed",
    why: undefined,
    error,
    routed: "none",
    durationMs: 1,
  });
  expect(() => parseEventStrict(failed)).toThrow("error.code is not a snake_case code");
});

test("strict reading keeps the limits of writers", () => {
  const log = (over: object): string =>
    line({ kind: "log", why: undefined, level: "info", channel: "node", text: "", ...over });
  expect(codeOf(log({ text: "x".repeat(16_384) }), parseEventStrict)).toBeUndefined();
  expect(codeOf(log({ text: "x".repeat(16_385) }), parseEventStrict)).toBe("event_malformed");
  expect(codeOf(log({ data: { a: "x".repeat(2_040) } }), parseEventStrict)).toBeUndefined();
  expect(codeOf(log({ data: { a: "x".repeat(2_041) } }), parseEventStrict)).toBe("event_malformed");
});

test("strict reading and the zod schema agree on every event, also on one that is damaged", () => {
  const damage = fc.constantFrom(undefined, null, "", "x", -1, 1.5, true, [], {}, [null], "ok");
  holds(
    fc.property(fc.nat(100_000), fc.nat(), fc.nat(), damage, (seed, which, key, value) => {
      const { events } = legalLog(seed);
      const event = events[which % events.length] as unknown as Record<string, unknown>;
      const keys = Object.keys(event).slice(5);
      const name = keys[key % Math.max(keys.length, 1)] ?? "zz";
      const damaged = { ...event, [name]: value };
      const text = JSON.stringify(damaged);
      const accepts = executionEventSchema.safeParse(JSON.parse(text)).success;
      expect([text, codeOf(text, parseEventStrict) === undefined]).toEqual([text, accepts]);
    }),
    { numRuns: 500 },
  );
});

test("every event of a legal log is strictly legal", () => {
  for (let seed = 0; seed < 30; seed += 1) {
    for (const event of legalLog(seed).events) {
      expect(parseEventStrict(serialiseEvent(event))).toEqual(event);
    }
  }
});
