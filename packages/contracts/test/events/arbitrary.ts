/** Events of every kind with any content that a payload allows, hostile strings first. */
import { EVENT_KINDS, type ExecutionEvent } from "@millrace/contracts";
import * as fc from "fast-check";

const hostile = fc.constantFrom(
  "\u2028\u2029\u0085",
  '"\\\n\r\t\0',
  "\ud800",
  "\udc00x",
  "🙂",
  "data: x\n\nid: 9",
  "__proto__",
  "</script>",
  "\u007f\u0080ÿ",
  "",
);
export const text: fc.Arbitrary<string> = fc.oneof(
  hostile,
  fc.string({ unit: "binary" }),
  fc.string(),
  fc.array(fc.oneof(hostile, fc.string())).map((parts) => parts.join("")),
);
const number = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc.double(),
  fc.constantFrom(
    0,
    -0,
    1e21,
    5e-324,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    1_750_000_000_000,
    1e12,
    1e15,
  ),
);
const json: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  text,
  fc.dictionary(text, fc.oneof(text, number, fc.constant(null), fc.array(text))),
);

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

/** Payloads of the kinds that are written by hand; every optional key comes and goes, and may be there as `undefined`. */
const hot: Record<string, Record<string, fc.Arbitrary<unknown>>> = {
  "node.started": { type: text, inputs: optional(text) },
  "node.succeeded": {
    ports: optional(fc.array(text)),
    output: optional(json),
    outputRef: optional(fc.record({ ref: text, bytes: number, preview: text })),
    durationMs: number,
    cached: optional(fc.constant(true)),
    truncated: optional(number),
  },
  "node.skipped": { why: text },
  "node.progress": { done: number, total: optional(number), unit: optional(text) },
  "llm.delta": { call: text, channel: text, offset: number, text, merged: optional(number) },
  log: {
    level: text,
    channel: text,
    text,
    code: optional(text),
    data: optional(fc.dictionary(text, json)),
    truncated: optional(number),
  },
};

/** Any event: legal keys in wire order, any values. */
export const anyEvent: fc.Arbitrary<ExecutionEvent> = fc
  .constantFrom(...EVENT_KINDS, ...Object.keys(hot), ...Object.keys(hot))
  .chain((kind) => {
    const payload = hot[kind] ?? {
      call: optional(text),
      extra: optional(json),
      text: optional(text),
    };
    const place = kind === "log" ? optional : <T>(value: fc.Arbitrary<T>) => value;
    return fc
      .tuple(
        fc.record({
          runId: text,
          seq: number,
          ts: number,
          node: place(text),
          attempt: place(number),
        }),
        fc.record(payload),
        fc.boolean(),
      )
      .map(([{ node, attempt, ...envelope }, words, dropsAbsent]) => {
        const event = { v: 1, kind, ...envelope, node, attempt, ...words };
        const entries = Object.entries(event).filter(
          ([, value]) => !dropsAbsent || value !== undefined,
        );
        return Object.fromEntries(entries) as unknown as ExecutionEvent;
      });
  });

/** Asserts a law that is decided at once. */
export function holds<T>(law: fc.IProperty<T>, options: fc.Parameters<T> = {}): void {
  void fc.assert(law, options);
}
