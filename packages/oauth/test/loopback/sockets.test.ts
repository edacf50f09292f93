/** What sockets do: browsers that open too many, clients that stop half way, segments of every size. */
import { once } from "node:events";
import type { Socket } from "node:net";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  asked,
  expectFree,
  failureOf,
  get,
  listen,
  open,
  received,
  STATE,
  send,
  statusOf,
  talk,
  wait,
  write,
} from "./support.ts";

const REDIRECT = get(`/callback?code=abc&state=${STATE}`);

test("a redirect may come in any segments", async () => {
  const segmentations = fc
    .uniqueArray(fc.integer({ min: 1, max: REDIRECT.length - 1 }), { maxLength: 12 })
    .map((cuts) => [0, ...cuts.sort((a, b) => a - b), REDIRECT.length])
    .map((at) => at.slice(1).map((end, i) => REDIRECT.slice(at[i], end)));
  await fc.assert(
    fc.asyncProperty(segmentations, async (segments) => {
      const { listener, wanted } = await asked();
      expect(statusOf(await send(listener.port, ...segments))).toBe(200);
      expect(await wanted).toEqual({ code: "abc" });
    }),
    { numRuns: 40 },
  );
});

test("byte by byte", async () => {
  const { listener, wanted } = await asked();
  await send(listener.port, ...REDIRECT);
  expect(await wanted).toEqual({ code: "abc" });
});

describe("a line of", () => {
  /** `GET /?state=…&code=xxx<tail>` of this many bytes. */
  const lineOf = (bytes: number, tail: string): { line: string; code: string } => {
    const head = `GET /?state=${STATE}&code=`;
    const code = "x".repeat(bytes - head.length - tail.length);
    return { line: head + code + tail, code };
  };

  test.each([4_095, 4_096])("%i bytes with its line feed is whole", async (bytes) => {
    for (const tail of ["\n", "\r\n", " HTTP/1.1\r\n"]) {
      const { listener, wanted } = await asked();
      const { line, code } = lineOf(bytes, tail);
      expect(statusOf(await send(listener.port, line))).toBe(200);
      expect(await wanted).toEqual({ code });
    }
  });

  test("4097 bytes is cut, and its target is whole when the third word has begun", async () => {
    const { listener, wanted } = await asked();
    const { line, code } = lineOf(4_097, " HTTP/1.1\r\n");
    expect(statusOf(await send(listener.port, line))).toBe(200);
    expect(await wanted).toEqual({ code });
  });

  test.each([4_097, 4_098, 10_000])("%i bytes loses its last parameter", async (bytes) => {
    const { listener, wanted } = await asked();
    expect(statusOf(await send(listener.port, lineOf(bytes, "\n").line))).toBe(404);
    expect(statusOf(await send(listener.port, REDIRECT))).toBe(200);
    expect(await wanted).toEqual({ code: "abc" });
  });

  test("4097 bytes whose state comes last has no state", async () => {
    const { listener, wanted } = await asked();
    const head = "GET /?code=abc&state=";
    const answer = await send(listener.port, `${head + "x".repeat(4_096 - head.length)}\n`);
    expect(statusOf(answer)).toBe(200);
    expect(failureOf(await wanted).reason).toBe("state_mismatch");
  });

  test("no end is answered at 4096 bytes, however much more comes", async () => {
    const { listener, wanted } = await asked();
    const { socket, answer } = await talk(listener.port);
    socket.write(`GET /?code=abc&state=${STATE}&x=${"x".repeat(3_000_000)}`);
    expect(statusOf(await answer)).toBe(200);
    expect(await wanted).toEqual({ code: "abc" });
  });
});

describe("a socket that", () => {
  test("says nothing holds up nobody", async () => {
    const { listener, wanted } = await asked();
    const silent = await Promise.all(Array.from({ length: 5 }, () => open(listener.port)));
    const gone = Promise.all(
      silent.map((socket) => once(socket.resume(), "close").catch(() => {})),
    );
    expect(statusOf(await send(listener.port, REDIRECT))).toBe(200);
    expect(await wanted).toEqual({ code: "abc" });
    for (const socket of silent) socket.end();
    await gone;
    await expectFree(listener.port);
  });

  test.each<[string, bytes: string, isReset?: true]>([
    ["stops half way holds up nobody", REDIRECT.slice(0, 20)],
    ["is reset in its line counts for nothing", `GET /?state=${STATE}&code=ab`, true],
  ])("%s", async (_what, bytes, isReset) => {
    const { listener, wanted } = await asked();
    const socket = await open(listener.port);
    await write(socket, bytes);
    if (isReset) socket.resetAndDestroy();
    expect(statusOf(await send(listener.port, REDIRECT))).toBe(200);
    expect(await wanted).toEqual({ code: "abc" });
  });

  test("is reset behind its line has said what it said", async () => {
    const { listener, wanted } = await asked();
    const socket = await open(listener.port);
    await write(socket, REDIRECT);
    socket.resetAndDestroy();
    expect(await wanted).toEqual({ code: "abc" });
    await expectFree(listener.port);
  });

  test.each([
    ["behind its request", REDIRECT, 200, { code: "abc" }],
    ["behind the target", `GET /?code=abc&state=${STATE} `, 200, { code: "abc" }],
    ["in its last parameter", `GET /?state=${STATE}&code=ab`, 404, undefined],
    ["behind parameters that are whole", `GET /?code=abc&state=${STATE}&x`, 200, { code: "abc" }],
  ] as const)("ends %s is read that far, and answered", async (_where, bytes, page, end) => {
    const { listener, wanted } = await asked();
    const { socket, answer } = await talk(listener.port);
    socket.end(bytes);
    expect(statusOf(await answer)).toBe(page);
    if (end === undefined) await send(listener.port, REDIRECT);
    expect(await wanted).toEqual(end ?? { code: "abc" });
  });

  test("ends without a word gets no answer", async () => {
    const { listener, wanted } = await asked();
    const { socket, answer } = await talk(listener.port);
    socket.end();
    expect(await answer).toBe("");
    await send(listener.port, REDIRECT);
    expect(await wanted).toEqual({ code: "abc" });
  });

  test("never reads its page and never ends does not keep the result", async () => {
    const { listener, wanted } = await asked();
    const socket = await open(listener.port);
    socket.pause();
    await write(socket, REDIRECT);
    expect(await wanted).toEqual({ code: "abc" });
    await listener.close();
  });
});

describe("before anybody waits", () => {
  test("a redirect is kept", async () => {
    const listener = await listen();
    const answer = send(listener.port, REDIRECT);
    await write(await open(listener.port), "GET");
    expect(await wait(listener)).toEqual({ code: "abc" });
    expect(statusOf(await answer)).toBe(200);
  });

  test("a redirect is kept when its sender has ended, and beats a wait of no time", async () => {
    const listener = await listen();
    const { socket, answer } = await talk(listener.port);
    socket.end(REDIRECT);
    await write(await open(listener.port), "GET");
    expect(await wait(listener, { timeoutMs: 0 })).toEqual({ code: "abc" });
    expect(statusOf(await answer)).toBe(200);
  });

  test("requests are answered in the order in which they came", async () => {
    const listener = await listen();
    const first = await open(listener.port);
    const second = await open(listener.port);
    const answers = [received(first), received(second)];
    await write(second, get("/favicon.ico"));
    await write(first, get("/?code=1&state=x"));
    await write(await open(listener.port), REDIRECT);
    expect(failureOf(await wait(listener)).reason).toBe("state_mismatch");
    expect((await Promise.all(answers)).map(statusOf)).toEqual([200, 404]);
  });
});

describe("of 64 sockets", () => {
  const fill = (port: number): Promise<Socket[]> =>
    Promise.all(Array.from({ length: 64 }, () => open(port)));

  test("the oldest silent one goes for another", async () => {
    const { listener, wanted } = await asked();
    const oldest = await open(listener.port);
    const gone = received(oldest);
    const others = await fill(listener.port);
    expect(await gone).toBe("");
    const last = others.at(-1) as Socket;
    const answer = received(last);
    await write(last, REDIRECT);
    expect(statusOf(await answer)).toBe(200);
    expect(await wanted).toEqual({ code: "abc" });
  });

  test("all may have spoken: they keep their places", async () => {
    const listener = await listen();
    const sockets = await fill(listener.port);
    const answers = sockets.map(received);
    for (const socket of sockets.slice(0, -1)) await write(socket, get("/favicon.ico"));
    await write(sockets.at(-1) as Socket, REDIRECT);
    const late = await send(listener.port, REDIRECT);
    expect(late).toBe("");
    expect(await wait(listener)).toEqual({ code: "abc" });
    const statuses = (await Promise.all(answers)).map(statusOf);
    expect(statuses).toEqual([...Array(63).fill(404), 200]);
  });
});
