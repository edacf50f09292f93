import { createHash } from "node:crypto";
import { generatePkce, generateState } from "@millrace/oauth";
import { expect, test } from "vitest";

test("a state is 43 characters of base64url, and never the same", () => {
  const states = Array.from({ length: 100 }, generateState);
  for (const state of states) expect(state).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(new Set(states).size).toBe(100);
});

test("a challenge is the SHA-256 of its verifier as base64url", async () => {
  const { verifier, challenge, method } = await generatePkce();
  expect(verifier).toMatch(/^[A-Za-z0-9_-]{43}$/);
  expect(challenge).toBe(createHash("sha256").update(verifier).digest("base64url"));
  expect(method).toBe("S256");
});
