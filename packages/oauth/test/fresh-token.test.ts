import type { CredentialStore, OAuthError } from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { describe, expect, test, vi } from "vitest";
import {
  ACCOUNT,
  EXPIRED,
  errorOf,
  FRESH,
  invalidGrant,
  later,
  renewed,
  settle,
  setUp,
  stored,
} from "./ensured.ts";

describe("without a request", () => {
  test("no entry is undefined", async () => {
    const { ensure, forms } = setUp(undefined);
    expect(await ensure()).toBeUndefined();
    expect(await ensure({ rejected: "a0" })).toBeUndefined();
    expect(forms).toHaveLength(0);
  });

  test("a fresh token comes as it is", async () => {
    const { ensure, forms } = setUp(stored("a0", FRESH));
    expect(await ensure()).toMatchObject({ access_token: "a0", expires_at: FRESH });
    expect(forms).toHaveLength(0);
  });

  test("a token without expires_at is fresh", async () => {
    const { ensure } = setUp('{"access_token":"a0"}');
    expect((await ensure())?.access_token).toBe("a0");
  });

  test("a rejected token that the store has left behind: the stored one comes", async () => {
    const { ensure, forms } = setUp(stored("a0", FRESH));
    expect((await ensure({ rejected: "older" }))?.access_token).toBe("a0");
    expect(forms).toHaveLength(0);
  });

  test("an expired token without a refresh token is NoRefreshToken, with the way out", async () => {
    const { ensure } = setUp(stored("a0", EXPIRED, {}));
    const error = await errorOf(ensure());
    const wanted = { kind: "NoRefreshToken", code: "oauth_no_refresh_token", retryable: false };
    expect(error).toMatchObject(wanted);
    expect(error?.message).toBe(
      'No refresh token is stored for service "tracker". Reconnect the service: millrace connect tracker',
    );
  });

  test("a rejected token without a refresh token is NoRefreshToken, however fresh it looks", async () => {
    const { ensure } = setUp(stored("a0", FRESH, {}));
    expect((await errorOf(ensure({ rejected: "a0" })))?.kind).toBe("NoRefreshToken");
  });

  test("an empty refresh token is none", async () => {
    const { ensure } = setUp(stored("a0", EXPIRED, { refresh_token: "" }));
    expect((await errorOf(ensure()))?.kind).toBe("NoRefreshToken");
  });

  test("an entry that is no token is Decode", async () => {
    expect((await errorOf(setUp("x").ensure()))?.kind).toBe("Decode");
  });

  test("a store that fails is Credential", async () => {
    const { ensure, store } = setUp(undefined);
    store.get = async () => {
      throw new Error("bus");
    };
    expect((await errorOf(ensure()))?.kind).toBe("Credential");
  });

  test("a programming error comes before the store is touched", async () => {
    const { ensure, store } = setUp(stored("a0", FRESH));
    const get = vi.spyOn(store, "get");
    await expect(ensure({ clientSecret: undefined } as never)).rejects.toThrow(TypeError);
    await expect(ensure({ timeoutMs: Number.NaN })).rejects.toThrow(RangeError);
    await expect(ensure({ extraParams: { scope: "x" } })).rejects.toThrow(TypeError);
    expect(get).not.toHaveBeenCalled();
  });
});

describe("with a request", () => {
  test("an expired token is renewed and stored", async () => {
    const { ensure, store, forms } = setUp(stored("a0", EXPIRED));
    const token = await ensure();
    const { expires_in: _, ...given } = renewed;
    expect(token).toEqual({ ...given, expires_at: FRESH, token_type: "", scope: "" });
    expect(forms.map((form) => form.get("refresh_token"))).toEqual(["r0"]);
    expect(await store.get(ACCOUNT)).toBe(JSON.stringify(token));
    expect(await ensure()).toEqual(token);
    expect(forms).toHaveLength(1);
  });

  test("a rejected token is renewed, however fresh it looks", async () => {
    const { ensure, forms } = setUp(stored("a0", FRESH));
    expect((await ensure({ rejected: "a0" }))?.access_token).toBe("a1");
    expect(forms).toHaveLength(1);
  });

  test("the refresh token that was sent stays when the answer has none", async () => {
    const answer = { access_token: "a1", expires_in: 3600 };
    const { ensure, store } = setUp(stored("a0", EXPIRED), answer);
    await ensure();
    expect(JSON.parse((await store.get(ACCOUNT)) ?? "")).toMatchObject({ refresh_token: "r0" });
  });

  test("an answer that expires within a minute is returned as it is, once", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED), { ...renewed, expires_in: 60 });
    expect((await ensure())?.access_token).toBe("a1");
    expect(forms).toHaveLength(1);
  });

  test("a failed request leaves the entry as it was, and the next call tries again", async () => {
    const busy = new Response("", { status: 503 });
    const { ensure, store, forms } = setUp(stored("a0", EXPIRED), busy, renewed);
    expect(await errorOf(ensure())).toMatchObject({ kind: "Token", status: 503, retryable: true });
    expect(await store.get(ACCOUNT)).toBe(stored("a0", EXPIRED));
    expect((await ensure())?.access_token).toBe("a1");
    expect(forms).toHaveLength(2);
  });
});

describe("single flight", () => {
  test("1000 callers make one request", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const tokens = await Promise.all(Array.from({ length: 1000 }, () => ensure()));
    expect(new Set(tokens.map((token) => token?.access_token))).toEqual(new Set(["a1"]));
    expect(forms).toHaveLength(1);
  });

  test("callers with the same rejected token make one request", async () => {
    const { ensure, forms } = setUp(stored("a0", FRESH));
    const tokens = await Promise.all(Array.from({ length: 10 }, () => ensure({ rejected: "a0" })));
    expect(tokens.every((token) => token?.access_token === "a1")).toBe(true);
    expect(forms).toHaveLength(1);
  });

  test("callers with and without a rejected token share a request", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const asked = [{}, { rejected: "a0" }, { rejected: "x" }];
    const tokens = await Promise.all(asked.map(ensure));
    expect(tokens.map((token) => token?.access_token)).toEqual(["a1", "a1", "a1"]);
    expect(forms).toHaveLength(1);
  });

  test("who joined a flight that brings the token he had rejected starts another", async () => {
    const first = later<Response>();
    const second = { ...renewed, access_token: "a2" };
    const { ensure, forms } = setUp(stored("a0", EXPIRED), first.promise, second);
    const early = ensure();
    await settle();
    const late = ensure({ rejected: "a1" });
    await settle();
    first.resolve(Response.json(renewed));
    expect((await early)?.access_token).toBe("a1");
    expect((await late)?.access_token).toBe("a2");
    expect(forms.map((form) => form.get("refresh_token"))).toEqual(["r0", "r1"]);
  });

  test("a server that gives the rejected token again is not asked for ever", async () => {
    const { ensure, forms } = setUp(stored("a0", FRESH), { ...renewed, access_token: "a0" });
    const tokens = await Promise.all([ensure({ rejected: "a0" }), ensure({ rejected: "a0" })]);
    expect(tokens.map((token) => token?.access_token)).toEqual(["a0", "a0"]);
    expect(forms).toHaveLength(1);
  });

  test("callers share a failure", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED), invalidGrant());
    const errors = await Promise.all([errorOf(ensure()), errorOf(ensure())]);
    expect(errors[0]).toMatchObject({ kind: "Token", status: 400 });
    expect(errors[1]).toBe(errors[0]);
    expect(forms).toHaveLength(1);
  });

  test("other accounts and other store objects have flights of their own", async () => {
    const { ensure, store, forms } = setUp(stored("a0", EXPIRED));
    await store.set("service:other", stored("a0", EXPIRED));
    const another = memoryCredentialStore({ [ACCOUNT]: stored("a0", EXPIRED) });
    await Promise.all([ensure(), ensure({ slug: "other" }), ensure({ store: another })]);
    expect(forms).toHaveLength(3);
  });

  test("who read the old entry before a flight ended reads again", async () => {
    const { ensure, store, forms } = setUp(stored("a0", EXPIRED));
    const slow = later<string>();
    const get = store.get.bind(store);
    store.get = () => slow.promise;
    const late = ensure();
    store.get = get;
    await ensure();
    slow.resolve(stored("a0", EXPIRED));
    expect((await late)?.access_token).toBe("a1");
    expect(forms).toHaveLength(1);
  });
});

describe("invalid_grant", () => {
  test("is Token, and the entry stays", async () => {
    const { ensure, store } = setUp(stored("a0", EXPIRED), invalidGrant());
    expect((await errorOf(ensure()))?.message).toBe("token endpoint answered 400 (invalid_grant)");
    expect(await store.get(ACCOUNT)).toBe(stored("a0", EXPIRED));
  });

  test.each([
    ["another fresh token", stored("other", FRESH), "other"],
    ["another token that has expired", stored("other", EXPIRED), "Token"],
    ["no entry", undefined, "Token"],
    ["something else", "x", "Token"],
  ])("while the store by now holds %s", async (_name, entry, outcome) => {
    const { ensure, store } = setUp(stored("a0", EXPIRED));
    const result = ensure({
      fetch: async () => {
        if (entry === undefined) await store.delete(ACCOUNT);
        else await store.set(ACCOUNT, entry);
        return invalidGrant();
      },
    });
    const ended = await result.then(
      (token) => token?.access_token,
      (error: OAuthError) => error.kind,
    );
    expect(ended).toBe(outcome);
    expect((await store.get(ACCOUNT)) ?? undefined).toBe(entry);
  });
});

test("null from a store is no entry", async () => {
  const store: CredentialStore = { ...memoryCredentialStore(), get: async () => null };
  expect(await setUp(undefined).ensure({ store })).toBeUndefined();
});
