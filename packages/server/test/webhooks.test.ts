/** Webhooks: who may call, what a run gets, and what is never let in. */
import { readdirSync, readFileSync } from "node:fs";
import type { NewWebhook, Page, Webhook } from "@millrace/contracts";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { temporaryFolder } from "@millrace/test-support/folder";
import { describe, expect, test } from "vitest";
import { createTestClock } from "./support/clock.ts";
import { HELLO } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, sendRaw, serve } from "./support/server.ts";
import {
  call,
  createHook,
  ECHO,
  received,
  runs,
  SECRET,
  START,
  serveHooks,
} from "./support/webhooks.ts";

describe("the commands", () => {
  test("tell the token once; a list and the database have it not", async () => {
    const dir = temporaryFolder();
    const server = await serveHooks({ store: dir });
    const args = { template: "echo", input: "call", secret: SECRET, headers: ["x-event"] };
    const create = () =>
      post(server, "/api/webhooks", args, { headers: { "idempotency-key": "k" } });
    const response = await create();
    expect(response.status).toBe(201);
    const { token, ...webhook } = (await response.json()) as NewWebhook;
    expect(token).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(webhook).toEqual({
      id: expect.stringMatching(/^whk_[0-9A-HJKMNP-TV-Z]{26}$/),
      template: "echo",
      input: "call",
      secret: true,
      headers: ["x-event"],
      enabled: true,
    });
    expect(await invoke<Page<Webhook>>(server, "list_webhooks", {})).toEqual({
      items: [webhook],
      nextCursor: null,
    });
    // Asked again with its key, the token stays untold.
    const again = await create();
    expect(again.status).toBe(409);
    expect(await problemOf(again)).toMatchObject({ code: "already_exists", webhookId: webhook.id });
    await server.close();
    const bytes = readdirSync(dir, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => readFileSync(`${dir}/${name}`, "latin1"));
    expect(bytes.join("")).toContain(webhook.id);
    for (const secret of [token, SECRET]) expect(bytes.join("")).not.toContain(secret);
  });

  test("refuse a template that is not there, and one that cannot be called so", async () => {
    const server = await serveHooks();
    await invoke(server, "save_template", { slug: "hello", dsl: HELLO });
    const two = ECHO.replace("input call: object", "input call: object\n\ninput other: string");
    await invoke(server, "save_template", { slug: "two", dsl: two });
    const create = (template: string, input: string) =>
      post(server, "/api/webhooks", { template, input });
    const missing = await create("none", "call");
    expect([missing.status, (await problemOf(missing)).code]).toEqual([404, "not_found"]);
    for (const refused of [await create("hello", "call"), await create("two", "call")]) {
      expect(refused.status).toBe(422);
      expect((await problemOf(refused)).code).toBe("input_invalid");
    }
    const headers = ["cookie"];
    const args = { template: "echo", input: "call", headers };
    expect((await post(server, "/api/webhooks", args)).status).toBe(422);
  });

  test("delete a webhook and its key; a template that one uses stays", async () => {
    const store = memoryCredentialStore();
    const server = await serveHooks({ credentials: { store } });
    const { id, token } = await createHook(server, { secret: SECRET });
    expect(await store.get(`webhook:${id}`)).toBe(SECRET);
    const inUse = await post(server, "/api/invoke", {
      command: "delete_template",
      args: { slug: "echo", ifMatch: "*" },
    });
    expect((await problemOf(inUse)).code).toBe("in_use");
    const url = `${server.url}/api/webhooks/${id}`;
    expect((await fetch(url, { method: "DELETE" })).status).toBe(204);
    expect(await store.list?.()).toEqual([]);
    expect((await fetch(url, { method: "DELETE" })).status).toBe(404);
    expect((await call(server, token)).status).toBe(404);
  });

  test("keep no webhook whose key cannot be kept", async () => {
    const broken = {
      ...memoryCredentialStore(),
      set: () => Promise.reject(new Error("the keyring is locked")),
    };
    const server = await serveHooks({ credentials: { store: broken } });
    const args = { template: "echo", input: "call", secret: SECRET };
    const response = await post(server, "/api/webhooks", args);
    expect(response.status).toBe(503);
    expect((await problemOf(response)).code).toBe("credential_store_unavailable");
    expect(await invoke(server, "list_webhooks", {})).toMatchObject({ items: [] });
  });
});

describe("a call", () => {
  test("starts a run that gets method, query, headers and body, and nothing of the caller's choice", async () => {
    const server = await serveHooks();
    const { id, token } = await createHook(server, {
      headers: ["x-event", "x-absent", "constructor"],
    });
    const response = await call(server, `${token}?a=1&b=2&a=3`, {
      body: JSON.stringify({ graph: {}, options: { confirm: "approve" }, n: [1, null] }),
      headers: {
        "content-type": "application/json; charset=utf-8",
        "user-agent": "caller/1",
        "x-event": "push",
        "x-other": "no",
        authorization: "Bearer stolen",
        cookie: "a=b",
      },
    });
    expect(await received(server, response)).toEqual({
      method: "POST",
      query: { a: ["1", "3"], b: "2" },
      headers: {
        "content-type": "application/json; charset=utf-8",
        "user-agent": "caller/1",
        "x-event": "push",
      },
      body: { graph: {}, options: { confirm: "approve" }, n: [1, null] },
    });
    expect((await runs(server)).items).toMatchObject([
      {
        trigger: "webhook",
        source: { webhookId: id },
        template: { slug: "echo", version: 1 },
      },
    ]);
  });

  test.each<[string, string | undefined, string | undefined, unknown]>([
    [
      "a form",
      "a=1&b=x+y&a=2&c=",
      "application/x-www-form-urlencoded",
      { a: ["1", "2"], b: "x y", c: "" },
    ],
    ["text", "Grüße\n", "text/plain;charset=UTF-8", "Grüße\n"],
    ["JSON that is no object", "[1,2]", "application/json", [1, 2]],
    ["nothing", undefined, undefined, null],
  ])("may carry %s", async (_what, body, type, wanted) => {
    const server = await serveHooks();
    const { token } = await createHook(server);
    const headers = type === undefined ? {} : { "content-type": type };
    const response = await call(server, token, { headers, ...(body !== undefined && { body }) });
    expect(await received(server, response)).toMatchObject({ body: wanted });
  });

  const JSON_TYPE = "application/json";
  const FORM = "application/x-www-form-urlencoded";
  test.each<[string, string | Buffer, string, string, string?]>([
    ["another type", "<a/>", "text/xml", "415 unsupported_media_type"],
    ["another charset", "a", "text/plain; charset=latin1", "415 unsupported_media_type"],
    ["compressed bytes", "a", "text/plain", "415 unsupported_media_type", "gzip"],
    ["no UTF-8", Buffer.from([0xff, 0xfe]), "text/plain", "415 unsupported_media_type"],
    ["broken JSON", "{", JSON_TYPE, "400 bad_json"],
    ["deep JSON", "[".repeat(300), JSON_TYPE, "400 json_too_deep"],
    ["a prototype", '{"__proto__":1}', JSON_TYPE, "422 invalid_args"],
    ["a prototype in a form", "__proto__=1", FORM, "422 invalid_args"],
    ["too much", "x".repeat(262_145), "text/plain", "413 body_too_large"],
  ])("with %s is refused", async (_what, body, type, refusal, coding) => {
    const server = await serveHooks();
    const { token } = await createHook(server);
    const headers = { "content-type": type, ...(coding && { "content-encoding": coding }) };
    const response = await call(server, token, { body, headers });
    expect(`${response.status} ${(await problemOf(response)).code}`).toBe(refusal);
    expect((await runs(server)).items).toEqual([]);
  });

  test("of the largest size is taken", async () => {
    const server = await serveHooks();
    const { token } = await createHook(server);
    const headers = { "content-type": "text/plain" };
    const response = await call(server, token, { body: "x".repeat(262_144), headers });
    expect(response.status).toBe(202);
  });

  test("needs no token of the server, but its Host and Origin count", async () => {
    const server = await serve({
      webhooks: true,
      tokens: ["0123456789abcdef"],
      credentials: { store: "memory" },
    });
    const headers = { authorization: "Bearer 0123456789abcdef" };
    const command = (name: string, args: object) =>
      post(server, "/api/invoke", { command: name, args }, { headers });
    await command("save_template", { slug: "echo", dsl: ECHO });
    const made = await command("create_webhook", { template: "echo", input: "call" });
    const { token } = (await made.json()) as NewWebhook;
    expect((await call(server, token)).status).toBe(202);
    const foreign = { headers: { origin: "https://evil.example" } };
    expect((await call(server, token, foreign)).status).toBe(403);
    const raw = [
      "POST",
      `/hooks/${token}`,
      "HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 0\r\n\r\n",
    ];
    expect((await sendRaw(server, raw.join(" "))).status).toBe(403);
    expect((await fetch(`${server.url}/hooks/${token}`)).status).toBe(405);
  });

  test("is answered alike when it is unknown, disabled, or webhooks are off", async () => {
    const dir = temporaryFolder();
    const first = await serveHooks({ store: dir });
    const { token } = await createHook(first);
    const disabled = await createHook(first, { enabled: false });
    const texts = new Set<string>();
    const remember = async (response: Response) => {
      expect(response.status).toBe(404);
      const { requestId: _, ...problem } = await problemOf(response);
      const headers = Object.fromEntries(response.headers);
      // The id of a request is in the body as well, and is of another length in another process.
      for (const name of ["x-request-id", "date", "content-length"]) delete headers[name];
      texts.add(JSON.stringify([problem, headers]));
    };
    const body = { body: "{", headers: { "content-type": "application/json" } };
    await remember(await call(first, disabled.token, body));
    await remember(await call(first, "unknown", body));
    await first.close();
    const off = await serve({ store: dir });
    await remember(await call(off, token, body));
    await remember(await call(off, "unknown", body));
    expect(texts.size).toBe(1);
    expect(await invoke(off, "get_meta", {})).toMatchObject({ features: { webhooks: false } });
    await off.close();
    const on = await serve({ store: dir, webhooks: true });
    expect((await call(on, token)).status).toBe(202);
    expect(await invoke(on, "get_meta", {})).toMatchObject({
      features: { webhooks: true },
      limits: { maxWebhookBytes: 262_144 },
    });
  });

  test.each([
    ["true", true],
    ["0", false],
  ])("is let in when the environment says %s: %s", async (text, isOpen) => {
    const server = await serve({
      env: { MILLRACE_SERVE_WEBHOOKS: text },
      credentials: { store: "memory" },
    });
    await invoke(server, "save_template", { slug: "echo", dsl: ECHO });
    const { token } = await createHook(server);
    expect((await call(server, token)).status).toBe(isOpen ? 202 : 404);
  });

  test("may come sixty times a minute", async () => {
    const clock = createTestClock(START);
    const server = await serveHooks({ clock });
    const [one, other] = [await createHook(server), await createHook(server)];
    const statuses: number[] = [];
    for (let i = 0; i < 61; i += 1) statuses.push((await call(server, one.token)).status);
    expect(statuses.filter((status) => status === 202)).toHaveLength(60);
    const refused = await call(server, one.token);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect((await problemOf(refused)).code).toBe("too_many_requests");
    expect((await call(server, other.token)).status).toBe(202);
    clock.set(1_000);
    expect((await call(server, one.token)).status).toBe(202);
    expect((await call(server, one.token)).status).toBe(429);
  });

  test("with an idempotency key starts one run", async () => {
    const dir = temporaryFolder();
    const first = await serveHooks({ store: dir });
    const { token } = await createHook(first);
    const other = await createHook(first);
    const json = (n: number) => ({
      body: JSON.stringify({ n }),
      headers: { "content-type": "application/json", "idempotency-key": "k" },
    });
    const started = await call(first, token, json(1));
    const { runId } = (await started.json()) as { runId: string };
    await first.close();
    const server = await serve({ store: dir, webhooks: true });
    const replayed = await call(server, token, json(1));
    expect([replayed.status, replayed.headers.get("idempotent-replayed")]).toEqual([202, "true"]);
    expect(await replayed.json()).toEqual({ runId });
    const changed = await call(server, token, json(2));
    expect((await problemOf(changed)).code).toBe("idempotency_mismatch");
    expect((await call(server, other.token, json(2))).status).toBe(202);
    expect((await runs(server)).items).toHaveLength(2);
  });

  test("is refused while the server drains", async () => {
    const server = await serveHooks();
    const { token } = await createHook(server);
    const drained = server.app.drain({ graceMs: 0 });
    const response = await call(server, token);
    expect([response.status, (await problemOf(response)).code]).toEqual([503, "draining"]);
    await drained;
  });

  test("is logged without its token", async () => {
    const log = keepLog();
    const server = await serveHooks({ log });
    const { token } = await createHook(server);
    await call(server, token);
    const text = JSON.stringify(log.lines);
    expect(text).toContain("/hooks/:token");
    expect(text).not.toContain(token);
  });
});
