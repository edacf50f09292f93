import { readFileSync } from "node:fs";
import { EVENT_KINDS, parseEventStrict, serialiseEvent, TERMINAL_KIND } from "@millrace/contracts";
import { executionEventSchema } from "@millrace/contracts/schemas";
import { expect, test } from "vitest";

const lines = readFileSync(new URL("fixtures/examples.ndjson", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

test.each(lines.map((line) => [JSON.parse(line).kind as string, line]))(
  "the example of %s is legal, strictly, and is written as it was read",
  (_kind, line) => {
    const event = parseEventStrict(line);
    expect(serialiseEvent(event)).toBe(line);
    expect(executionEventSchema.safeParse(event).error?.issues).toBeUndefined();
  },
);

test("every kind has an example, and no kind is listed twice", () => {
  const kinds = new Set(lines.map((line) => JSON.parse(line).kind));
  expect([...EVENT_KINDS].filter((kind) => !kinds.has(kind))).toEqual([]);
  expect(new Set(EVENT_KINDS).size).toBe(EVENT_KINDS.length);
  expect(EVENT_KINDS.at(-1)).toBe(TERMINAL_KIND);
});
