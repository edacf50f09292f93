/** What a load takes, and when a crashed model may be loaded again. */
import { expect, test } from "vitest";
import { thisMachine } from "../../src/runner/machine.ts";
import { sizingOf } from "../../src/runner/sizing.ts";
import { backOffMs } from "../../src/runner/slot.ts";
import { model } from "./support.ts";

const machine = { cores: 8, maxLoaded: 1 };

test("one core is left to others, and several models share the rest", () => {
  const threads = (cores: number, maxLoaded: number) =>
    sizingOf(model("a"), {}, { cores, maxLoaded }).threads;
  expect([threads(1, 1), threads(2, 1), threads(8, 1)]).toEqual([1, 1, 7]);
  expect([threads(8, 2), threads(8, 9)]).toEqual([3, 1]);
});

test("an option wins over the model's default, and the context never exceeds the model's", () => {
  const large = model("a", { gguf: { ...model("a").gguf, contextLength: 32_768 } });
  expect(sizingOf(large, {}, machine)).toMatchObject({ contextSize: 4_096, ttlMs: 600_000 });
  const set = { ...large, defaults: { contextSize: 8_192, threads: 3, ttlMs: 5 } };
  expect(sizingOf(set, {}, machine)).toMatchObject({ contextSize: 8_192, threads: 3, ttlMs: 5 });
  const options = { contextSize: 1_000_000, threads: 1, ttlMs: -1 };
  expect(sizingOf(set, options, machine)).toMatchObject({ ...options, contextSize: 32_768 });
});

test("memory is the file, the keys and values of the context, and the engine", () => {
  const { bytes } = sizingOf(model("a", { bytes: 100_000_000 }), { contextSize: 1_000 }, machine);
  expect(bytes).toBe(105_000_000 + 2 * 1 * 1_000 * 2 * 64 * 2 + 256 * 1_048_576);
});

test("the pause after a crash doubles up to a minute, and old crashes are forgotten", () => {
  const now = 10_000_000;
  const after = (count: number, age = 0) =>
    backOffMs(
      Array.from({ length: count }, (_, index) => now - age - (count - 1 - index)),
      now,
    );
  expect([0, 1, 2, 3, 4, 5].map((count) => after(count))).toEqual([
    0,
    1_000,
    2_000,
    4_000,
    8_000,
    null,
  ]);
  expect(after(1, 999)).toBe(1);
  expect(after(4, 600_000)).toBe(0);
});

test("this machine has a core and memory", () => {
  expect(thisMachine.cores()).toBeGreaterThanOrEqual(1);
  expect(thisMachine.availableBytes()).toBeGreaterThan(1_048_576);
});
