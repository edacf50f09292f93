import { createNodeHost } from "@millrace/engine/node";
import { createSimClock } from "@millrace/engine/testing";
import { runNode } from "@millrace/test-support/flows";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";

test("hashes like every other host", () => {
  const bytes = new TextEncoder().encode("abc");
  const hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect([createNodeHost().sha256(bytes), createSimClock().sha256(bytes)]).toEqual([hash, hash]);
});

test("tells the time, draws random numbers, and a timer that is cancelled never fires", async () => {
  const host = createNodeHost();
  const order: string[] = [];
  const cancel = host.setTimer(() => order.push("cancelled"), 0);
  cancel();
  await new Promise<void>((done) => {
    host.setTimer(() => {
      order.push("timer");
      done();
    }, 1);
    host.yield(() => order.push("yield"));
  });
  expect(order.sort()).toEqual(["timer", "yield"]);
  expect(Math.abs(host.now() - Date.now())).toBeLessThan(60_000);
  const drawn = host.random();
  expect(drawn >= 0 && drawn < 1).toBe(true);
});

test("without an egress policy a flow reaches no private address", async () => {
  const { url, connections } = await serveHttp((_request, response) => response.end());
  const { error } = await runNode("http.request", { url }, { egress: {} });
  expect([error?.code, connections()]).toEqual(["egress_denied", 0]);
});
