/** Renewals under a lock, that are aborted, or whose write fails. */
import { type Lock, OAuthError, storeToken } from "@millrace/oauth";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  ACCOUNT,
  EXPIRED,
  endpoint,
  errorOf,
  FRESH,
  later,
  leaveDuring,
  recordingLock,
  renewed,
  settle,
  setUp,
  stored,
} from "./ensured.ts";

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
