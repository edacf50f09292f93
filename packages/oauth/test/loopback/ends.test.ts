/** Every way a wait can end, and that each frees the port. */
import {
  acceptOAuthCode,
  bindLoopback,
  type LoopbackListener,
  type LoopbackPage,
} from "@millrace/oauth/loopback";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import {
  asked,
  expectFree,
  failureOf,
  get,
  listen,
  type Options,
  open,
  received,
  STATE,
  send,
  wait,
} from "./support.ts";

const REDIRECT = get(`/callback?code=abc&state=${STATE}`);

/** Only timeouts are ours to move: sockets need the real clock of everything else. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
}

describe("a timeout", () => {
  test("ends the wait and the silent sockets, and frees the port", async () => {
    holdTimers();
    const { listener, wanted } = await asked({ timeoutMs: 300_000 });
    const silent = received(await open(listener.port));
    await send(listener.port, get("/favicon.ico"));
    vi.advanceTimersByTime(300_000);
    expect(failureOf(await wanted)).toMatchObject({
      kind: "Http",
      reason: "redirect_timeout",
      retryable: false,
      message: "timed out waiting for the OAuth redirect",
    });
    expect(await silent).toBe("");
    await expectFree(listener.port);
  });

  test("of no time ends a wait for which nothing came", async () => {
    const listener = await listen();
    expect(failureOf(await wait(listener, { timeoutMs: 0 })).reason).toBe("redirect_timeout");
    await expectFree(listener.port);
  });

  test.each([2 ** 31 - 1, 2 ** 31, 2 ** 32 + 5])(
    "of %d ms is kept to the millisecond",
    async (timeoutMs) => {
      holdTimers();
      const listener = await listen();
      let ended = false;
      const wanted = wait(listener, { timeoutMs }).finally(() => {
        ended = true;
      });
      vi.advanceTimersByTime(timeoutMs - 1);
      await new Promise(setImmediate);
      expect(ended).toBe(false);
      vi.advanceTimersByTime(1);
      expect(failureOf(await wanted).reason).toBe("redirect_timeout");
    },
  );

  test("of Infinity sets no timer", async () => {
    holdTimers();
    const { listener, wanted } = await asked();
    await new Promise(setImmediate);
    expect(vi.getTimerCount()).toBe(0);
    await listener.close();
    expect(failureOf(await wanted).kind).toBe("Http");
  });

  test("that comes after the redirect changes nothing", async () => {
    holdTimers();
    const { listener, wanted } = await asked({ timeoutMs: 1_000 });
    await send(listener.port, REDIRECT);
    vi.advanceTimersByTime(10_000);
    expect(await wanted).toEqual({ code: "abc" });
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe("an abort", () => {
  test("ends the wait with its own reason", async () => {
    const listener = await listen();
    const controller = new AbortController();
    const wanted = wait(listener, { signal: controller.signal });
    const silent = received(await open(listener.port));
    const reason = new Error("changed my mind");
    controller.abort(reason);
    expect(await wanted).toEqual({ error: reason });
    expect(await silent).toBe("");
    await expectFree(listener.port);
  });

  test("from before the wait ends it, even with a redirect there", async () => {
    const listener = await listen();
    const answer = send(listener.port, REDIRECT);
    const silent = received(await open(listener.port));
    expect(await wait(listener, { signal: AbortSignal.abort("early") })).toEqual({
      error: "early",
    });
    expect(await answer).toBe("");
    expect(await silent).toBe("");
    await expectFree(listener.port);
  });

  test("after the result changes nothing and finds no listener left", async () => {
    const listener = await listen();
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, "removeEventListener");
    const wanted = wait(listener, { signal: controller.signal });
    await send(listener.port, REDIRECT);
    expect(await wanted).toEqual({ code: "abc" });
    expect(removed).toHaveBeenCalled();
    controller.abort();
  });
});

describe("closing", () => {
  test("ends a wait, drops its sockets and frees the port", async () => {
    const { listener, wanted } = await asked();
    const silent = received(await open(listener.port));
    await listener.close();
    expect(failureOf(await wanted)).toMatchObject({
      kind: "Http",
      message: "the loopback listener was closed",
    });
    expect(await silent).toBe("");
    await expectFree(listener.port);
  });

  test("may be asked for twice, and happens at the end of a scope", async () => {
    let port = 0;
    {
      await using listener = await bindLoopback();
      port = listener.port;
      await open(port);
      await listener.close();
    }
    await expectFree(port);
  });

  test("leaves a page that is on its way", async () => {
    const { listener, wanted } = await asked();
    const answer = send(listener.port, REDIRECT);
    expect(await wanted).toEqual({ code: "abc" });
    await listener.close();
    expect(await answer).toContain("You can close this tab.");
  });
});

describe("misuse", () => {
  test("a listener serves one wait", async () => {
    const { listener, wanted } = await asked();
    const second = failureOf(await wait(listener));
    expect(second).toMatchObject({ kind: "Http", retryable: false });
    expect(second.message).toContain("has served its wait");
    await send(listener.port, REDIRECT);
    expect(await wanted).toEqual({ code: "abc" });
    expect(failureOf(await wait(listener)).message).toContain("has served its wait");
  });

  test("a closed listener serves none", async () => {
    const listener = await listen();
    await listener.close();
    expect(failureOf(await wait(listener)).message).toContain("is closed");
  });

  test("an object of another make is no listener", async () => {
    const other = { port: 1 } as unknown as LoopbackListener;
    await expect(acceptOAuthCode(other, { state: STATE, timeoutMs: 1 })).rejects.toThrow(TypeError);
  });

  const bad: readonly [string, Options, ErrorConstructor][] = [
    ["a timeout that is no number", { timeoutMs: Number.NaN }, RangeError],
    ["a timeout below 0", { timeoutMs: -1 }, RangeError],
    ["no timeout", { timeoutMs: undefined as unknown as number }, RangeError],
    ["no state", { state: undefined as unknown as string }, TypeError],
    ["a path without a slash", { path: "callback" }, TypeError],
    ["a path that a browser would change", { path: "/call back" }, TypeError],
    ["a path with dots that a browser resolves", { path: "/a/../b?x=/.." }, TypeError],
    ["a page without text", { pages: { notFound: { title: "x" } as LoopbackPage } }, TypeError],
  ];
  test.each(bad)("%s is refused and the listener stays as it was", async (_name, options, type) => {
    const listener = await listen();
    expect(await wait(listener, options)).toEqual({ error: expect.any(type) });
    const wanted = wait(listener);
    await send(listener.port, REDIRECT);
    expect(await wanted).toEqual({ code: "abc" });
  });
});
