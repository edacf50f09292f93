/** A request that was under way when the process was killed is repeated with the same idempotency key. */
import { once } from "node:events";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { events, lastSummary, millrace, scratch, start } from "./cli.ts";

const orders = (url: string, key: string): string => `flow 1 orders

node all: map {
  items = [1]
  body {
    node order: http.request {
      url = "${url}"
      method = "POST"
      body = { item: item }
      @idempotency-key = "${key}"
    }
    output = order.status
  }
}
`;

test.each([
  ["of the run", "order-${run.id}-${item}", /^order-run_\w+-1$/],
  ["of the time", "order-${now()}", /^order-20/],
])("the key is the same before and after a kill: %s", async (_name, key, shape) => {
  const keys: unknown[] = [];
  const server = await serveHttp((request, response) => {
    keys.push(request.headers["idempotency-key"]);
    request.resume();
    // The effect is done; the process dies before it hears of it.
    if (keys.length > 1) response.end("{}");
  });
  const url = `${server.url}/orders`;
  const home = scratch({
    "orders.flow": orders(url, key),
    "config.json": JSON.stringify({ egress: { allow: [{ host: "127.0.0.1" }] } }),
  });
  const at = { cwd: home, env: { MILLRACE_HOME: home } };
  const running = start(["run", "orders.flow", "--save", "--json"], at);
  const asked = once(server.server, "request");
  await asked;
  running.child.kill("SIGKILL");
  const runId = events((await running.ended).stdout)[0]?.runId ?? "";
  const resumed = await millrace(["resume", runId, "--json"], at);
  expect([resumed.code, lastSummary(resumed.stdout).status], resumed.stderr).toEqual([
    0,
    "succeeded",
  ]);
  expect(keys).toHaveLength(2);
  expect(keys[0]).toMatch(shape);
  expect(keys[1]).toBe(keys[0]);
});
