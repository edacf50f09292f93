import { defineAction, defineActionAdapter, jsonSchema } from "@millrace/contracts";
import { createNodeHost } from "@millrace/engine/node";
import { runNode } from "@millrace/test-support/flows";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";

test("a body that is read under a signal of its own still ends with the attempt", async () => {
  const { url, server } = await serveHttp((_request, response) => response.write("first"));
  await createNodeHost()
    .openFetch({})(url)
    .catch(() => {}); // refused; what requests need is loaded, and takes no time of the attempt
  const closed = new Promise<void>((resolve) => {
    server.once("connection", (socket) => socket.once("close", () => resolve()));
  });
  const read = defineAction<{ url: string }, { text: string }>({
    name: "read",
    title: "Read",
    summary: "Reads a body to its end.",
    fields: jsonSchema({ type: "object" }),
    output: jsonSchema({ type: "object" }),
    effect: "read",
    run: async (fields, ctx) => {
      const { signal } = new AbortController();
      return { text: await (await ctx.fetch(fields.url, { signal })).text() };
    },
  });
  const adapter = defineActionAdapter({ id: "slow", title: "Slow", actions: [read] });
  const policy = { timeoutMs: 60 };
  const { error } = await runNode("slow.read", { url }, { policy, types: [adapter] });
  expect(error?.code).toBe("timeout");
  await closed;
});
