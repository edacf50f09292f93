/** What a client has over HTTP alone: entity tags, the feed of all runs, and logs that begin with a snapshot. */
import { createClient } from "@millrace/client";
import type { Template } from "@millrace/contracts";
import { expect, test } from "vitest";
import { HELLO } from "./support/flows.ts";
import { serve } from "./support/server.ts";

test("a change is made by who has seen the newest state", async () => {
  const { url } = await serve();
  const client = createClient({ url });
  const first = await client.call("save_template", { slug: "hello", dsl: HELLO });
  const seen = await client.call("get_template", { slug: "hello" });
  expect(seen.etag).toMatch(/^".+"$/);
  const ifMatch = seen.etag ?? "";
  const change = { slug: "hello", name: "Greets", dsl: HELLO, ifMatch };
  const changed = await client.call("save_template", change);
  expect((changed.value as Template).name).toBe("Greets");
  expect(changed.etag).not.toBe(first.etag);
  await expect(client.call("save_template", change)).rejects.toMatchObject({
    code: "etag_mismatch",
  });
});

test("a repeated call says that it did nothing", async () => {
  const client = createClient({ url: (await serve()).url });
  const start = () => client.call("start_run", { dsl: HELLO }, { idempotencyKey: "once" });
  const [first, second] = [await start(), await start()];
  expect([first.replayed, second.replayed]).toEqual([false, true]);
  expect(second.value.runId).toBe(first.value.runId);
});

test("the feed goes on where a reader was", async () => {
  const server = await serve();
  const client = createClient({ url: server.url });
  const stop = new AbortController();
  const feed = client.feed({ kinds: ["summary"], signal: stop.signal });
  const next = feed.next();
  // The feed is from now on: it is open when the server counts its stream.
  while (!/millrace_streams \S*[1-9]/.test(await metrics(server.url))) await turn();
  const { runId } = await client.invoke("start_run", { dsl: HELLO });
  expect((await next).value).toMatchObject({ gap: false, event: { kind: "run.started", runId } });
  const { value: entry } = await feed.next();
  expect(entry).toMatchObject({ gap: false, event: { kind: "summary", runId } });
  stop.abort();
  await expect(feed.next()).rejects.toThrow();
  const again = await client.invoke("start_run", { dsl: HELLO });
  const later = client.feed({ after: entry?.position ?? 0, kinds: ["summary"] });
  const { value: missed } = await later.next();
  expect(missed?.event.runId).toBe(again.runId);
  expect(missed?.position).toBeGreaterThan(entry?.position ?? 0);
  await later.return();
});

test("a log can begin with what the run is", async () => {
  const client = createClient({ url: (await serve()).url });
  const { runId } = await client.invoke("start_run", { dsl: HELLO });
  for await (const _ of client.runEvents(runId)); // to its end
  const kinds: string[] = [];
  for await (const { kind } of client.runEvents(runId, { snapshot: true })) kinds.push(kind);
  expect(kinds[0]).toBe("snapshot");
});

const metrics = async (url: string): Promise<string> => (await fetch(`${url}/api/metrics`)).text();
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
