import { secretForms } from "@millrace/contracts";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";

const secrets = fc.string({ unit: "grapheme", minLength: 6 });

test("a secret is known in any text that holds it: plain, as JSON, percent-encoded, in base64", () => {
  holds(
    fc.property(secrets, fc.string(), fc.string(), (secret, before, after) => {
      const text = before + secret + after;
      const forms = secretForms(secret);
      const isKnown = (encoded: string): boolean => forms.some((form) => encoded.includes(form));
      expect(isKnown(text)).toBe(true);
      expect(isKnown(JSON.stringify(text))).toBe(true);
      expect(isKnown(encodeURIComponent(secret))).toBe(true);
      expect(isKnown(encodeURI(secret))).toBe(true);
      expect(isKnown(new URLSearchParams({ q: secret }).toString())).toBe(true);
      expect(isKnown(Buffer.from(text).toString("base64"))).toBe(true);
      expect(isKnown(Buffer.from(text).toString("base64url"))).toBe(true);
    }),
    { numRuns: 500 },
  );
});

test("what is shorter than six units has no form, for it would be found everywhere", () => {
  expect(secretForms("12345")).toEqual([]);
  expect(secretForms("")).toEqual([]);
});

test("writers of JSON that escape slashes, or all that is not ASCII, hide no secret", () => {
  const forms = secretForms('ké/"y"-1');
  expect(forms).toContain('ké\\/\\"y\\"-1');
  expect(forms).toContain('k\\u00e9/\\"y\\"-1');
  expect(forms).toContain('k\\u00e9\\/\\"y\\"-1');
});

test("a secret may be as long as a body", () => {
  expect(secretForms("ab".repeat(500_000))[0]).toHaveLength(1_000_000);
});
