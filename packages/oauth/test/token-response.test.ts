import { OAuthError, tokenFromResponse } from "@millrace/oauth";
import { describe, expect, test } from "vitest";

const now = new Date("2026-01-01T00:00:00.000Z");
const read = (fields: object, options = {}) =>
  tokenFromResponse(JSON.stringify({ access_token: "a", ...fields }), { now, ...options });

/** The message of the Decode error that reading this body ends with. */
function fault(body: string | object, options = {}): string {
  try {
    tokenFromResponse(typeof body === "string" ? body : JSON.stringify(body), { now, ...options });
  } catch (error) {
    if (OAuthError.isInstance(error, "Decode")) return error.message;
    throw error;
  }
  throw new Error("it was read");
}

test("a full answer: expires_at is now plus expires_in, other fields are copied", () => {
  expect(
    read({ refresh_token: "r", expires_in: 3600, token_type: "Bearer", scope: "read write" }),
  ).toEqual({
    access_token: "a",
    refresh_token: "r",
    expires_at: "2026-01-01T01:00:00.000Z",
    token_type: "Bearer",
    scope: "read write",
  });
});

test("an answer with nothing but a token: no expiry, no refresh token, empty type and scope", () => {
  expect(read({})).toEqual({ access_token: "a", token_type: "", scope: "" });
});

test("without a clock, now is now", () => {
  const before = Date.now();
  const token = tokenFromResponse('{"access_token":"a","expires_in":0}');
  expect(Date.parse(token.expires_at ?? "")).toBeGreaterThanOrEqual(before);
});

describe("access_token", () => {
  test.each([[undefined], [null], [""], [1], [["a"]], [{}]])("%j is Decode", (access_token) => {
    expect(fault({ access_token })).toBe(
      "token response: access_token must be a string that is not empty",
    );
  });
});

describe("refresh_token", () => {
  test("the answer's one wins over the previous one", () => {
    expect(read({ refresh_token: "new" }, { previousRefreshToken: "old" }).refresh_token).toBe(
      "new",
    );
  });

  test.each([[undefined], [null], [""]])(
    "%j is absent: the previous one stays",
    (refresh_token) => {
      expect(read({ refresh_token }, { previousRefreshToken: "old" }).refresh_token).toBe("old");
      expect("refresh_token" in read({ refresh_token })).toBe(false);
    },
  );

  test.each([[1], [["r"]], [false]])("%j is Decode", (refresh_token) => {
    expect(fault({ access_token: "a", refresh_token })).toBe(
      "token response: refresh_token must be a string",
    );
  });
});

describe("expires_in", () => {
  test("3600.0 passes", () => {
    const token = tokenFromResponse('{"access_token":"a","expires_in":3600.0}', { now });
    expect(token.expires_at).toBe("2026-01-01T01:00:00.000Z");
  });

  test.each([
    [0, "2026-01-01T00:00:00.000Z"],
    [-1, "2025-12-31T23:59:59.000Z"],
  ])("%d has expired already", (expires_in, expires_at) => {
    expect(read({ expires_in }).expires_at).toBe(expires_at);
  });

  test("null is absent", () => {
    expect("expires_at" in read({ expires_in: null })).toBe(false);
  });

  test.each([["3600"], [1.5], [true], [[1]], [{}], [2 ** 53]])("%j is Decode", (expires_in) => {
    expect(fault({ access_token: "a", expires_in })).toBe(
      "token response: expires_in must be an integer",
    );
  });

  test.each(["1e18", "1e999"])("%s is Decode", (number) => {
    expect(fault(`{"access_token":"a","expires_in":${number}}`)).toMatch(/expires_in must be/);
  });

  test.each([251_645_000_000, -64_000_000_000, 8e15])(
    "%d ends out of our years: Decode",
    (expires_in) => {
      expect(fault({ access_token: "a", expires_in })).toBe(
        "token response: expires_in must end between the years 0 and 9999",
      );
    },
  );

  test("lenient takes digits in a string, and floors fractions", () => {
    expect(read({ expires_in: "3600" }, { lenient: true }).expires_at).toBe(
      "2026-01-01T01:00:00.000Z",
    );
    expect(read({ expires_in: 59.9 }, { lenient: true }).expires_at).toBe(
      "2026-01-01T00:00:59.000Z",
    );
  });

  test("lenient takes a form and a list of scopes, which nobody else does", () => {
    const form = "access_token=a%2Bb&expires_in=60&scope=repo%2Cgist&token_type=bearer";
    const now = new Date("2026-01-01T00:00:00.000Z");
    expect(tokenFromResponse(form, { lenient: true, now })).toEqual({
      access_token: "a+b",
      expires_at: "2026-01-01T00:01:00.000Z",
      token_type: "bearer",
      scope: "repo,gist",
    });
    expect(() => tokenFromResponse(form)).toThrow("the text must be JSON");
    expect(() =>
      tokenFromResponse("error=bad_code&error_description=a", { lenient: true }),
    ).toThrow("it is an error");
    const list = { access_token: "a", scope: ["read", "write"] };
    expect(read(list, { lenient: true }).scope).toBe("read write");
    expect(fault(list)).toMatch(/scope must/);
  });

  test.each([["1 h"], [""], ["-5"], ["1.5"], ["9".repeat(20)]])(
    "lenient refuses %j",
    (expires_in) => {
      expect(fault({ access_token: "a", expires_in }, { lenient: true })).toMatch(
        /expires_in must/,
      );
    },
  );
});

describe("token_type and scope", () => {
  test("they are copied untouched", () => {
    const fields = { token_type: " bEARER ", scope: " b  a " };
    expect(read(fields)).toMatchObject(fields);
  });

  test("null is the empty string", () => {
    expect(read({ token_type: null, scope: null })).toMatchObject({ token_type: "", scope: "" });
  });

  test.each(["token_type", "scope"])("%s of another type is Decode", (name) => {
    expect(fault({ access_token: "a", [name]: ["x"] })).toBe(
      `token response: ${name} must be a string`,
    );
  });
});

test("fields of other names are dropped", () => {
  expect(Object.keys(read({ id_token: "x", expires_at: "y" }))).toEqual([
    "access_token",
    "token_type",
    "scope",
  ]);
});

test("__proto__ and inherited names are no fields", () => {
  const token = tokenFromResponse(
    '{"access_token":"a","__proto__":{"refresh_token":"p","scope":"p"},"constructor":"c"}',
  );
  expect(token).toEqual({ access_token: "a", token_type: "", scope: "" });
  expect(Object.getPrototypeOf(token)).toBe(Object.prototype);
  expect(fault('{"__proto__":{"access_token":"a"}}')).toMatch(/access_token/);
});

test.each([
  "",
  "   ",
  "<html>",
  "null",
  "[]",
  '"a"',
  "1",
  '{"access_token":"a"',
  '["access_token"]',
])("the body %j is Decode", (body) => {
  expect(fault(body)).toMatch(/^token response: the (text|JSON) must be/);
});

test("a success that is an error is Decode, keeps its code, and names a registered one", () => {
  const refused = () => tokenFromResponse('{"ok":false,"error":"invalid_refresh_token"}');
  expect(refused).toThrow(expect.objectContaining({ oauthError: "invalid_refresh_token" }));
  expect(fault({ error: "invalid_grant" })).toContain("(invalid_grant)");
  expect(fault({ error: "SECRET" })).not.toContain("SECRET");
});

test("no message quotes the body, and no cause does", () => {
  const secret = "SECRETTOKEN";
  for (const body of [
    secret,
    `"${secret}"`,
    `{"access_token":["${secret}"]}`,
    `{"access_token":"a","scope":{"${secret}":1}}`,
  ]) {
    try {
      tokenFromResponse(body);
      expect.unreachable();
    } catch (error) {
      expect(OAuthError.isInstance(error, "Decode")).toBe(true);
      expect((error as Error).message).not.toContain(secret);
      expect((error as Error).cause).toBeUndefined();
    }
  }
});
