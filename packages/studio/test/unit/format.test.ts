import { expect, test } from "vitest";
import {
  formatBytes,
  formatCost,
  formatCount,
  formatDuration,
  formatRelative,
  sentence,
} from "../../src/page/parts/format.ts";

test("durations have the unit that a person reads", () => {
  const rows: [number, string][] = [
    [0, "0 ms"],
    [4.4, "4 ms"],
    [999.6, "1.0 s"],
    [2_400, "2.4 s"],
    [59_960, "1 min 0 s"],
    [185_000, "3 min 5 s"],
    [7_800_000, "2 h 10 min"],
    [90_000_000, "1 d 1 h"],
  ];
  for (const [ms, text] of rows) expect(formatDuration(ms)).toBe(text);
});

test("an unknown price is never shown as nothing", () => {
  expect(formatCost(null)).toBe("unknown");
  expect(formatCost(0)).toBe("$0.00");
  expect(formatCost(0.00061)).toBe("$0.00061");
  expect(formatCost(1.005)).toBe("$1.00");
});

test("sizes have the unit that a person reads", () => {
  expect(formatBytes(512)).toBe("512 B");
  expect(formatBytes(2_400_000_000)).toBe("2.4 GB");
});

test("times are told from now, in the larger of their units", () => {
  const now = Date.UTC(2026, 0, 2);
  expect(formatRelative(now - 120_000, now)).toBe("2 minutes ago");
  expect(formatRelative(now + 3 * 3_600_000, now)).toBe("in 3 hours");
  expect(formatRelative(now - 900, now)).toBe("just now");
  expect(formatRelative(Date.UTC(2024, 5, 15, 12), now)).toContain("2024");
});

test("counts have the noun in the right number", () => {
  expect([0, 1, 2].map((count) => formatCount(count, "node"))).toEqual([
    "0 nodes",
    "1 node",
    "2 nodes",
  ]);
  expect(formatCount(3, "policy", "policies")).toBe("3 policies");
});

test("a text that another sentence follows ends with a full stop", () => {
  const rows = [
    ["How many", "How many."],
    ["How many?", "How many?"],
    ["", ""],
  ] as const;
  for (const [text, ended] of rows) expect(sentence(text)).toBe(ended);
});
