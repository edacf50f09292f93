import { gzipSync } from "node:zlib";
import { type OAuthToken, refreshToken, type TokenEndpoint } from "@millrace/oauth";
import type { HostileStep } from "@millrace/test-support/hostile-token-endpoint";
import { freePort } from "@millrace/test-support/ports";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { errorOf, startEndpoint } from "./token-endpoint.ts";

const GOOD: HostileStep = { body: { access_token: "a" } };
const MIB = 1024 * 1024;

async function start(...script: HostileStep[]) {
  const server = await startEndpoint(script);
  const ask = (options: Partial<TokenEndpoint> = {}): Promise<OAuthToken> =>
    refreshToken({
      tokenUrl: server.tokenUrl,
      clientId: "c",
      clientSecret: "PLANTED-SECRET",
      refreshToken: "r",
      ...options,
    });
  return { ...server, host: new URL(server.origin).host, ask };
}

/** Ends a request that would otherwise take 30 s; the timer and its message are the same. */
const SOON = { timeoutMs: 60 };

describe("statuses", () => {
  test.each([301, 302, 303, 307, 308])(
    "a redirect by %d is Token, and is not followed",
    async (status) => {
      const { ask, requests } = await start(
        { status, headers: { location: "/elsewhere" }, body: "moved" },
        GOOD,
      );
      const error = await errorOf(ask());
      expect(error).toMatchObject({ kind: "Token", status, retryable: false, reason: "endpoint" });
      expect(error.message).toBe(`token endpoint answered ${status}`);
      expect(error.body).toBe("moved");
      expect(requests).toHaveLength(1);
    },
  );

  test.each([200, 201, 203, 299])("%d is a success", async (status) => {
    const { ask } = await start({ ...GOOD, status });
    expect((await ask()).access_token).toBe("a");
  });

  test("204 has no token: Decode", async () => {
    const { ask } = await start({ status: 204 });
    expect((await errorOf(ask())).kind).toBe("Decode");
  });

  test("an HTML page with 200 is Decode", async () => {
    const { ask } = await start({
      body: "<!doctype html>",
      headers: { "content-type": "text/html" },
    });
    expect((await errorOf(ask())).message).toBe("token response: the text must be JSON");
  });

  test("an HTML page with 500 is Token with the page", async () => {
    const { ask } = await start({ status: 500, body: "<h1>Oops</h1>" });
    const error = await errorOf(ask());
    expect(error).toMatchObject({ kind: "Token", status: 500, retryable: true });
    expect(error.body).toBe("<h1>Oops</h1>");
    expect(error.oauthError).toBeUndefined();
  });

  test("a registered error is named, and one call is one request", async () => {
    const body = '{"error":"invalid_grant","error_description":"d"}';
    const { ask, requests } = await start({ status: 400, body });
    const error = await errorOf(ask());
    expect(error.message).toBe("token endpoint answered 400 (invalid_grant)");
    expect(error).toMatchObject({ status: 400, reason: "endpoint", retryable: false });
    expect(error.body).toBe(body);
    expect(error.oauthError).toBe("invalid_grant");
    expect(requests).toHaveLength(1);
  });

  test("a secret echoed in error stays out of the message", async () => {
    const { ask } = await start({ fault: "echo" });
    const error = await errorOf(ask());
    expect(error.message).toBe("token endpoint answered 400");
    expect(error.oauthError).toBe("PLANTED-SECRET");
  });

  test.each(['{"error":1}', '{"error":', "[]", "null", '{"__proto__":{"error":"invalid_grant"}}'])(
    "an error body %s has no error code",
    async (body) => {
      const { ask } = await start({ status: 400, body });
      const error = await errorOf(ask());
      expect(error.message).toBe("token endpoint answered 400");
      expect(error.oauthError).toBeUndefined();
      expect(error.body).toBe(body);
    },
  );
});

describe("bodies", () => {
  test.each<[string, unknown]>([
    ["expires_in as a string", { access_token: "a", expires_in: "3600" }],
    ["expires_in 1.5", { access_token: "a", expires_in: 1.5 }],
    ["expires_in 1e18", '{"access_token":"a","expires_in":1e18}'],
    ["scope as an array", { access_token: "a", scope: ["x"] }],
    ["access_token as a number", { access_token: 1 }],
    ["a token inside __proto__", '{"__proto__":{"access_token":"a"}}'],
    ["an error", { error: "invalid_request" }],
    ["bytes that are no UTF-8", Buffer.from('{"access_token":"\xff"}', "latin1")],
    [
      "a cut character",
      Buffer.concat([Buffer.from('{"access_token":"a"}'), Buffer.from([0xe2, 0x82])]),
    ],
  ])("%s: Decode", async (_name, body) => {
    const { ask } = await start({ body });
    const error = await errorOf(ask());
    expect(error.kind).toBe("Decode");
    expect(error.message).toMatch(/^token response: /);
    expect(error.cause).toBeUndefined();
  });

  test("lenient reaches the reading of the answer", async () => {
    const { ask } = await start({ body: { access_token: "a", expires_in: "60" } });
    const token = await ask({ lenient: true, now: () => new Date(0) });
    expect(token.expires_at).toBe("1970-01-01T00:01:00.000Z");
  });

  test("bytes that are no UTF-8 are replaced in the body of an error, and a byte order mark stays", async () => {
    const { ask } = await start({ status: 500, body: Buffer.from([0xef, 0xbb, 0xbf, 0x41, 0xff]) });
    expect((await errorOf(ask())).body).toBe("\ufeffA\ufffd");
  });

  test("a body of exactly 1 MiB is read", async () => {
    const { ask } = await start({ body: '{"access_token":"a"}'.padEnd(MIB, " ") });
    expect((await ask()).access_token).toBe("a");
  });

  test("2 MiB with 200 is Decode", async () => {
    const { ask } = await start({ body: '{"access_token":"a"}'.padEnd(2 * MIB, " ") });
    expect((await errorOf(ask())).message).toBe("token response: it is longer than 1 MiB");
  });

  test("2 MiB with 500 is Token with the first 1 MiB", async () => {
    const { ask } = await start({ status: 500, body: "x".repeat(2 * MIB) });
    const error = await errorOf(ask());
    expect(error).toMatchObject({ kind: "Token", status: 500 });
    expect(error.body === "x".repeat(MIB)).toBe(true);
  });

  test("a gzip bomb is cut at 1 MiB", async () => {
    const { ask } = await start({ fault: "gzip-bomb" });
    expect((await errorOf(ask())).message).toBe("token response: it is longer than 1 MiB");
  });

  test("an honest gzip body is read", async () => {
    const { ask } = await start({
      headers: { "content-encoding": "gzip" },
      body: gzipSync('{"access_token":"a"}'),
    });
    expect((await ask()).access_token).toBe("a");
  });
});

describe("connections", () => {
  test.each(["hang-up", "half-close", "hang-up-in-body"] as const)(
    "%s is Http, reason network",
    async (fault) => {
      const { ask, host } = await start({ fault });
      const error = await errorOf(ask());
      expect(error).toMatchObject({ kind: "Http", reason: "network", retryable: true });
      expect(error.message).toMatch(new RegExp(`^token request to ${host} failed: [A-Z_]+$`));
    },
  );

  test("a refused connection is Http with the code, and without the query of the URL", async () => {
    const port = await freePort();
    const { ask } = await start(GOOD);
    const error = await errorOf(
      ask({ tokenUrl: `http://127.0.0.1:${port}/token?key=PLANTED-SECRET` }),
    );
    expect(error.message).toBe(`token request to 127.0.0.1:${port} failed: ECONNREFUSED`);
  });

  test("a server that speaks no TLS is Http", async () => {
    const { ask, host } = await start(GOOD);
    const error = await errorOf(ask({ tokenUrl: `https://${host}/token` }));
    expect(error).toMatchObject({ kind: "Http", reason: "network" });
    expect(error.message).toMatch(new RegExp(`^token request to ${host} failed: \\w+`));
  });

  const unreadable = {
    get code(): string {
      throw new Error("PLANTED-SECRET");
    },
  };
  test.each([["its own words", new Error("PLANTED-SECRET")], ["nothing"], ["traps", unreadable]])(
    "an error without a code, but with %s, is told as no connection",
    async (_name, thrown?: unknown) => {
      const { ask, host } = await start(GOOD);
      const error = await errorOf(ask({ fetch: () => Promise.reject(thrown) }));
      expect(error.message).toBe(`token request to ${host} failed: no connection`);
    },
  );

  test.each(["silence", "slow-headers", "drip"] as const)(
    "%s ends with the one timer",
    async (fault) => {
      const { ask } = await start({ fault });
      const error = await errorOf(ask(SOON));
      expect(error).toMatchObject({ kind: "Http", reason: "timeout", retryable: true });
      expect(error.message).toBe("token request timed out after 0.06 s");
    },
  );

  test("a fetch that does not listen to its signal is left behind", async () => {
    const { ask } = await start(GOOD);
    const error = await errorOf(ask({ ...SOON, fetch: () => new Promise(() => {}) }));
    expect(error.reason).toBe("timeout");
  });

  test.each([undefined, 30_000, 3_600_000, Number.POSITIVE_INFINITY])(
    "with timeoutMs %s it is 30 s",
    async (timeoutMs) => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      onTestFinished(() => void vi.useRealTimers());
      const ended = errorOf(
        refreshToken({
          tokenUrl: "https://as.example",
          clientId: "c",
          clientSecret: "s",
          refreshToken: "r",
          fetch: () => new Promise(() => {}),
          ...(timeoutMs !== undefined && { timeoutMs }),
        }),
      );
      let settled = false;
      void ended.then(() => {
        settled = true;
      });
      await vi.advanceTimersByTimeAsync(29_999);
      expect(settled).toBe(false);
      await vi.advanceTimersByTimeAsync(1);
      expect((await ended).message).toBe("token request timed out after 30 s");
      expect(vi.getTimerCount()).toBe(0);
    },
  );
});

describe("aborting", () => {
  test.each(["silence", "slow-headers", "drip"] as const)(
    "during %s rejects with the reason",
    async (fault) => {
      const { ask, requests } = await start({ fault });
      const controller = new AbortController();
      const reason = new Error("enough");
      const asked = ask({ signal: controller.signal });
      await vi.waitFor(() => expect(requests).toHaveLength(1), 30_000);
      controller.abort(reason);
      await expect(asked).rejects.toBe(reason);
    },
  );

  test("before the call sends nothing", async () => {
    const { ask, requests } = await start(GOOD);
    await expect(ask({ signal: AbortSignal.abort("no") })).rejects.toBe("no");
    expect(requests).toHaveLength(0);
  });

  test("no listener is left on the signal", async () => {
    const { ask } = await start(GOOD);
    const { signal } = new AbortController();
    const added = vi.spyOn(signal, "addEventListener");
    const removed = vi.spyOn(signal, "removeEventListener");
    await ask({ signal });
    expect(added).toHaveBeenCalledTimes(1);
    expect(removed.mock.calls).toEqual(
      added.mock.calls.map(([type, listener]) => [type, listener]),
    );
  });
});
