/** The commands in this process: what they answer is what a server answers, and nothing happens by itself. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ClientError } from "@millrace/client";
import type { AnyEvent, CommandName, RunRef } from "@millrace/contracts";
import { createServer } from "@millrace/server";
import { type LocalClient, type LocalOptions, openLocal } from "@millrace/server/local";
import { readStoredList } from "@millrace/server/stored";
import { readHolder, StoreError } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO } from "./support/flows.ts";
import { invoke, post, serve } from "./support/server.ts";

async function local(options: LocalOptions): Promise<LocalClient> {
  const client = await openLocal({ credentials: { store: "memory" }, ...options });
  onTestFinished(() => client.close());
  return client;
}

async function eventsOf(events: AsyncGenerator<AnyEvent>): Promise<AnyEvent[]> {
  const all: AnyEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** What fails says so; without what is different at every call. */
async function refusal(work: Promise<unknown>): Promise<unknown> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!ClientError.isInstance(error)) throw error;
  const { requestId, ...problem } = error.problem ?? { requestId: "" };
  expect(requestId).not.toBe("");
  return problem;
}

test("a list of the store is what the commands answer, and what wants a check is left to them", async () => {
  const dir = temporaryFolder();
  const lists = [
    ...(["list_runs", "list_templates", "list_schedules"] as const),
    ...(["list_webhooks", "list_hubs"] as const),
  ];
  for (const list of lists) {
    const empty = await local({ store: dir, readonly: true });
    expect(await readStoredList(dir, list, {}), list).toEqual(await empty.invoke(list, {}));
  }
  const writer = await local({ store: dir });
  const every = "schedule often {\n  every = 15m\n}";
  for (const slug of ["a", "b", "c"]) {
    await writer.invoke("save_template", { slug, dsl: `${HELLO}\n${every}\n` });
    await writer.invoke("run_and_wait", { template: slug, waitMs: 10_000 });
    await writer.invoke("create_schedule", { template: slug, everyMs: 60_000 });
    await writer.invoke("create_webhook", { template: slug, input: "name" });
    await writer.invoke("add_hub", {
      id: slug,
      url: `https://${slug}.example/`,
      name: slug,
      provides: ["templates"],
    });
  }
  for (const list of lists) {
    for (const args of [{}, { limit: 2 }, { limit: 200 }]) {
      const whole = await writer.invoke(list, args);
      expect(whole.items.length, list).toBeGreaterThan(1);
      expect(await readStoredList(dir, list, args), list).toEqual(whole);
    }
    for (const args of [
      { limit: 0 },
      { limit: 201 },
      { limit: 1.5 },
      { cursor: "x" },
      { q: "a" },
    ]) {
      expect(await readStoredList(dir, list, args), list).toBeUndefined();
    }
  }
  expect(await readStoredList(dir, "get_settings", {})).toBeUndefined();
});

test("beside the server that writes, every answer and every refusal is the one of the server", async () => {
  const dir = temporaryFolder();
  const server = await serve({ store: dir, credentials: { store: "memory" } });
  await invoke(server, "save_template", { slug: "hello", dsl: HELLO });
  const runIds: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { runId } = await invoke<RunRef>(server, "run_and_wait", {
      template: "hello",
      waitMs: 10_000,
    });
    runIds.push(runId);
  }
  const [runId = ""] = runIds;
  const client = await local({ store: dir, readonly: true });
  const page = await invoke<{ nextCursor: string }>(server, "list_runs", { limit: 2 });
  const asked: readonly (readonly [CommandName, object])[] = [
    ["list_runs", {}],
    ["list_runs", { limit: 2, cursor: page.nextCursor }],
    ["list_runs", { limit: 201 }],
    ["list_runs", { limit: 2, cursor: `${page.nextCursor}x` }],
    ["list_runs", { status: ["failed"], limit: 2, cursor: page.nextCursor }],
    ["get_run", { runId }],
    ["get_run", { runId: "nope" }],
    ["get_run", { unknown: 1 }],
    ["get_run_events", { runId, limit: 2 }],
    ["get_run_events", { runId, after: 99 }],
    ["get_run_graph", { runId }],
    ["list_templates", { limit: 1 }],
    ["get_template", { slug: "hello" }],
    ["get_template", { slug: "none" }],
    ["validate_flow", { dsl: "flow 1 x\n\nnode a: nope {\n}\n" }],
    ["list_nodes", { q: "file", limit: 2 }],
    ["list_confirmations", {}],
    ["get_settings", {}],
    ["subscribe_events", {}],
    ["nothing_like_it" as CommandName, {}],
  ];
  for (const [command, args] of asked) {
    const response = await post(server, "/api/invoke", { command, args });
    const answer = (await response.json()) as { requestId?: string };
    const mine = client.invoke(command, args as never);
    if (response.ok) expect(await mine, command).toEqual(answer);
    else {
      const { requestId: _, ...problem } = answer;
      expect(await refusal(mine), command).toEqual(problem);
    }
  }
  const response = await fetch(`${server.url}/api/runs/${runId}/events`, {
    headers: { accept: "application/x-ndjson" },
  });
  const lines = (await response.text()).trimEnd().split("\n");
  const mine = await eventsOf(client.runEvents(runId));
  expect(mine.map((event) => JSON.stringify(event))).toEqual(lines);

  expect(await refusal(client.invoke("delete_run", { runId }))).toMatchObject({
    code: "store_read_only",
  });
  const second = await createServer({ store: dir }).catch((error: unknown) => error);
  expect(StoreError.isInstance(second) && second.message).toContain(`--server ${server.url}`);
  expect(readHolder(dir)).toMatchObject({ pid: process.pid, url: server.url });

  // What is written here is there; what another process works on is told there, and followed to its end.
  const writer = await local({ store: dir });
  await writer.invoke("save_template", { slug: "beside", dsl: HELLO });
  expect(await invoke(server, "get_template", { slug: "beside" })).toMatchObject({ version: 1 });
  const live = await invoke<RunRef>(server, "start_run", { dsl: ASK_PLAINLY });
  const following = client.runEvents(live.runId);
  const seen: AnyEvent[] = [];
  for await (const event of following) {
    seen.push(event);
    if (event.kind !== "run.paused") continue;
    const { runId } = live;
    expect(await refusal(writer.invoke("resume_run", { runId: runIds[0] ?? "" }))).toMatchObject({
      code: "state_conflict",
    });
    const answer = { runId, confirmationId: "k1", decision: "approve" } as const;
    expect(await writer.invoke("resolve_confirmation", answer)).toMatchObject({ by: "cli" });
    expect(await refusal(writer.invoke("resolve_confirmation", answer))).toMatchObject({
      code: "already_resolved",
    });
  }
  expect([seen.at(-1)?.kind, seen.map(({ seq }) => seq)]).toEqual([
    "summary",
    seen.map((_, at) => at + 1),
  ]);
});

const TWICE = `flow 1 twice

node first: file.write {
  path = "first.txt"
  content = "x"
  mode = "append"
}

node ask: confirm {
  prompt = "Go on?"
}

node second: file.write {
  path = "second.txt"
  content = "x"
  mode = "append"
}

first -> ask
ask.approved -> second
`;

test("a run that was left stays as it is until a command speaks to it, and then goes on where it was", async () => {
  const dir = temporaryFolder();
  const files = temporaryFolder();
  const first = await local({ store: dir, files: { root: files } });
  for await (const event of first.runFlow({ dsl: TWICE, options: { runId: "left" } })) {
    if (event.kind === "run.paused") break;
  }
  await first.close();
  const again = await local({ store: dir, files: { root: files } });
  const before = await eventsOf(again.runEvents("left"));
  expect(before.at(-1)?.kind).toBe("run.paused");
  const answer = { runId: "left", confirmationId: "k1", decision: "approve" } as const;
  expect(await again.invoke("resolve_confirmation", answer)).toMatchObject({ by: "cli" });
  const log = await eventsOf(again.runEvents("left"));
  expect(log.slice(0, before.length)).toEqual(before);
  expect(log.at(-1)).toMatchObject({ kind: "summary", status: "succeeded" });
  expect(readFileSync(join(files, "first.txt"), "utf8")).toBe("x");
  expect(await refusal(again.invoke("resolve_confirmation", answer))).toMatchObject({
    code: "already_resolved",
    outcome: "approved",
  });
});

test("a run that was left is cancelled without doing anything more, and one whose called flow has changed goes on with that of its start", async () => {
  const dir = temporaryFolder();
  const files = temporaryFolder();
  const here = { store: dir, files: { root: files } };
  const first = await local(here);
  // The step is at work when the process goes.
  const waits = `flow 1 waits\n\nnode wait: delay {\n  for = 1h\n}\n\nnode then: file.write {\n  path = "then.txt"\n  content = "x"\n}\n\nwait -> then\n`;
  const calls = `flow 1 calls\n\nnode call: subflow {\n  flow = "child"\n}\n`;
  const child = 'flow 1 child\n\nnode ask: confirm {\n  prompt = "?"\n}\n';
  await first.invoke("save_template", { slug: "child", dsl: child });
  for (const [runId, dsl, last] of [
    ["left", waits, "node.waiting"],
    ["calls", calls, "confirm.requested"],
  ] as const) {
    for await (const event of first.runFlow({ dsl, options: { runId } })) {
      if (event.kind === last) break;
    }
  }
  await first.invoke("save_template", {
    slug: "child",
    dsl: child.replace("?", "Really?"),
    ifMatch: "*",
  });
  await first.close();
  const again = await local(here);
  await again.invoke("cancel_run", { runId: "left" });
  const log = await eventsOf(again.runEvents("left"));
  expect(log.at(-1)).toMatchObject({ kind: "summary", status: "cancelled" });
  expect(existsSync(join(files, "then.txt"))).toBe(false);
  // The flow that it calls is another one now; the run goes on with the one it was started with.
  await again.invoke("resolve_confirmation", {
    runId: "calls",
    confirmationId: "k1",
    decision: "approve",
  });
  expect((await eventsOf(again.runEvents("calls"))).at(-1)).toMatchObject({ status: "succeeded" });
});

test("where there is no store yet, an empty one is read, and nothing is made", async () => {
  const dir = join(temporaryFolder(), "none");
  const client = await local({ store: dir, readonly: true });
  expect(await client.invoke("list_runs", {})).toEqual({ items: [], nextCursor: null });
  expect(await refusal(client.invoke("save_template", { slug: "a", dsl: HELLO }))).toMatchObject({
    code: "store_read_only",
  });
  expect(existsSync(dir)).toBe(false);
});
