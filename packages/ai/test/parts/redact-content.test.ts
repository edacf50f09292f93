/** What `redacted` takes out of texts, and what it leaves. */

import type { Json } from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import fc from "fast-check";
import { expect, test } from "vitest";
import { redactContent } from "../../src/redact-content.ts";

test.each([
  ["Authorization: Bearer abcdef123456", "Authorization: [auth]"],
  ["bearer  aGVsbG8gd29ybGQ=", "[auth]"],
  ["Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: [auth]"],
  ["Basic understanding of the Bearer of it", "Basic understanding of the Bearer of it"],
  ["key sk-proj-abcdefghijklmnop1234 end", "key [key] end"],
  ["ghp_abcdefghijklmnopqrst123456", "[key]"],
  ["AKIAIOSFODNN7EXAMPLE", "[key]"],
  [
    "-----BEGIN RSA PRIVATE KEY-----\nMIIEow+/=\n-----END RSA PRIVATE KEY-----\nrest",
    "[key]\nrest",
  ],
  ["-----BEGIN PRIVATE KEY-----\nMIIEow+/=", "[key]"],
  ["Write to ada.lovelace+x@sub.example.co.uk.", "Write to [email]."],
  ["<ada@example.com>,<bob@example.com>", "<[email]>,<[email]>"],
  ["müller@bücher.de", "[email]"],
  ["a@b and @handle and x@", "a@b and @handle and x@"],
  [`${"l".repeat(80)}@example.com`, `${"l".repeat(16)}[email]`],
  ["4111111111111111", "[card]"],
  ["card 4111 1111 1111 1111, thanks", "card [card], thanks"],
  ["card 4111-1111-1111-1111.", "card [card]."],
  ["123 4111 1111 1111 1111 99", "123 [card] 99"],
  ["378282246310005 and 6011111111111117", "[card] and [card]"],
  ["4111111111111112", "4111111111111112"],
  ["41111111111111111111111", "41111111111111111111111"],
  ["at 1700000000000 ms", "at 1700000000000 ms"],
  ["IBAN DE89 3704 0044 0532 0130 00 please", "IBAN [iban] please"],
  ["DE89370400440532013000", "[iban]"],
  ["de89370400440532013000", "[iban]"],
  ["GB82WEST12345698765432", "[iban]"],
  ["NL91 ABNA 0417 1643 00 IS MINE", "[iban] IS MINE"],
  ["DE89 3704 0044 0532 0130 00 GB82 WEST 1234 5698 7654 32", "[iban] [iban]"],
  ["DE89  3704 0044 0532 0130 00", "DE89  3704 0044 0532 0130 00"],
  ["DE88370400440532013000", "DE88370400440532013000"],
  ["XX89370400440532013000", "XX89370400440532013000"],
  ["call +49 (30) 901820-0 now", "call [phone] now"],
  ["+14155552671", "[phone]"],
  ["+44 20 7946 0958/7", "[phone]"],
  ["1 + 2345678 = x", "1 + 2345678 = x"],
  ["+123", "+123"],
  ["2026-11-22T07:15:00.000Z", "2026-11-22T07:15:00.000Z"],
  ["order 1234567890 of 2026-11-22", "order 1234567890 of 2026-11-22"],
  ["f47ac10b-58cc-4372-a567-0e02b2c3d479", "f47ac10b-58cc-4372-a567-0e02b2c3d479"],
])("%s → %s", (text, expected) => {
  expect(redactContent(text)).toBe(expected);
});

test("values keep their shape; names of members are texts, too", () => {
  const value = {
    "ada@example.com": [{ phone: "+14155552671", n: 4111111111111111, ms: 1700000000000 }],
    ok: true,
    no: null,
  };
  expect(redactContent<Json>(value)).toEqual({
    "[email]": [{ phone: "[phone]", n: "[card]", ms: 1700000000000 }],
    ok: true,
    no: null,
  });
  expect(Object.keys(value)).toContain("ada@example.com");
});

test("a member named `__proto__` stays a member", () => {
  const value = JSON.parse('{"__proto__":{"mail":"ada@example.com"}}') as Json;
  expect(JSON.stringify(redactContent(value))).toBe('{"__proto__":{"mail":"[email]"}}');
});

const secret = fc.constantFrom(
  "Bearer abcdef123456",
  "sk-abcdefghijklmnop1234",
  "ada@example.com",
  "4111 1111 1111 1111",
  "DE89 3704 0044 0532 0130 00",
  "+49 30 901820",
);
const filler = fc.constantFrom(" ", ", ", "\n", " und ", " – ", ' "', "\t", " (", ") ");

test("several of them in one text are all found, whatever stands between", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(filler, secret), { minLength: 1, maxLength: 8 }), (parts) => {
      const clean = redactContent(parts.map(([space, text]) => space + text).join(""));
      for (const [, text] of parts) expect(clean).not.toContain(text);
      expect(clean.match(/\[(?:auth|key|email|card|iban|phone)\]/g)).toHaveLength(parts.length);
    }),
    { numRuns: casesOf(1000) },
  );
});

test("what is redacted stays as it is when it is redacted again", () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(secret, fc.string()), { maxLength: 12 }),
      filler,
      (parts, space) => {
        const clean = redactContent(parts.join(space));
        expect(redactContent(clean)).toBe(clean);
      },
    ),
  );
});

test.each([
  ["digits", "1".repeat(500_000)],
  ["groups of digits", "4111 ".repeat(100_000)],
  ["at signs", "@".repeat(500_000)],
  ["an address without end", `${"a.".repeat(250_000)}@`],
  ["a domain without end", `a@${"b.".repeat(250_000)}`],
  ["addresses in a row", "a@b.".repeat(125_000)],
  ["IBAN beginnings", "DE89 ".repeat(100_000)],
  ["pluses", "+1 (".repeat(125_000)],
  ["bearers", "Bearer ".repeat(75_000)],
  ["keys that end too early", "sk-".repeat(150_000)],
  ["token beginnings", "eyJaaaaaaaa.".repeat(37_500)],
  ["headers of keys", "-----BEGIN PRIVATE KEY-----".repeat(17_500)],
  ["words", "lorem ipsum ".repeat(42_500)],
  ["blanks", " ".repeat(500_000)],
  ["lone surrogates", "\ud83d".repeat(500_000)],
])("half a megabyte of %s are read through", (_, text) => {
  expect(redactContent(text).length).toBeLessThanOrEqual(text.length * 2);
});
