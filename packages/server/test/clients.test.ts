/** Programs that others wrote, against a server as it is: an `EventSource` as browsers have it, and a load generator. */
import { connect, createServer as createProxy } from "node:net";
import { type AnyEvent, parseEventStrict } from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import autocannon from "autocannon";
import { EventSource } from "eventsource";
import { expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY } from "./support/flows.ts";
import { invoke, serve } from "./support/server.ts";
import { expectLegal, kinds } from "./support/streams.ts";

/** A way to a port that can be cut; answers its own port and the cut. */
async function cuttable(port: number): Promise<{ port: number; cut(): void }> {
  const sockets = new Set<import("node:net").Socket>();
  const proxy = createProxy((near) => {
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  onTestFinished(() => {
    cut();
    proxy.close();
  });
  return { port: (proxy.address() as import("node:net").AddressInfo).port, cut };
}

test("an EventSource that is cut off comes back by itself, misses nothing, and stops when all is told", async () => {
  const server = await serve();
  const { runId } = await invoke<{ runId: string }>(server, "start_run", { dsl: ASK_PLAINLY });
  const way = await cuttable(server.address.port);
  const source = new EventSource(`http://127.0.0.1:${way.port}/api/runs/${runId}/events`);
  onTestFinished(() => source.close());
  const events: AnyEvent[] = [];
  const until = (kind: string): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (events.some((event) => event.kind === kind)) resolve();
        else source.addEventListener("message", () => queueMicrotask(look), { once: true });
      };
      look();
    });
  source.addEventListener("message", ({ data }) => events.push(parseEventStrict(data)));
  await until("run.paused");
  const opened = new Promise((resolve) => source.addEventListener("open", resolve, { once: true }));
  way.cut();
  await opened;
  const answer = { runId, confirmationId: "k1", decision: "approve" };
  await invoke(server, "resolve_confirmation", answer);
  await until("summary");
  expectLegal(events);
  expect(kinds(events).filter((kind) => kind === "run.started")).toEqual(["run.started"]);
  // The next attempt is answered with 204, which ends an EventSource for good.
  await new Promise((resolve) => source.addEventListener("error", resolve, { once: true }));
  await expect.poll(() => source.readyState).toBe(EventSource.CLOSED);
});

test("requests of many clients at once are answered, none with an error", async () => {
  const server = await serve({ tokens: ["0123456789abcdef-load"] });
  const amount = casesOf(2_000);
  const result = await autocannon({
    url: `${server.url}/api/invoke`,
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer 0123456789abcdef-load" },
    body: JSON.stringify({ command: "get_meta", args: {} }),
    connections: 32,
    amount,
  });
  expect(result).toMatchObject({ errors: 0, timeouts: 0, non2xx: 0 });
  expect(result["2xx"]).toBe(amount);
});
