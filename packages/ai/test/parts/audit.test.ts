/** What each level of `auditContent` keeps. */
import { createHash, createHmac } from "node:crypto";
import type { AiMessage, Json, ValueRef } from "@millrace/contracts";
import { canonicalJson } from "@millrace/contracts/kit";
import fc from "fast-check";
import { expect, test } from "vitest";
import { Audit, type AuditPorts, hmacOf } from "../../src/audit.ts";
import type { AuditLevel } from "../../src/fields.ts";

const KEY = new Uint8Array(32).fill(7);
const SECRET = "hunter2-hunter2";
const MAIL = "ada@example.com";

/** An audit, and what it kept beside the log. */
function auditOf(level: AuditLevel) {
  const kept: Json[] = [];
  const ai = {
    sha256: (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex"),
    hmacKey: KEY,
  };
  const ctx: AuditPorts["ctx"] = {
    mask: (value) => JSON.parse(JSON.stringify(value).replaceAll(SECRET, "[redacted]")),
    keepValue(value) {
      kept.push(value);
      const text = JSON.stringify(value);
      return { ref: `sha256:${"0".repeat(64)}`, bytes: text.length, mediaType: "application/json" };
    },
  };
  return { audit: new Audit(level, { ctx, ai }), kept };
}

const REF: ValueRef = expect.objectContaining({ mediaType: "application/json" });

function digestOf(value: Json): string {
  const hmac = createHmac("sha256", KEY).update(canonicalJson(value));
  return `hmac:${hmac.digest("hex")}`;
}

const MESSAGES: AiMessage[] = [
  { role: "system", content: "Be brief." },
  {
    role: "user",
    content: [
      { type: "text", text: `I am ${MAIL}, ${SECRET}` },
      { type: "file", mediaType: "image/png", data: "aGVsbG8=" },
    ],
  },
];
const CHARS = "Be brief.".length + `I am ${MAIL}, ${SECRET}`.length;

test("messages: nothing, a digest with the size, redacted, or as they are", () => {
  expect(auditOf("none").audit.messages(MESSAGES)).toBe(undefined);
  const clean = JSON.parse(JSON.stringify(MESSAGES).replace(SECRET, "[redacted]")) as Json;
  expect(auditOf("hash").audit.messages(MESSAGES)).toEqual({
    messages: 2,
    chars: CHARS,
    hmac: digestOf(clean),
  });
  const full = auditOf("full");
  expect(full.audit.messages(MESSAGES)).toEqual({ messages: 2, chars: CHARS, ref: REF });
  expect(full.kept).toEqual([clean]);
  const redacted = auditOf("redacted");
  expect(redacted.audit.messages(MESSAGES)).toEqual({ messages: 2, chars: CHARS, ref: REF });
  expect(redacted.kept).toEqual([
    [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "I am [email], [redacted]" },
          { type: "file", mediaType: "image/png", chars: 8 },
        ],
      },
    ],
  ]);
});

test("arguments and results: nothing, a digest, redacted, or as they are", () => {
  const value = { to: MAIL, password: SECRET };
  expect(auditOf("none").audit.args(value)).toEqual({});
  expect(auditOf("none").audit.result(value)).toEqual({});
  const digest = digestOf({ to: MAIL, password: "[redacted]" });
  expect(auditOf("hash").audit.args(value)).toEqual({ argsDigest: digest });
  expect(auditOf("hash").audit.result(value)).toEqual({ resultDigest: digest });
  const redacted = { to: "[email]", password: "[redacted]" };
  expect(auditOf("redacted").audit.args(value)).toEqual({ args: redacted });
  expect(auditOf("full").audit.result(value)).toEqual({
    result: { to: MAIL, password: "[redacted]" },
  });
});

test("what does not fit on an event goes beside the log", () => {
  const value = { text: "x".repeat(9000), to: MAIL };
  const { audit, kept } = auditOf("redacted");
  expect(audit.args(value)).toEqual({ argsRef: REF });
  expect(audit.result(value)).toEqual({ resultRef: REF });
  expect(kept).toEqual([
    { ...value, to: "[email]" },
    { ...value, to: "[email]" },
  ]);
});

test("a person is shown arguments at every level, redacted", () => {
  for (const level of ["none", "hash", "redacted", "full"] as const) {
    const { audit, kept } = auditOf(level);
    expect(audit.confirmArgs({ to: MAIL, subject: "Hi" })).toEqual({
      to: "[email]",
      subject: "Hi",
    });
    expect(kept).toEqual([]);
  }
});

test("arguments that are too long to be shown are cut and say so", () => {
  const { audit } = auditOf("none");
  const shown = audit.confirmArgs({ path: "a.txt", text: "x".repeat(100_000) });
  expect(shown).toEqual({ path: "a.txt", text: `${"x".repeat(2048)} [cut: 97952 characters]` });
  const many = audit.confirmArgs(Array.from({ length: 5000 }, (_, i) => `line ${i}`));
  expect(many).toMatch(/^\["line 0",.* \[cut\]$/);
});

test("whatever the arguments, they fit on the event", () => {
  const { audit } = auditOf("none");
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 1000 }), (data, times) => {
      const shown = audit.confirmArgs([data as Json, JSON.stringify(data).repeat(times)]);
      expect(new TextEncoder().encode(JSON.stringify(shown)).length).toBeLessThanOrEqual(8192);
    }),
  );
});

test("problems and details name the value at levels that keep it", () => {
  const problems = [{ path: "/to", message: "must be number" }];
  const answer = { to: `${MAIL} ${SECRET} ${"y".repeat(200)}` };
  const outcome = {
    pass: false,
    rule: "must contain",
    wanted: `"${MAIL}"`,
    path: "text",
    value: SECRET,
  };
  for (const level of ["none", "hash"] as const) {
    const { audit } = auditOf(level);
    expect(audit.problems(problems, answer)).toEqual(problems);
    expect(audit.detail(outcome)).toBe("text must contain");
  }
  const [redacted] = auditOf("redacted").audit.problems(problems, answer);
  expect(redacted?.message).toBe(`must be number: "[email] [redacted] ${"y".repeat(80)}`);
  expect(auditOf("redacted").audit.detail(outcome)).toBe(
    'text must contain "[email]": "[redacted]"',
  );
  const [full] = auditOf("full").audit.problems(problems, answer);
  expect(full?.message).toMatch(/^must be number: "ada@example\.com \[redacted\] y+$/);
  expect(full?.message).toHaveLength("must be number: ".length + 100);
  expect(
    auditOf("full").audit.problems([{ path: "/gone", message: "m" }], answer)[0]?.message,
  ).toBe("m");
});

test("the digest is HMAC-SHA-256, for keys of every length", () => {
  const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.jsonValue(), (key, value) => {
      const json = canonicalJson(value as Json);
      const expected = createHmac("sha256", key).update(json).digest("hex");
      expect(hmacOf(value as Json, { hmacKey: key, sha256 })).toBe(`hmac:${expected}`);
    }),
  );
});
