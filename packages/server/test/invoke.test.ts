/** The invoke bridge: the order of its checks, and its one shape of success. */
import { createApp, createServer } from "@millrace/server";
import { describe, expect, onTestFinished, test } from "vitest";
import { ASK_PLAINLY, HELLO } from "./support/flows.ts";
import { invoke, keepLog, post, problemOf, serve } from "./support/server.ts";

const READ = "0123456789abcdef-read";

describe("the body", () => {
  test.each([
    ["no object", [], ""],
    ["null", null, ""],
    ["no command", { args: {} }, "/command"],
    ["a command that is no text", { command: 1, args: {} }, "/command"],
    ["an empty command", { command: "", args: {} }, "/command"],
    ["a command of 129 characters", { command: "x".repeat(129), args: {} }, "/command"],
    ["a command with a control character", { command: "get\u0007meta", args: {} }, "/command"],
    ["no args", { command: "get_meta" }, "/args"],
    ["args that are a list", { command: "get_meta", args: [] }, "/args"],
    ["args that are null", { command: "get_meta", args: null }, "/args"],
    ["a member that is not known", { command: "get_meta", args: {}, id: 1 }, "/id"],
  ])("with %s is refused", async (_name, body, pointer) => {
    const server = await serve();
    const response = await post(server, "/api/invoke", body);
    expect(response.status).toBe(422);
    expect(await problemOf(response)).toMatchObject({
      code: "invalid_args",
      errors: [{ pointer }],
    });
  });
});

test("a name that only a prototype has is not wired", async () => {
  const server = await serve();
  for (const command of ["constructor", "__proto__", "toString"]) {
    const response = await post(server, "/api/invoke", { command, args: {} });
    expect(response.status).toBe(501);
  }
});

test("shape comes before wired, wired before role, role before arguments", async () => {
  const server = await serve({ tokens: [`reader:read:${READ}`] });
  const ask = async (body: unknown) => {
    const response = await post(server, "/api/invoke", body, {
      headers: { authorization: `Bearer ${READ}` },
    });
    return (await problemOf(response)).code;
  };
  expect(await ask({ command: "install_model", args: [] })).toBe("invalid_args");
  expect(await ask({ command: "install_model", args: { none: 1 } })).toBe("command_not_wired");
  expect(await ask({ command: "cancel_run", args: { none: 1 } })).toBe("forbidden");
  expect(await ask({ command: "get_run", args: { none: 1 } })).toBe("invalid_args");
});

test("success is 200 with the result verbatim, whatever the status of the route", async () => {
  const server = await serve();
  const ref = await invoke<{ runId: string; status: string }>(server, "start_run", { dsl: HELLO });
  expect(ref).toEqual({
    runId: expect.stringMatching(/^run_[0-9A-HJKMNP-TV-Z]{26}$/),
    status: "pending",
  });
  const routed = await post(server, "/api/runs", { dsl: HELLO });
  expect(routed.status).toBe(202);
  const body = (await routed.json()) as { runId: string };
  expect(routed.headers.get("location")).toBe(`/api/runs/${body.runId}`);
});

test("run_flow by name starts a run that nobody has to stay for", async () => {
  const server = await serve();
  const { runId } = await invoke<{ runId: string }>(server, "run_flow", { dsl: ASK_PLAINLY });
  const run = await invoke<{ status: string }>(server, "get_run", { runId });
  expect(["running", "paused"]).toContain(run.status);
});

test("an entity tag comes with the answer of either way", async () => {
  const server = await serve();
  const routed = await fetch(`${server.url}/api/nodes/transform`);
  const named = await post(server, "/api/invoke", {
    command: "get_node",
    args: { type: "transform" },
  });
  const etag = routed.headers.get("etag");
  expect(etag).toMatch(/^"[A-Za-z0-9_-]{22}"$/);
  expect(named.headers.get("etag")).toBe(etag);
  const again = await fetch(`${server.url}/api/nodes/transform`, {
    headers: { "if-none-match": etag ?? "" },
  });
  expect(again.status).toBe(304);
});

test("invoke without HTTP passes the same checks", async () => {
  const { app, host, close } = await createServer({ store: "memory", log: keepLog() });
  onTestFinished(() => close({ graceMs: 0 }));
  const caller = { tokenId: null, role: "read", requestId: "r", remote: null } as const;
  expect(await app.invoke("get_meta", {}, caller)).toMatchObject({ name: "millrace" });
  await expect(app.invoke("start_run", { dsl: HELLO }, caller)).rejects.toMatchObject({
    code: "forbidden",
  });
  await expect(app.invoke("no_such", {}, caller)).rejects.toMatchObject({
    code: "command_not_wired",
  });
  const narrowed = createApp({ ...host, commands: new Map() });
  await expect(narrowed.invoke("get_meta", {}, caller)).rejects.toMatchObject({
    code: "command_not_wired",
  });
});

test("a fault of a handler is told by its request id alone", async () => {
  const log = keepLog();
  const { app, host, close } = await createServer({ store: "memory", log });
  onTestFinished(() => close({ graceMs: 0 }));
  const broken = createApp({
    ...host,
    commands: new Map([
      [
        "get_meta",
        () => {
          throw new Error("the secret reason");
        },
      ],
    ]),
  });
  const response = await broken.fetch(new Request("http://localhost/api/meta"));
  expect(response.status).toBe(500);
  const problem = await problemOf(response);
  expect(problem).toMatchObject({
    code: "internal",
    requestId: response.headers.get("x-request-id"),
  });
  expect(JSON.stringify(problem)).not.toContain("secret");
  expect(log.lines).toContainEqual(
    expect.objectContaining({
      level: "error",
      fields: expect.objectContaining({ requestId: problem.requestId }),
    }),
  );
  expect((await app.fetch(new Request("http://localhost/api/health"))).status).toBe(200);
});
