import {
  type CredentialStore,
  ensureFreshToken,
  type Lock,
  OAuthError,
  type OAuthToken,
  storeToken,
} from "@millrace/oauth";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { describe, expect, onTestFinished, test, vi } from "vitest";

type Ensure = Parameters<typeof ensureFreshToken>[0];

const NOW = new Date("2026-01-01T00:00:00.000Z");
const FRESH = "2026-01-01T01:00:00.000Z";
const EXPIRED = "2026-01-01T00:00:30.000Z";
const ACCOUNT = "service:tracker";

const stored = (access_token: string, expires_at: string, more: object = { refresh_token: "r0" }) =>
  JSON.stringify({ access_token, ...more, expires_at, token_type: "", scope: "" });

/** A token endpoint as a function: the answers in order, the last one again and again. */
function endpoint(...answers: (object | Response | Promise<Response>)[]) {
  const forms: URLSearchParams[] = [];
  const send: typeof fetch = async (_url, init) => {
    forms.push(new URLSearchParams(String(init?.body)));
    const answer = await answers[Math.min(forms.length, answers.length) - 1];
    return answer instanceof Response ? answer.clone() : Response.json(answer);
  };
  return { send, forms };
}

const renewed = { access_token: "a1", refresh_token: "r1", expires_in: 3600 };
const invalidGrant = () => Response.json({ error: "invalid_grant" }, { status: 400 });

function setUp(entry: string | undefined, ...answers: Parameters<typeof endpoint>) {
  const store = memoryCredentialStore(entry === undefined ? {} : { [ACCOUNT]: entry });
  const { send, forms } = endpoint(...(answers.length > 0 ? answers : [renewed]));
  const ensure = (options: Partial<Ensure> = {}): Promise<OAuthToken | undefined> =>
    ensureFreshToken({
      tokenUrl: "https://as.example/token",
      clientId: "c",
      clientSecret: "s",
      fetch: send,
      now: () => NOW,
      store,
      slug: "tracker",
      ...options,
    });
  return { store, forms, ensure };
}

/** A promise to be settled from outside. */
function later<T>() {
  let resolve = (_value: T): void => {};
  const promise = new Promise<T>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const errorOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (error: unknown) => error as OAuthError,
  );

/** Asks, leaves once `reached` no longer throws, and is told so at once. */
async function leaveDuring(
  ensure: (options: Partial<Ensure>) => Promise<unknown>,
  reached: () => void,
): Promise<void> {
  const controller = new AbortController();
  const ended = errorOf(ensure({ signal: controller.signal }));
  await vi.waitFor(reached, 30_000);
  controller.abort("enough");
  expect(await ended).toBe("enough");
}

/** Lets every promise that can go on go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A lock that writes down what is done with it; `held` gives the answers in order, then true. */
function recordingLock(log: string[], held: boolean[] = []): Lock {
  return {
    acquire: async (key, { timeoutMs }) => {
      log.push(`acquire ${key} ${timeoutMs}`);
      return {
        held: async () => {
          log.push("held");
          return held.shift() ?? true;
        },
        release: async () => {
          log.push("release");
        },
      };
    },
  };
}

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

describe("the lock", () => {
  test("is taken for 45 s at most, checked right before the request, and released after the write", async () => {
    const { ensure, store } = setUp(stored("a0", EXPIRED));
    const log: string[] = [];
    const set = store.set.bind(store);
    store.set = async (account, value) => {
      log.push("set");
      await set(account, value);
    };
    const { send } = endpoint(renewed);
    await ensure({
      lock: recordingLock(log),
      fetch: async (...args) => {
        log.push("post");
        return send(...args);
      },
    });
    expect(log).toEqual([`acquire ${ACCOUNT} 45000`, "held", "post", "set", "release"]);
  });

  test("is not taken for a fresh token", async () => {
    const log: string[] = [];
    await setUp(stored("a0", FRESH)).ensure({ lock: recordingLock(log) });
    expect(log).toEqual([]);
  });

  test.each([undefined, "a0"])(
    "behind it the store is read again: another process was faster (rejected %s)",
    async (rejected) => {
      const { ensure, store, forms } = setUp(stored("a0", EXPIRED));
      const lock = recordingLock([]);
      const token = await ensure({
        ...(rejected !== undefined && { rejected }),
        lock: {
          acquire: async (key, options) => {
            await store.set(ACCOUNT, stored("other", FRESH));
            return lock.acquire(key, options);
          },
        },
      });
      expect(token?.access_token).toBe("other");
      expect(forms).toHaveLength(0);
    },
  );

  test("behind it the entry is gone: undefined", async () => {
    const { ensure, store, forms } = setUp(stored("a0", EXPIRED));
    const log: string[] = [];
    const lock = recordingLock(log);
    const token = ensure({
      lock: {
        acquire: async (key, options) => {
          await store.delete(ACCOUNT);
          return lock.acquire(key, options);
        },
      },
    });
    expect(await token).toBeUndefined();
    expect(forms).toHaveLength(0);
    expect(log.at(-1)).toBe("release");
  });

  test("lost before the request: it is taken again", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const log: string[] = [];
    expect((await ensure({ lock: recordingLock(log, [false, false, false]) }))?.access_token).toBe(
      "a1",
    );
    expect(log.filter((line) => line.startsWith("acquire"))).toHaveLength(4);
    expect(log.filter((line) => line === "release")).toHaveLength(4);
    expect(forms).toHaveLength(1);
  });

  test("lost again and again: Credential, without a request", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const error = await errorOf(ensure({ lock: recordingLock([], [false, false, false, false]) }));
    expect(error).toMatchObject({ kind: "Credential", reason: "lock_timeout", retryable: true });
    expect(forms).toHaveLength(0);
  });

  test("not granted within 45 s: Credential lock_timeout, and a late grant is given back", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const grant = later<Awaited<ReturnType<Lock["acquire"]>>>();
    const ended = errorOf(ensure({ lock: { acquire: () => grant.promise } }));
    await vi.advanceTimersByTimeAsync(45_000);
    const wanted = { kind: "Credential", reason: "lock_timeout", retryable: true };
    expect(await ended).toMatchObject(wanted);
    const log: string[] = [];
    grant.resolve(await recordingLock(log).acquire("k", { timeoutMs: 1 }));
    await settle();
    expect(log.at(-1)).toBe("release");
    expect(forms).toHaveLength(0);
  });

  test("its own Credential error comes as it is, any other as Credential", async () => {
    const { ensure } = setUp(stored("a0", EXPIRED));
    const own = new OAuthError("Credential", "credential store: x. y", { reason: "lock_timeout" });
    const failing = (error: unknown): Lock => ({
      acquire: () => {
        throw error;
      },
    });
    expect(await errorOf(ensure({ lock: failing(own) }))).toBe(own);
    expect(await errorOf(ensure({ lock: failing(new Error("EACCES")) }))).toMatchObject({
      kind: "Credential",
      reason: "unavailable",
    });
  });

  const gone = (): never => {
    throw new Error("gone");
  };
  test.each<[string, object]>([
    ["rejects its release", { held: async () => true, release: async () => gone() }],
    ["throws when it is released", { held: async () => true, release: gone }],
    ["answers at once, without promises", { held: () => true, release: () => {} }],
  ])("that %s does not spoil the token", async (_name, hold) => {
    const { ensure } = setUp(stored("a0", EXPIRED));
    const lock = { acquire: async () => hold } as Lock;
    expect((await ensure({ lock }))?.access_token).toBe("a1");
  });

  test.each<[string, object | undefined]>([
    ["rejects", { held: async () => gone(), release: async () => {} }],
    ["throws", { held: gone, release: async () => {} }],
    ["was never granted", undefined],
  ])("that %s when asked whether it is held is lost", async (_name, hold) => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const lock = { acquire: async () => hold } as Lock;
    expect(await errorOf(ensure({ lock }))).toMatchObject({ reason: "lock_timeout" });
    expect(forms).toEqual([]);
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

describe("aborting", () => {
  test("an aborted signal touches nothing", async () => {
    const { ensure, store } = setUp(stored("a0", EXPIRED));
    const get = vi.spyOn(store, "get");
    await expect(ensure({ signal: AbortSignal.abort("no") })).rejects.toBe("no");
    expect(get).not.toHaveBeenCalled();
  });

  test("rejects the caller while the store is still being read", async () => {
    const { ensure, store } = setUp(stored("a0", FRESH));
    store.get = () => new Promise(() => {});
    const controller = new AbortController();
    const ended = errorOf(ensure({ signal: controller.signal }));
    controller.abort("enough");
    expect(await ended).toBe("enough");
  });

  test("during the request rejects the caller at once; the answer is stored all the same", async () => {
    const answer = later<Response>();
    const { ensure, store, forms } = setUp(stored("a0", EXPIRED), answer.promise);
    await leaveDuring(ensure, () => expect(forms).toHaveLength(1));
    answer.resolve(Response.json(renewed));
    await vi.waitFor(async () => expect(await store.get(ACCOUNT)).toContain('"a1"'), 30_000);
    expect((await ensure())?.access_token).toBe("a1");
    expect(forms).toHaveLength(1);
  });

  test("a caller who comes after an abort during the request joins it", async () => {
    const answer = later<Response>();
    const { ensure, forms } = setUp(stored("a0", EXPIRED), answer.promise);
    await leaveDuring(ensure, () => expect(forms).toHaveLength(1));
    const other = ensure();
    answer.resolve(Response.json(renewed));
    expect((await other)?.access_token).toBe("a1");
    expect(forms).toHaveLength(1);
  });

  test("one of two callers does not disturb the other", async () => {
    const answer = later<Response>();
    const { ensure } = setUp(stored("a0", EXPIRED), answer.promise);
    const controller = new AbortController();
    const leaving = errorOf(ensure({ signal: controller.signal }));
    const staying = ensure();
    await settle();
    controller.abort("enough");
    expect(await leaving).toBe("enough");
    answer.resolve(Response.json(renewed));
    expect((await staying)?.access_token).toBe("a1");
  });

  test("when all leave before the request, none is sent, and a lock granted late is given back", async () => {
    const { ensure, forms } = setUp(stored("a0", EXPIRED));
    const grant = later<Awaited<ReturnType<Lock["acquire"]>>>();
    let seen: AbortSignal | undefined;
    const lock: Lock = {
      acquire: (_key, { signal }) => {
        seen = signal;
        return grant.promise;
      },
    };
    await leaveDuring(
      (options) => ensure({ lock, ...options }),
      () => expect(seen).toBeDefined(),
    );
    expect(seen?.aborted).toBe(true);
    const log: string[] = [];
    grant.resolve(await recordingLock(log).acquire("k", { timeoutMs: 1 }));
    await settle();
    expect(log.at(-1)).toBe("release");
    expect(forms).toHaveLength(0);
    expect((await ensure())?.access_token).toBe("a1");
  });
});

describe("a write that fails", () => {
  /** A store whose next `times` writes fail, on a clock of its own. */
  function failingWrites(times: number, entry = stored("a0", EXPIRED)) {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const setup = setUp(entry);
    const set = setup.store.set.bind(setup.store);
    const state = { left: times, writes: 0 };
    setup.store.set = async (account, value) => {
      state.writes++;
      if (state.left-- > 0) throw new Error("busy");
      await set(account, value);
    };
    return { ...setup, state };
  }

  /** Lets every try of a write fail, and the token be kept. */
  async function untilKept(asked: Promise<unknown>): Promise<void> {
    const ended = errorOf(asked);
    await vi.advanceTimersByTimeAsync(2100);
    expect(await ended).toMatchObject({ kind: "Credential" });
  }

  test("is tried again after 100, 400 and 1600 ms", async () => {
    const { ensure, store, state } = failingWrites(3);
    const ended = ensure();
    for (const [ms, writes] of [
      [99, 1] as const,
      [1, 2] as const,
      [400, 3] as const,
      [1600, 4] as const,
    ]) {
      await vi.advanceTimersByTimeAsync(ms);
      expect(state.writes).toBe(writes);
    }
    expect((await ended)?.access_token).toBe("a1");
    expect(await store.get(ACCOUNT)).toContain('"a1"');
  });

  test("for good: Credential; the token is kept, and written before the next use", async () => {
    const { ensure, store, forms } = failingWrites(4);
    await untilKept(ensure());
    expect(await store.get(ACCOUNT)).toBe(stored("a0", EXPIRED));
    expect((await ensure())?.access_token).toBe("a1");
    expect(await store.get(ACCOUNT)).toContain('"a1"');
    expect(forms).toHaveLength(1);
  });

  test("on every use: Credential each time, and never a second request", async () => {
    const { ensure, forms } = failingWrites(Number.POSITIVE_INFINITY);
    for (let use = 0; use < 3; use++) {
      await untilKept(ensure());
    }
    expect(forms).toHaveLength(1);
  });

  test("a kept token gives way to what was stored or deleted since", async () => {
    const { ensure, store, state, forms } = failingWrites(4);
    await untilKept(ensure());
    state.left = 0;
    const token = { access_token: "reconnected", expires_at: FRESH, token_type: "", scope: "" };
    await storeToken(store, "tracker", token);
    expect((await ensure())?.access_token).toBe("reconnected");
    await store.delete(ACCOUNT);
    expect(await ensure()).toBeUndefined();
    expect(forms).toHaveLength(1);
  });

  test("a kept token comes even where the stored one looks fresh", async () => {
    const { ensure } = failingWrites(4, stored("a0", FRESH));
    await untilKept(ensure({ rejected: "a0" }));
    expect((await ensure())?.access_token).toBe("a1");
  });

  test("a kept token and an aborted signal: nothing is written", async () => {
    const { ensure, state } = failingWrites(4);
    await untilKept(ensure());
    await expect(ensure({ signal: AbortSignal.abort("no") })).rejects.toBe("no");
    expect(state.writes).toBe(4);
  });

  test("a kept token is written under a lock that is still held", async () => {
    const { ensure, state } = failingWrites(4);
    await untilKept(ensure());
    const log: string[] = [];
    const lost = recordingLock(log, [false, false, false, false]);
    expect(await errorOf(ensure({ lock: lost }))).toMatchObject({ reason: "lock_timeout" });
    expect(state.writes).toBe(4);
    expect((await ensure({ lock: recordingLock(log) }))?.access_token).toBe("a1");
    expect(state.writes).toBe(5);
  });

  test("a kept token whose caller leaves is written once, before anybody else renews", async () => {
    const { ensure, store, forms } = failingWrites(4);
    await untilKept(ensure());
    const set = store.set.bind(store);
    const slow = later<void>();
    const written: string[] = [];
    store.set = async (account, value) => {
      if (written.push(JSON.parse(value).access_token) === 1) await slow.promise;
      await set(account, value);
    };
    await leaveDuring(ensure, () => expect(written).toEqual(["a1"]));
    const next = ensure({ rejected: "a1" });
    await settle();
    expect(forms).toHaveLength(1);
    slow.resolve();
    await next;
    expect(written).toEqual(["a1", "a1"]); // the answer of the double is always the same token
    expect(forms.map((form) => form.get("refresh_token"))).toEqual(["r0", "r1"]);
  });

  test("a kept token that was rejected is renewed with its own refresh token", async () => {
    const { ensure, forms } = failingWrites(4);
    await untilKept(ensure());
    await ensure({ rejected: "a1" });
    expect(forms.map((form) => form.get("refresh_token"))).toEqual(["r0", "r1"]);
  });
});

test("null from a store is no entry", async () => {
  const store: CredentialStore = { ...memoryCredentialStore(), get: async () => null };
  expect(await setUp(undefined).ensure({ store })).toBeUndefined();
});
