/** What runs and their nodes were given, for anybody who may read. */
import { createClient } from "@millrace/client";
import type { JsonObject } from "@millrace/contracts";
import type { RunningServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { post, problemOf, serve } from "./support/server.ts";
import { readEvents, readUntil } from "./support/streams.ts";

const KEY = "a-long-secret-of-somebody";

const FLOW = `flow 1 given

input key {
  schema = { type: "string", writeOnly: true }
}
input rows: any = [1, 2]

node head: transform {
  value = { key: inputs.key, headers: { Authorization: "plain text" }, at: now() }
}

node each: map {
  items = inputs.rows
  body {
    node one: transform {
      value = { row: item, place: index }
    }
    output = one.value
  }
}

node hidden: transform {
  value = size(inputs.key)
}

node ask: ai {
  provider = "mock"
  modelId = "echo"
  input = "hello \${each.items[0].row}"
  system = "be short"
}

node open: ai {
  provider = "mock"
  modelId = "echo"
  input = "hello \${each.items[0].row}"
  auditContent = "full"
}

node wait: confirm {
  prompt = "Go on?"
}
head -> wait
each -> wait
hidden -> wait
ask -> wait
open -> wait
`;

async function waiting(server: RunningServer, inputs: JsonObject = {}) {
  const client = createClient({ url: server.url });
  const { runId } = await client.invoke("start_run", {
    dsl: FLOW,
    inputs: { key: KEY, ...inputs },
  });
  await readUntil(await fetch(`${server.url}/api/runs/${runId}/events`), "run.paused");
  const end = async () => {
    const answer = { runId, confirmationId: "k1", decision: "approve" } as const;
    await client.invoke("resolve_confirmation", answer);
    await readEvents(await fetch(`${server.url}/api/runs/${runId}/events`));
  };
  return { client, runId, end };
}

test("inputs are shown with their defaults and without secrets, of a live run and of one that has ended", async () => {
  const { client, runId, end } = await waiting(await serve());
  const shown = { inputs: { key: "[redacted]", rows: [1, 2] }, redacted: ["/key"] };
  expect(await client.invoke("get_run_inputs", { runId })).toEqual(shown);
  await end();
  expect(await client.invoke("get_run_inputs", { runId })).toEqual(shown);
});

test("fields of nodes are those of their attempts, and no answer has a secret in it", async () => {
  const { client, runId, end } = await waiting(await serve());
  const read = (node: string) => client.invoke("get_node_inputs", { runId, node });
  const nodes = ["head", "each", "each[0]/one", "each[1]/one", "hidden", "ask", "open", "wait"];
  const live = await Promise.all(nodes.map(read));
  expect(JSON.stringify(live)).not.toContain(KEY);
  const byNode = Object.fromEntries(nodes.map((node, at) => [node, live[at]]));
  expect(byNode["each"]).toMatchObject({ type: "map", attempt: 1, fields: { items: [1, 2] } });
  expect(byNode["each[1]/one"]).toEqual({
    type: "transform",
    attempt: 1,
    fields: { value: { row: 2, place: 1 } },
    redacted: [],
    absent: [],
  });
  expect(byNode["head"]).toMatchObject({ fields: {}, absent: ["value"] }); // a moment beside a secret
  expect(byNode["hidden"]).toMatchObject({ fields: {}, absent: ["value"] });
  expect(byNode["wait"]).toMatchObject({ fields: { prompt: "Go on?" } });
  await end();
  expect(await Promise.all(nodes.map(read))).toEqual(live);
});

test("what is named like a credential, and a secret in another input, are hidden as well", async () => {
  const { client, runId, end } = await waiting(await serve(), {
    rows: [{ headers: { "x-hub-token": "given" }, url: `https://x.example/?key=${KEY}` }],
  });
  const row = {
    headers: { "x-hub-token": "[redacted]" },
    url: "https://x.example/?key=[redacted]",
  };
  const shown = {
    inputs: { key: "[redacted]", rows: [row] },
    redacted: ["/key", "/rows/0/headers/x-hub-token", "/rows/0/url"],
  };
  expect(await client.invoke("get_run_inputs", { runId })).toEqual(shown);
  const one = await client.invoke("get_node_inputs", { runId, node: "each[0]/one" });
  expect(one.fields).toEqual({ value: { row, place: 0 } });
  await end();
  expect(await client.invoke("get_run_inputs", { runId })).toEqual(shown);
});

test("no prompt is shown where nothing of models is kept", async () => {
  const server = await serve();
  const { client, runId } = await waiting(server);
  const { etag } = await client.call("get_settings", {});
  const patch = { ai: { keepContent: false } };
  await client.invoke("update_settings", { patch, ifMatch: etag ?? "" });
  const open = await client.invoke("get_node_inputs", { runId, node: "open" });
  expect(open).toMatchObject({ fields: { input: "[redacted]", modelId: "echo" } });
});

test("prompts are shown where the flow lets its history keep them whole, and nowhere else", async () => {
  const { client, runId } = await waiting(await serve());
  const ask = await client.invoke("get_node_inputs", { runId, node: "ask" });
  expect(ask).toMatchObject({
    type: "ai",
    fields: { provider: "mock", input: "[redacted]", system: "[redacted]" },
    redacted: ["/system", "/input"],
  });
  const open = await client.invoke("get_node_inputs", { runId, node: "open" });
  expect(open).toMatchObject({ fields: { input: "hello 1" }, redacted: [] });
});

test("what did not begin is not found, and a text that is no path is refused", async () => {
  const server = await serve();
  const { client, runId } = await waiting(server);
  const of = (path: string) => fetch(`${server.url}/api/runs/${path}`);
  expect(await problemOf(await of("none/inputs"))).toMatchObject({ resource: "run" });
  expect(await problemOf(await of("none/nodes/inputs?node=ask"))).toMatchObject({
    resource: "run",
  });
  for (const args of [{ node: "nowhere" }, { node: "each[9]/one" }, { node: "ask", attempt: 2 }]) {
    const refused = client.invoke("get_node_inputs", { runId, ...args });
    await expect(refused).rejects.toMatchObject({ code: "not_found" });
  }
  const args = { runId, node: "each[0]" };
  const response = await post(server, "/api/invoke", { command: "get_node_inputs", args });
  expect(response.status).toBe(422);
});

const QUIET = `flow 1 quiet

input key {
  schema = { type: "string", writeOnly: true }
}
input url: string

node ask: ai {
  provider = "mock"
  modelId = "echo"
  input = "hello \${inputs.url}"
  auditContent = "none"
}

node after: transform {
  value = ask.text
}

node head: transform {
  value = { key: inputs.key, url: inputs.url }
}

node wait: confirm {
  prompt = "Go on?"
}
after -> wait
head -> wait
`;

test("a restart tells nothing more, and the end of a run takes away what it does not keep", async () => {
  const store = temporaryFolder();
  const first = await serve({ store });
  const inputs = { key: KEY, url: `https://x.example/?key=${KEY}` };
  const { runId } = await createClient({ url: first.url }).invoke("start_run", {
    dsl: QUIET,
    inputs,
  });
  await readUntil(await fetch(`${first.url}/api/runs/${runId}/events`), "run.paused");
  const shownBy = async ({ url }: RunningServer) => {
    const client = createClient({ url });
    const of = (node: string) => client.invoke("get_node_inputs", { runId, node });
    const { value: state } = await client.runEvents(runId, { snapshot: true }).next();
    const given = [
      await client.invoke("get_run_inputs", { runId }),
      await of("ask"),
      await of("head"),
    ];
    expect(JSON.stringify([given, state, await of("after")])).not.toContain(KEY);
    return { given, after: await of("after"), state: JSON.stringify(state) };
  };
  const before = await shownBy(first);
  expect(before.after.fields).toEqual({ value: "hello https://x.example/?key=[redacted]" });
  expect(before.state).toContain("hello https://x.example");
  await first.close({ graceMs: 0 });

  const second = await serve({ store });
  expect(await shownBy(second)).toEqual(before);
  await post(second, `/api/runs/${runId}/confirmations/k1`, { decision: "approve" });
  await readEvents(await fetch(`${second.url}/api/runs/${runId}/events`));
  const ended = await shownBy(second);
  expect(ended.given).toEqual(before.given);
  expect(ended.after).toMatchObject({ fields: {}, absent: ["value"] });
  const { nodes } = JSON.parse(ended.state).view as { nodes: { node: string }[] };
  const ask = JSON.stringify(nodes.find(({ node }) => node === "ask"));
  expect(ask).not.toContain("hello");
});
