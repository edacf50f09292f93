import { MAX_JSON_DEPTH, NotJsonError, toJsonValue } from "@millrace/contracts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";

const nothing = () => {};

test.each<[string, unknown, unknown]>([
  ["undefined as the whole output", undefined, null],
  ["a function as the whole output", nothing, null],
  [
    "undefined, function and symbol as properties",
    { a: undefined, b: nothing, c: Symbol("c") },
    {},
  ],
  [
    "undefined, function and symbol in a list",
    [undefined, nothing, Symbol("c"), 1],
    [null, null, null, 1],
  ],
  ["a hole in a list", Array(2), [null, null]],
  ["a date", new Date(0), "1970-01-01T00:00:00.000Z"],
  ["an invalid date", { at: new Date(Number.NaN) }, { at: null }],
  [
    "an own toJSON",
    { toJSON: () => ({ a: new Date(0), b: undefined }) },
    { a: "1970-01-01T00:00:00.000Z" },
  ],
  ["a toJSON of a class", new URL("https://example.org/x"), "https://example.org/x"],
  ["a small bigint", 12n, 12],
  ["a boxed number", Object(7), 7],
  [
    "an instance of a class",
    new (class A {
      a = 1;
      #b = 2;
      get c() {
        return this.#b;
      }
    })(),
    { a: 1 },
  ],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
  [
    "inherited and symbol keys",
    Object.assign(Object.create({ x: 1 }), { [Symbol("s")]: 1, a: 1 }),
    { a: 1 },
  ],
  [
    "constructor and prototype as keys",
    { constructor: 1, prototype: 2 },
    { constructor: 1, prototype: 2 },
  ],
  ["a lone surrogate in a value and a key", { "a\ud800": "x\udc00y" }, { "a\ufffd": "x\ufffdy" }],
  ["a surrogate pair", "🙂", "🙂"],
  ["control characters", "\0\r\n", "\0\r\n"],
])("%s", (_what, input, expected) => {
  expect(toJsonValue(input)).toEqual({ value: expected, warnings: [] });
});

test("minus zero becomes zero", () => {
  expect(Object.is(toJsonValue(-0).value, 0)).toBe(true);
});

test.each<[string, unknown, unknown, string, string]>([
  ["NaN", { a: [Number.NaN] }, { a: [null] }, "json_not_finite", "/a/0"],
  ["infinity", Number.NEGATIVE_INFINITY, null, "json_not_finite", ""],
  ["a large bigint", { n: 2n ** 60n }, { n: "1152921504606846976" }, "json_bigint", "/n"],
  [
    "an own key __proto__",
    JSON.parse('{"a/b":{"__proto__":{"x":1},"y":1}}'),
    { "a/b": { y: 1 } },
    "json_key_dropped",
    "/a~1b/__proto__",
  ],
])("%s is changed, with a warning that says where", (_what, input, value, code, pointer) => {
  const result = toJsonValue(input);
  expect(result.value).toEqual(value);
  expect(result.warnings.map((warning) => [warning.code, warning.pointer])).toEqual([
    [code, pointer],
  ]);
});

test("a warning comes once for each code", () => {
  const { warnings } = toJsonValue([Number.NaN, Number.NaN, 2n ** 60n, 2n ** 61n]);
  expect(warnings.map(({ code }) => code)).toEqual(["json_not_finite", "json_bigint"]);
});

test("toJSON is called once, with the key, and not on its own result", () => {
  const calls: unknown[] = [];
  const inner = { a: 1, toJSON: () => "never" };
  const input = {
    at: {
      toJSON(key: string) {
        calls.push(key);
        return inner;
      },
    },
  };
  expect(toJsonValue(input).value).toEqual({ at: { a: 1 } });
  expect(calls).toEqual(["at"]);
});

function failure(input: unknown, limits?: Parameters<typeof toJsonValue>[1]): NotJsonError {
  try {
    toJsonValue(input, limits);
  } catch (error) {
    expect(NotJsonError.isInstance(error)).toBe(true);
    return error as NotJsonError;
  }
  throw new Error("nothing was thrown");
}

const cycle: { self?: unknown } = {};
cycle.self = [cycle];
const { proxy, revoke } = Proxy.revocable({}, {});
revoke();

test.each<[string, unknown, string]>([
  ["a Map", { a: new Map() }, "/a"],
  ["a Set", [new Set()], "/0"],
  ["a promise", { a: Promise.resolve(1) }, "/a"],
  ["a cycle", cycle, "/self/0"],
  [
    "a getter that throws",
    {
      a: {
        get b() {
          throw new Error("hunter2");
        },
      },
    },
    "/a/b",
  ],
  ["a proxy that refuses", { a: proxy }, "/a"],
  [
    "a toJSON that throws",
    {
      a: {
        toJSON() {
          throw new Error("hunter2");
        },
      },
    },
    "/a",
  ],
  ["a blob", new Blob([]), ""],
  ["a stream", new ReadableStream(), ""],
  ["binary data that has nowhere to go", { a: new Uint8Array(2) }, "/a"],
])("%s is refused, with its place and without its content", (_what, input, pointer) => {
  const error = failure(input);
  expect([error.code, error.pointer, error.retryable]).toEqual(["output_not_json", pointer, false]);
  expect(error.message).not.toContain("hunter2");
});

test("one object in two places is no cycle", () => {
  const shared = { a: 1 };
  expect(toJsonValue([shared, { shared }]).value).toEqual([{ a: 1 }, { shared: { a: 1 } }]);
});

test("depth ends at the limit of the platform, without a stack overflow", () => {
  const nested = (depth: number): unknown => {
    let value: unknown = 1;
    for (let i = 0; i < depth; i += 1) value = i % 2 === 0 ? [value] : { a: value };
    return value;
  };
  expect(() => toJsonValue(nested(MAX_JSON_DEPTH))).not.toThrow();
  expect(failure(nested(MAX_JSON_DEPTH + 1)).code).toBe("output_too_deep");
  expect(failure(JSON.parse("[".repeat(200_000) + "]".repeat(200_000))).code).toBe(
    "output_too_deep",
  );
  expect(failure([[1]], { maxDepth: 1 }).code).toBe("output_too_deep");
  expect(failure(nested(MAX_JSON_DEPTH + 1), { maxDepth: 10_000 }).code).toBe("output_too_deep");
});

test("a million values are the most", () => {
  expect(() => toJsonValue(Array(999_999).fill(0))).not.toThrow();
  expect(failure(Array(1_000_000).fill(0)).code).toBe("output_too_large");
  expect(failure([1, 2, 3], { maxValues: 3 }).code).toBe("output_too_large");
  expect(failure(new Array(4_000_000_000)).code).toBe("output_too_large");
});

test("binary data goes where it is told to, and leaves its reference", () => {
  const stored: number[][] = [];
  const putBytes = (bytes: Uint8Array): string => {
    stored.push([...bytes]);
    return "sha256:ab";
  };
  const whole = new Uint8Array([1, 2, 3, 4]);
  const input = { a: whole.subarray(1, 3), b: whole.buffer, c: new DataView(whole.buffer, 3) };
  expect(toJsonValue(input, { putBytes }).value).toEqual({
    a: { $ref: "sha256:ab", bytes: 2 },
    b: { $ref: "sha256:ab", bytes: 4 },
    c: { $ref: "sha256:ab", bytes: 1 },
  });
  expect(stored).toEqual([[2, 3], [1, 2, 3, 4], [4]]);
});

test("a failure to store is the store's own", () => {
  const putBytes = (): string => {
    throw new RangeError("disk full");
  };
  expect(() => toJsonValue(new Uint8Array(1), { putBytes })).toThrow(RangeError);
});

test("JSON comes back as it is, as a copy", () => {
  const plain = fc.jsonValue().filter((value) => !JSON.stringify(value).includes("__proto__"));
  holds(
    fc.property(plain, (value) => {
      const result = toJsonValue(value);
      expect(JSON.stringify(result.value)).toBe(JSON.stringify(value));
      if (typeof value === "object" && value !== null) expect(result.value).not.toBe(value);
    }),
  );
});

test("whatever comes in, strict JSON comes out or a known error", () => {
  holds(
    fc.property(
      fc.anything({
        withBigInt: true,
        withDate: true,
        withMap: true,
        withSet: true,
        withTypedArray: true,
        withNullPrototype: true,
        withSparseArray: true,
      }),
      (value) => {
        try {
          const { value: json } = toJsonValue(value);
          expect(JSON.parse(JSON.stringify(json))).toEqual(json);
          expect(JSON.stringify(json)).not.toMatch(/\\ud[89a-f]/i);
        } catch (error) {
          expect(NotJsonError.isInstance(error)).toBe(true);
        }
      },
    ),
    { numRuns: 500 },
  );
});
