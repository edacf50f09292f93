import { inspect } from "node:util";
import { OAuthError, type OAuthErrorKind } from "@millrace/oauth";
import { expect, test } from "vitest";

const refused = () =>
  new OAuthError("Token", "token endpoint answered 400 (invalid_grant)", {
    reason: "endpoint",
    status: 400,
    body: "PLANTED-body",
    oauthError: "PLANTED-error",
    cause: new Error("PLANTED-cause"),
  });

test.each<[OAuthErrorKind, string]>([
  ["Http", "oauth_http"],
  ["Token", "oauth_token"],
  ["NoRefreshToken", "oauth_no_refresh_token"],
  ["Credential", "oauth_credential"],
  ["Decode", "oauth_decode"],
])("kind %s has code %s", (kind, code) => {
  expect(new OAuthError(kind, "m")).toMatchObject({ name: "OAuthError", kind, code });
});

test("body, error and cause can be read, and are in no listing", () => {
  const error = refused();
  expect(error.body).toBe("PLANTED-body");
  expect(error.oauthError).toBe("PLANTED-error");
  expect((error.cause as Error).message).toBe("PLANTED-cause");
  expect(Object.keys(error).sort()).toEqual(["code", "kind", "reason", "retryable", "status"]);
  for (const text of [
    error.message,
    error.stack,
    String(error),
    JSON.stringify(error),
    JSON.stringify({ nested: [error] }),
    inspect(error),
    inspect({ nested: error }, { showHidden: true, depth: 9 }),
    inspect(error, { customInspect: false, showHidden: true }), // as Node prints what nobody caught
    inspect(new Error("outer", { cause: error })),
  ]) {
    expect(text).not.toContain("PLANTED");
  }
});

test("as JSON it is name, kind, code, message, and status and reason where there are any", () => {
  expect(JSON.stringify(refused())).toBe(
    '{"name":"OAuthError","kind":"Token","code":"oauth_token","message":"token endpoint answered 400 (invalid_grant)","status":400,"reason":"endpoint"}',
  );
  expect(JSON.stringify(new OAuthError("Decode", "m"))).toBe(
    '{"name":"OAuthError","kind":"Decode","code":"oauth_decode","message":"m"}',
  );
});

test("its class has its name, whatever built it", () => {
  expect(OAuthError.name).toBe("OAuthError");
});

test("inspecting shows the stack and the safe fields", () => {
  expect(inspect(refused())).toMatch(/^OAuthError: token endpoint answered 400/);
  expect(inspect(refused())).toContain("{ kind: 'Token', code: 'oauth_token', status: 400,");
});

test("fields that do not apply are not there", () => {
  const error = new OAuthError("Http", "m");
  for (const name of ["status", "body", "oauthError", "reason", "cause"]) {
    expect(name in error && (error as unknown as Record<string, unknown>)[name]).toBeFalsy();
    expect(Object.hasOwn(error, name)).toBe(false);
  }
});

test("an error of another copy of the package is recognised by its mark", () => {
  const foreign = Object.assign(new Error("m"), {
    [Symbol.for("@millrace/oauth.error.OAuthError")]: true,
    kind: "Http",
  });
  expect(OAuthError.isInstance(foreign)).toBe(true);
  expect(OAuthError.isInstance(foreign, "Http")).toBe(true);
  expect(OAuthError.isInstance(foreign, "Token")).toBe(false);
  for (const other of [undefined, null, "x", 1, {}, new Error("m")]) {
    expect(OAuthError.isInstance(other)).toBe(false);
  }
});

test.each([
  ["network", undefined, true],
  ["timeout", undefined, true],
  ["bind", undefined, false],
  ["redirect_timeout", undefined, false],
  ["endpoint", 400, false],
  ["endpoint", 401, false],
  ["endpoint", 408, true],
  ["endpoint", 425, true],
  ["endpoint", 429, true],
  ["endpoint", 499, false],
  ["endpoint", 500, true],
  ["endpoint", 503, true],
  ["denied", 400, false],
  ["state_mismatch", 400, false],
  ["lock_timeout", undefined, true],
  ["helper_timeout", undefined, true],
  ["helper_crash", undefined, false],
  ["locked", undefined, false],
  ["decrypt", undefined, false],
] as const)("reason %s with status %s: retryable is %s", (reason, status, retryable) => {
  const error = new OAuthError("Token", "m", {
    reason,
    ...(status !== undefined && { status }),
  });
  expect(error.retryable).toBe(retryable);
});
