/** The app inside somebody else's server of Node. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { createServer } from "@millrace/server";
import { expect, onTestFinished, test, vi } from "vitest";
import { HELLO, SLEEP } from "./support/flows.ts";
import { keepLog } from "./support/server.ts";
import { expectLegal, readEvents, readUntil } from "./support/streams.ts";

test.each(["the bindings of Node", "requests alone"])(
  "under node-server, given %s, the app answers, streams, and hears its clients leave",
  async (given) => {
    const { app, host, close } = await createServer({ log: keepLog(), store: "memory" });
    const server = createAdaptorServer({
      fetch: (request, env) =>
        given === "requests alone" ? app.fetch(request) : app.fetch(request, env as never),
    });
    onTestFinished(async () => {
      await close({ graceMs: 0 });
      server.close();
    });
    const printed: unknown[] = [];
    for (const method of ["error", "info"] as const) {
      vi.spyOn(console, method).mockImplementation((...line) => void printed.push(line));
    }
    onTestFinished(() => void vi.restoreAllMocks());
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = (dsl: string) =>
      fetch(`${url}/api/run`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ dsl }),
      });

    expect(await (await fetch(`${url}/api/health`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${url}/api/none`)).status).toBe(404);
    expectLegal(await readEvents(await run(HELLO)));

    const left = await run(SLEEP);
    const runId = left.headers.get("millrace-run-id") ?? "";
    await readUntil(left, "node.waiting");
    for await (const page of host.executor.attach(runId)) expect(page).not.toEqual([]);
    expect(await host.executor.get(runId)).toMatchObject({ status: "cancelled" });
    expect(printed, "a client that leaves is no error").toEqual([]);
  },
);
