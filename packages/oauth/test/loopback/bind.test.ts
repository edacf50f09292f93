/** Where the receiver listens, and what it says when it cannot. */
import { createServer } from "node:net";
import { networkInterfaces } from "node:os";
import { bindLoopback } from "@millrace/oauth/loopback";
import { expect, onTestFinished, test } from "vitest";
import { expectFree, failureOf, listen, open } from "./support.ts";

/** A port that somebody else has. */
async function takenPort(): Promise<number> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as { port: number }).port;
}

const failure = async (port: number | readonly number[]) =>
  failureOf(
    await bindLoopback(port).then(
      () => ({ code: "bound" }),
      (error: unknown) => ({ error }),
    ),
  );

test("any free port is the default, and the redirect URI names it", async () => {
  const listener = await listen();
  expect(listener.port).toBeGreaterThan(0);
  expect(listener.redirectUri()).toBe(`http://127.0.0.1:${listener.port}/callback`);
  expect(listener.redirectUri("/oauth/cb?t=1")).toBe(
    `http://127.0.0.1:${listener.port}/oauth/cb?t=1`,
  );
  for (const path of ["callback", "", "/a b", "/a#b", "/ä"]) {
    expect(() => listener.redirectUri(path)).toThrow(TypeError);
  }
});

test("a port that was asked for is the one bound, and nobody shares it", async () => {
  const { port, close } = await listen();
  await close();
  const listener = await listen(port);
  expect(listener.port).toBe(port);
  expect((await failure(port)).message).toBe(`cannot bind 127.0.0.1:${port}: EADDRINUSE`);
});

test("only 127.0.0.1 listens", async () => {
  const listener = await listen();
  await expectRefused("::1", listener.port);
  for (const { address, internal } of Object.values(networkInterfaces()).flatMap(
    (all) => all ?? [],
  )) {
    if (!internal) await expectRefused(address, listener.port);
  }
  await open(listener.port);
});

test("a port in use is an error that names the address", async () => {
  const port = await takenPort();
  expect(await failure(port)).toMatchObject({
    kind: "Http",
    code: "oauth_http",
    reason: "bind",
    retryable: false,
    message: `cannot bind 127.0.0.1:${port}: EADDRINUSE`,
  });
});

test.each([65_536, -1, 1.5, Number.NaN])(
  "%d is no port, and the same kind of error",
  async (port) => {
    expect(await failure(port)).toMatchObject({
      kind: "Http",
      reason: "bind",
      message: `cannot bind 127.0.0.1:${port}: ERR_SOCKET_BAD_PORT`,
    });
  },
);

test("the first free port of a list is taken", async () => {
  const taken = await takenPort();
  const { port, close } = await listen();
  await close();
  expect((await listen([taken, 70_000, port, 0])).port).toBe(port);
});

test("a list without a free port is an error that names every address", async () => {
  const [one, two] = [await takenPort(), await takenPort()];
  expect((await failure([one, 65_536, two])).message).toBe(
    `cannot bind 127.0.0.1:${one}: EADDRINUSE, 127.0.0.1:65536: ERR_SOCKET_BAD_PORT, 127.0.0.1:${two}: EADDRINUSE`,
  );
});

test("an empty list is a mistake of the caller", async () => {
  await expect(bindLoopback([])).rejects.toThrow(RangeError);
});

test("a bound listener that nobody waits on frees its port when it is closed", async () => {
  const listener = await listen();
  await open(listener.port);
  await listener.close();
  await expectFree(listener.port);
});

async function expectRefused(host: string, port: number): Promise<void> {
  const { connect } = await import("node:net");
  const socket = connect({ host, port });
  onTestFinished(() => void socket.destroy());
  const outcome = await new Promise((resolve) => {
    socket.once("connect", () => resolve("connected"));
    socket.once("error", () => resolve("refused"));
  });
  expect(outcome).toBe("refused");
}
