import {
  accountFor,
  type CredentialStore,
  deleteToken,
  isExpired,
  loadToken,
  OAuthError,
  type OAuthToken,
  storeToken,
} from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { credentialStoreCases } from "@millrace/oauth/testing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

const full: OAuthToken = {
  scope: "s",
  token_type: "Bearer",
  expires_at: "2026-01-01T00:00:00.000Z",
  refresh_token: "r",
  access_token: "a",
};
const FULL =
  '{"access_token":"a","refresh_token":"r","expires_at":"2026-01-01T00:00:00.000Z","token_type":"Bearer","scope":"s"}';

/** A store in which every call fails the same way. */
function failingStore(error: unknown): CredentialStore & { calls: number } {
  const store = {
    calls: 0,
    get: () => fail(),
    set: () => fail(),
    delete: () => fail(),
  };
  const fail = (): never => {
    store.calls++;
    throw error;
  };
  return store;
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

describe("the stored JSON", () => {
  test("has the keys in the order of the specification and no whitespace", async () => {
    const store = memoryCredentialStore();
    await storeToken(store, "tracker", full);
    expect(await store.get("service:tracker")).toBe(FULL);
  });

  test("leaves out what is absent", async () => {
    const store = memoryCredentialStore();
    await storeToken(store, "tracker", { access_token: "a", token_type: "", scope: "" });
    expect(await store.get("service:tracker")).toBe(
      '{"access_token":"a","token_type":"","scope":""}',
    );
  });

  test("law: what was stored is loaded", async () => {
    const text = { unit: fc.constantFrom(..."aZ0 \\\"'é€😀\0\n", "\ud800") };
    const token = fc.record(
      {
        access_token: fc.string({ ...text, minLength: 1 }),
        refresh_token: fc.string(text),
        expires_at: fc
          .date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true })
          .map((date) => date.toISOString()),
        token_type: fc.string(text),
        scope: fc.string(text),
      },
      { requiredKeys: ["access_token", "token_type", "scope"] },
    );
    await fc.assert(
      fc.asyncProperty(token, async (token) => {
        const store = memoryCredentialStore();
        await storeToken(store, "x", token);
        expect(await loadToken(store, "x")).toEqual(token);
      }),
    );
  });
});

describe("loading", () => {
  const load = (entry: string) => loadToken(memoryCredentialStore({ "service:x": entry }), "x");
  const withExpiry = (expires_at: unknown) => JSON.stringify({ access_token: "a", expires_at });

  test("no entry is undefined, whether the store says undefined or null", async () => {
    expect(await loadToken(memoryCredentialStore(), "x")).toBeUndefined();
    expect(
      await loadToken({ ...memoryCredentialStore(), get: async () => null }, "x"),
    ).toBeUndefined();
  });

  test("fields of other names are ignored, absent ones get their defaults", async () => {
    expect(await load('{"access_token":"a","more":1}')).toEqual({
      access_token: "a",
      token_type: "",
      scope: "",
    });
  });

  test.each([
    "",
    "x",
    "null",
    "[]",
    "{}",
    '{"access_token":""}',
    '{"access_token":1}',
    '{"access_token":"a","refresh_token":1}',
    '{"access_token":"a","token_type":1}',
    '{"access_token":"a","scope":[]}',
    '{"__proto__":{"access_token":"a"}}',
  ])("the entry %j is Decode", async (entry) => {
    const error = await errorOf(load(entry));
    expect(OAuthError.isInstance(error, "Decode")).toBe(true);
    expect((error as Error).message).toMatch(/^stored token: /);
  });

  test.each([
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.123456789Z",
    "2026-01-01T02:00:00+02:00",
    "2026-01-01T00:00:00.5-11:30",
    "2028-02-29t23:59:59z",
  ])("expires_at %s is read, and kept as it is", async (expires_at) => {
    expect((await load(withExpiry(expires_at)))?.expires_at).toBe(expires_at);
  });

  test.each([
    "2026-01-01",
    "2026-01-01T00:00:00",
    "2026-01-01 00:00:00Z",
    "2026-13-01T00:00:00Z",
    "2026-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z",
    "2026-01-01T24:00:00Z",
    "2026-01-01T00:00:00.1234567890Z",
    "1",
    "",
    "tomorrow",
    1767225600,
  ])("expires_at %j is Decode", async (expires_at) => {
    expect(OAuthError.isInstance(await errorOf(load(withExpiry(expires_at))), "Decode")).toBe(true);
  });
});

test("deleting says whether there was an entry", async () => {
  const store = memoryCredentialStore({ "service:x": FULL });
  expect(await deleteToken(store, "x")).toBe(true);
  expect(await deleteToken(store, "x")).toBe(false);
  expect(await loadToken(store, "x")).toBeUndefined();
});

describe("a failing store", () => {
  const operations: [string, (store: CredentialStore) => Promise<unknown>][] = [
    ["storeToken", (store) => storeToken(store, "x", full)],
    ["loadToken", (store) => loadToken(store, "x")],
    ["deleteToken", (store) => deleteToken(store, "x")],
  ];

  test.each(operations)(
    "%s: any throw is Credential, without the words of the store",
    async (_name, run) => {
      const error = (await errorOf(
        run(failingStore(new Error("cannot decode SECRET"))),
      )) as OAuthError;
      expect(OAuthError.isInstance(error, "Credential")).toBe(true);
      expect(error.reason).toBe("unavailable");
      expect(error.message).toMatch(
        /^credential store: the entry "service:x" could not be \w+\. \w/,
      );
      expect(error.message).not.toContain("SECRET");
      expect((error.cause as Error).message).toContain("SECRET");
    },
  );

  test.each(operations)("%s: a Credential error keeps its reason", async (_name, run) => {
    const locked = new OAuthError("Credential", "credential store: locked. Unlock it.", {
      reason: "locked",
    });
    expect(await errorOf(run(failingStore(locked)))).toBe(locked);
  });

  test.each(["", "a\0b", "a\ud800", "\udc00b", undefined as unknown as string])(
    "the slug %j is Credential before the store is touched",
    async (slug) => {
      const store = failingStore(new Error("touched"));
      for (const run of [
        () => storeToken(store, slug, full),
        () => loadToken(store, slug),
        () => deleteToken(store, slug),
      ]) {
        expect(OAuthError.isInstance(await errorOf(run()), "Credential")).toBe(true);
      }
      expect(store.calls).toBe(0);
    },
  );
});

test("the account is service:<slug>", () => {
  expect(accountFor("payments-eu")).toBe("service:payments-eu");
  expect(accountFor("größe 😀")).toBe("service:größe 😀");
});

describe("isExpired", () => {
  const now = new Date("2026-01-01T00:00:00.000Z");
  const at = (expires_at: string) => isExpired({ ...full, expires_at }, now);

  test("from 60 seconds before expires_at", () => {
    expect(at("2026-01-01T00:01:00.001Z")).toBe(false);
    expect(at("2026-01-01T00:01:00.000Z")).toBe(true);
    expect(at("2026-01-01T00:00:59.999Z")).toBe(true);
    expect(at("2025-01-01T00:00:00.000Z")).toBe(true);
  });

  test("offsets count", () => {
    expect(at("2026-01-01T02:01:00.000+02:00")).toBe(true);
    expect(at("2026-01-01T02:01:01.000+02:00")).toBe(false);
  });

  test("never without expires_at", () => {
    expect(isExpired({ access_token: "a", token_type: "", scope: "" }, now)).toBe(false);
  });

  test("always when expires_at cannot be read", () => {
    expect(at("soon")).toBe(true);
  });

  test("without a clock, now is now", () => {
    expect(at("2999-01-01T00:00:00.000Z")).toBe(false);
    expect(isExpired({ ...full, expires_at: "2000-01-01T00:00:00.000Z" })).toBe(true);
  });
});

describe("the memory store", () => {
  for (const { name, run } of credentialStoreCases(() => memoryCredentialStore())) test(name, run);

  test("lists its accounts, and begins with what it was given", async () => {
    const store = memoryCredentialStore({ "service:a": "1" });
    await store.set("ai:b", "2");
    expect(await store.list?.()).toEqual(["service:a", "ai:b"]);
  });
});
