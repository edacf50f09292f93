import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256Hex } from "../src/sha256.ts";

const reference = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test("every length around the block borders hashes as the platform does", () => {
  for (let length = 0; length <= 260; length += 1) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 7 + length) & 255);
    expect(sha256Hex(bytes)).toBe(reference(bytes));
  }
});

test("any bytes hash as the platform does", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      expect(sha256Hex(bytes)).toBe(reference(bytes));
    }),
  );
});
