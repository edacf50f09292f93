/** The settings document: strict, patched by merge, and in force for the runs after it. */
import type { AnyEvent, Page, Run, Settings } from "@millrace/contracts";
import { settingsSchema } from "@millrace/contracts/schemas";
import { createServer, type RunningServer } from "@millrace/server";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, SLEEP } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

const DEFAULTS = settingsSchema.parse({});

function patch(
  server: RunningServer,
  body: unknown,
  headers: Record<string, string> = { "if-match": "*" },
): Promise<Response> {
  return post(server, "/api/settings", body, { method: "PATCH", headers });
}

async function patched(server: RunningServer, body: object): Promise<Settings> {
  const response = await patch(server, body);
  expect(response.status).toBe(200);
  return (await response.json()) as Settings;
}

test("a fresh server has the defaults, and says what may be set", async () => {
  const server = await serve();
  const response = await fetch(`${server.url}/api/settings`);
  expect(await response.json()).toEqual(DEFAULTS);
  expect(response.headers.get("etag")).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  const schema = await (await fetch(`${server.url}/api/settings/schema`)).json();
  expect(schema).toMatchObject({
    type: "object",
    additionalProperties: false,
    properties: { run: { properties: { concurrency: { type: "integer", default: 16 } } } },
  });
});

describe("a patch", () => {
  test("changes what it names and nothing else, and null goes back to the default", async () => {
    const server = await serve();
    const first = await patched(server, {
      run: { timeoutMs: 5_000, confirm: "approve" },
      ai: { defaultModels: { a: "x", b: "y" } },
    });
    expect(first).toEqual({
      ...DEFAULTS,
      run: { ...DEFAULTS.run, timeoutMs: 5_000, confirm: "approve" },
      ai: { ...DEFAULTS.ai, defaultModels: { a: "x", b: "y" } },
    });
    const second = await patched(server, {
      run: { confirm: null },
      ai: { defaultModels: { a: null, c: "z" } },
    });
    expect(second.run).toEqual({ ...DEFAULTS.run, timeoutMs: 5_000 });
    expect(second.ai.defaultModels).toEqual({ b: "y", c: "z" });
    expect(await patched(server, { run: null, ai: null })).toEqual(DEFAULTS);
    expect(await (await fetch(`${server.url}/api/settings`)).json()).toEqual(DEFAULTS);
  });

  test.each([
    ["an unknown member", { run: { shell: true } }, "/run/shell"],
    ["what an operator alone may set", { egress: { allow: [] } }, "/egress"],
    ["a value of another type", { run: { concurrency: "many" } }, "/run/concurrency"],
    ["a value out of range", { ai: { circuit: { failures: 0 } } }, "/ai/circuit/failures"],
    ["a list in the place of an object", { retention: [] }, "/retention"],
    ["a member of a prototype", { run: { constructor: { prototype: 1 } } }, "/run/constructor"],
  ])("with %s is refused whole", async (_name, body, pointer) => {
    const server = await serve();
    const response = await patch(server, { run: { concurrency: 2 }, ...body });
    expect(response.status).toBe(422);
    expect(await problemOf(response)).toMatchObject({
      code: "value_invalid",
      errors: [{ pointer }],
    });
    expect(await (await fetch(`${server.url}/api/settings`)).json()).toEqual(DEFAULTS);
  });

  test("that is wrong in a thousand places is told of a hundred", async () => {
    const server = await serve();
    const wrong = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1]));
    expect((await problemOf(await patch(server, wrong))).errors).toHaveLength(100);
  });

  test("that is no object, or that has a key __proto__, is refused", async () => {
    const server = await serve();
    for (const body of [[], "x", 1]) {
      expect((await problemOf(await patch(server, body))).code).toBe("invalid_args");
    }
    const response = await fetch(`${server.url}/api/settings`, {
      method: "PATCH",
      headers: { "content-type": "application/merge-patch+json", "if-match": "*" },
      body: '{"run":{"__proto__":{"concurrency":1}}}',
    });
    expect((await problemOf(response)).code).toBe("invalid_args");
  });

  test("needs the tag of what it changes; the media type of merge patches is known", async () => {
    const server = await serve({ store: temporaryFolder() }); // where a write takes its time
    const { headers } = await fetch(`${server.url}/api/settings`);
    const etag = headers.get("etag") ?? "";
    const body = { run: { concurrency: 2 } };
    expect((await patch(server, body, {})).status).toBe(428);
    expect((await patch(server, body, { "if-match": '"x"' })).status).toBe(412);
    const answers = await Promise.all(
      [1, 2, 3].map((concurrency) =>
        patch(
          server,
          { run: { concurrency } },
          {
            "if-match": etag,
            "content-type": "application/merge-patch+json",
          },
        ),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412]);
  });
});

test("settings outlive the process", async () => {
  const dir = temporaryFolder();
  const first = await serve({ store: dir });
  const settings = await patched(first, { retention: { runDays: 7 } });
  await first.close({ graceMs: 0 });
  const second = await serve({ store: dir });
  expect(await invoke(second, "get_settings", {})).toEqual(settings);
});

test("what an older version has kept and this one does not take counts as not set", async () => {
  const { app, host, close } = await createServer({ store: "memory", log: keepLog() });
  onTestFinished(() => close({ graceMs: 0 }));
  const notify = { "notify.to": "https://ops.example/x", "notify.secret": { $secret: true } };
  const kept = { "run.concurrency": -1, "run.gone": 1, "run.timeoutMs": 9, ...notify };
  await host.store.settings.set(kept);
  const response = await app.fetch(new Request("http://localhost/api/settings"));
  expect(await response.json()).toEqual({
    ...DEFAULTS,
    run: { ...DEFAULTS.run, timeoutMs: 9 },
    notify: { ...DEFAULTS.notify, to: "https://ops.example/x", secret: { $secret: true } },
  });
});

describe("runs", () => {
  const start = async (server: RunningServer, request: object): Promise<Run> => {
    const response = await post(server, "/api/runs?waitMs=10000", request);
    const { runId } = (await response.json()) as Run;
    return invoke<Run>(server, "get_run", { runId });
  };

  test("take the time limit of the settings when neither request nor flow has one", async () => {
    const server = await serve();
    await patched(server, { run: { timeoutMs: 50 } });
    expect(await start(server, { dsl: SLEEP })).toMatchObject({
      summary: { error: { code: "run_timeout" } },
    });
    await patched(server, { run: { timeoutMs: 3_600_000 } });
    const timed = SLEEP.replace("flow 1 sleep", "flow 1 sleep {\n  @timeout = 50ms\n}");
    for (const request of [{ dsl: timed }, { dsl: SLEEP, options: { timeoutMs: 50 } }]) {
      const run = await start(server, request);
      expect(run).toMatchObject({ summary: { error: { code: "run_timeout" } } });
    }
  });

  const PROGRAM = 'shell.exec {\n  program = "node"\n  args = ["-e", ""]\n}\n';
  const PAIR = `flow 1 pair\n\nnode a: ${PROGRAM}\nnode b: ${PROGRAM}`;
  const SHELL = { shell: { programs: { node: process.execPath } } };
  const eventsOf = async (server: RunningServer, dsl: string): Promise<readonly AnyEvent[]> => {
    const { runId } = await start(server, { dsl });
    return (await invoke<Page<AnyEvent>>(server, "get_run_events", { runId })).items;
  };
  const order = (events: readonly AnyEvent[]): string[] =>
    events.flatMap((event) =>
      event.kind === "node.started" || event.kind === "node.succeeded"
        ? [`${event.node} ${event.kind.slice(5)}`]
        : [],
    );

  test("take how many nodes work at once, unless the flow says", async () => {
    const server = await serve(SHELL);
    await patched(server, { run: { concurrency: 1 } });
    const inTurn = ["a started", "a succeeded", "b started", "b succeeded"];
    expect(order(await eventsOf(server, PAIR))).toEqual(inTurn);
    const both = PAIR.replace("flow 1 pair", "flow 1 pair {\n  @concurrency = 2\n}");
    expect(order(await eventsOf(server, both)).slice(0, 2)).toEqual(["a started", "b started"]);
  });

  test("take what the first failure does, unless the flow says", async () => {
    const server = await serve(SHELL);
    await patched(server, { run: { onFailure: "finish" } });
    const stop = PAIR.replace("flow 1 pair", 'flow 1 pair {\n  @on-failure = "stop"\n}');
    expect((await eventsOf(server, PAIR))[0]).toMatchObject({ onFailure: "finish" });
    expect((await eventsOf(server, stop))[0]).toMatchObject({ onFailure: "stop" });
  });

  test("take the answer of the settings to confirmations, unless the request asks", async () => {
    const server = await serve();
    await patched(server, { run: { confirm: "reject" } });
    const run = await start(server, { dsl: ASK_PLAINLY });
    expect(run).toMatchObject({ status: "succeeded", confirmations: [{ status: "rejected" }] });
    const asked = await start(server, { dsl: ASK_PLAINLY, options: { confirm: "ask" } });
    expect(asked.status).toBe("paused");
  });
});

test("reading needs the role read, changing needs admin", async () => {
  const secret = "0123456789abcdef-run";
  const server = await serve({ tokens: [`runner:run:${secret}`] });
  const headers = { authorization: `Bearer ${secret}`, "if-match": "*" };
  expect((await fetch(`${server.url}/api/settings`, { headers })).status).toBe(200);
  expect((await patch(server, {}, headers)).status).toBe(403);
});
