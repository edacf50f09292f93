/**
 * The command table, row by row: what is wired answers over its route as it does by its name, and refuses what it must; what
 * is not answers 501. A command that becomes wired needs a good call in `support/fixtures.ts`.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CommandDef, CommandEffect, CommandName } from "@millrace/contracts";
import { COMMANDS } from "@millrace/contracts/commands";
import { memoryCredentialStore } from "@millrace/oauth/store/memory";
import { startFakeAuthorizationServer } from "@millrace/oauth/testing";
import { coreHandlers, type RunningServer, start } from "@millrace/server";
import { tinyGguf } from "@millrace/test-support/gguf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLIENT, oauth2, service } from "./connections/support.ts";
import { FIXTURES, HUB, type World } from "./support/fixtures.ts";
import { HELLO } from "./support/flows.ts";
import { writeHub } from "./support/hubs.ts";
import { restRequest } from "./support/rest.ts";
import { keepLog, problemOf } from "./support/server.ts";
import { frames, readUntil } from "./support/streams.ts";

const TOKENS = {
  read: "0123456789abcdef-read",
  run: "0123456789abcdef-run",
  admin: "0123456789abcdef-admin",
};
type Role = keyof typeof TOKENS;

/** The strongest role that does not cover an effect; none for reading. */
const TOO_LOW: { readonly [E in CommandEffect]: Role | undefined } = {
  read: undefined,
  run: "read",
  write: "run",
  admin: "run",
};
/** Commands that a stream answers over HTTP. */
const streams = (command: CommandDef): boolean => command.http?.media === "text/event-stream";
/** Streams that have no handler besides. */
const STREAMED = ["run_flow", "get_run_events", "subscribe_events", "subscribe_models"];
/** Commands on models, which are wired where models are managed. */
const isOfModels = ({ http }: CommandDef): boolean =>
  /^\/api\/(?:models|engines)/.test(http?.path ?? "");

let server: RunningServer;
let world: World;
const ends: (() => Promise<void>)[] = [];

beforeAll(async () => {
  const auth = await startFakeAuthorizationServer({});
  const dir = await mkdtemp(join(tmpdir(), "millrace-hub-"));
  await writeHub(dir, { hello: HELLO });
  const models = await mkdtemp(join(tmpdir(), "millrace-models-"));
  const modelFile = join(models, "tiny.gguf");
  await writeFile(modelFile, tinyGguf());
  // What is fetched of it never comes; an engine is not there.
  const slow = createServer((request, response) => {
    if (request.url !== "/slow.gguf") response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => slow.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  server = await start({
    port: 0,
    signals: false,
    store: "memory",
    log: keepLog(),
    tokens: Object.entries(TOKENS).map(([role, token]) => `${role}:${role}:${token}`),
    services: [service("tracker", oauth2(auth)), service("mail", { scheme: "bearer" })],
    credentials: { store: memoryCredentialStore({ "client:tracker": CLIENT }) },
    egress: { allow: [{ cidr: "127.0.0.0/8" }] },
    hubs: [{ id: HUB, dir }],
    models: { dir: join(models, "models"), registryUrl: origin },
  });
  ends.push(
    () => server.close({ graceMs: 0 }),
    () => auth.close(),
    () => rm(dir, { recursive: true }),
    () => rm(models, { recursive: true }),
    async () => void slow.close().closeAllConnections(),
  );
  let count = 0;
  world = {
    modelFile,
    slowUrl: `${origin}/slow.gguf`,
    async invoke(command, args) {
      const response = await byName(command, args, "admin");
      const text = await response.text();
      if (response.status !== 200) throw new Error(`${command}: ${text}`);
      return JSON.parse(text);
    },
    fresh(prefix) {
      count += 1;
      return `${prefix}-${count}`;
    },
    async until(runId, kind) {
      const { path, init } = restRequest(of("get_run_events"), { runId });
      await readUntil(await send(path, init, "admin"), kind);
    },
  };
});

afterAll(async () => {
  for (const end of ends) await end();
});

function of(name: string): CommandDef {
  return COMMANDS.get(name) as CommandDef;
}

function send(path: string, init: RequestInit, role: Role | undefined): Promise<Response> {
  const authorization = role === undefined ? {} : { authorization: `Bearer ${TOKENS[role]}` };
  return fetch(server.url + path, { ...init, headers: { ...init.headers, ...authorization } });
}

function byName(command: string, args: object, role: Role | undefined): Promise<Response> {
  const body = JSON.stringify({ command, args });
  const headers = { "content-type": "application/json" };
  return send("/api/invoke", { method: "POST", headers, body }, role);
}

function byRoute(command: CommandDef, args: object, role: Role | undefined): Promise<Response> {
  const { path, init } = restRequest(command, args as { [name: string]: unknown });
  return send(path, init, role);
}

function fixture(name: string): Promise<object> {
  const make = FIXTURES[name as CommandName];
  if (make === undefined) throw new Error(`${name} is wired, but no good call of it is known`);
  return Promise.resolve(make(world));
}

/** What a value is made of; the values themselves differ from one call to the next. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))];
  if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
  const entries = Object.entries(value).map(([name, member]) => [name, shapeOf(member)] as const);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}

const isWired = (name: string): boolean =>
  coreHandlers.has(name) || STREAMED.includes(name) || isOfModels(of(name));
const rows = [...COMMANDS.values()].map((command) => [command.name, command] as const);
const wired = rows.filter(([name]) => isWired(name));
const whole = wired.filter(([, command]) => !streams(command));

test("the server says itself which commands are wired", async () => {
  const meta = await world.invoke<{ commands: { wired: string[]; unwired: string[] } }>(
    "get_meta",
    {},
  );
  const seen = meta.commands.wired.filter((name) => !STREAMED.includes(name));
  const known = rows.map(([name]) => name).filter(isWired);
  expect(seen).toEqual(known.filter((name) => !STREAMED.includes(name)).sort());
  expect([...meta.commands.wired, ...meta.commands.unwired].sort()).toEqual(
    rows.map(([name]) => name).sort(),
  );
  const list = await world.invoke<{ name: string; wired: boolean }[]>("list_commands", {});
  expect(list.map(({ name }) => name)).toEqual(rows.map(([name]) => name));
  const listed = list.filter((command) => command.wired).map(({ name }) => name);
  expect(listed.sort()).toEqual(meta.commands.wired);
});

test("no two commands share a route without a query key that tells them apart", () => {
  const routes = rows.map(([, { http }]) => `${http?.method} ${http?.path} ${http?.when?.query}`);
  expect(new Set(routes).size).toBe(routes.length);
});

describe("a good call", () => {
  test.each(whole)("of %s gives the same over its route and by its name", async (name, command) => {
    const args = await fixture(name);
    const first = await byRoute(command, args, "admin");
    const bytes = Buffer.from(await first.arrayBuffer());
    const { http, effect } = command;
    expect([http?.status, ...(http?.alsoStatus ?? [])], bytes.toString()).toContain(first.status);
    // What only reads is asked the same again; what changes something gets something new to change.
    const again = await byName(name, effect === "read" ? args : await fixture(name), "admin");
    expect(again.status, name).toBe(200);
    const result = await again.json();
    if (first.status === 204) expect(result).toBeNull();
    else if (http?.media === "application/octet-stream") {
      expect(bytes.toString("base64")).toBe((result as { base64: string }).base64);
    } else {
      const value: unknown = JSON.parse(bytes.toString());
      if (effect === "read") expect(result).toEqual(value);
      else expect(shapeOf(result)).toEqual(shapeOf(value));
    }
    if (effect === "read") expect(again.headers.get("etag")).toBe(first.headers.get("etag"));
  });

  test("of run_flow streams its run, and starts one by name", async () => {
    const args = await fixture("run_flow");
    const streamed = await byRoute(of("run_flow"), args, "admin");
    expect(streamed.headers.get("content-type")).toBe("text/event-stream");
    expect((await readUntil(streamed, "summary")).at(-1)).toMatchObject({ status: "succeeded" });
    expect(await world.invoke("run_flow", args)).toEqual({
      runId: expect.stringMatching(/^run_/),
      status: expect.any(String),
    });
  });

  test("of get_run_events gives the same events, as a stream and as a page", async () => {
    const args = await fixture("get_run_events");
    const events: unknown[] = [];
    for await (const { event } of frames(await byRoute(of("get_run_events"), args, "admin"))) {
      events.push(event);
    }
    const page = await world.invoke<{ items: unknown[] }>("get_run_events", args);
    expect(page.items).toEqual(events);
    expect(events.length).toBeGreaterThan(2);
  });
});

describe("arguments that are not known", () => {
  test.each(wired)("are refused by %s, over its route and by its name", async (name, command) => {
    const bad = { ...(await fixture(name)), "no-such-argument": 1 };
    for (const response of [
      await byRoute(command, bad, "admin"),
      await byName(name, bad, "admin"),
    ]) {
      expect(response.status).toBe(422);
      const { code, errors = [] } = await problemOf(response);
      expect(code).toBe("invalid_args");
      expect(JSON.stringify(errors)).toMatch(/no-such-argument|unrecognized_key/);
    }
  });
});

describe("without a token", () => {
  test.each(rows)("%s is refused, over its route and by its name", async (name, command) => {
    const { path, init } = placeholder(command);
    for (const response of [await send(path, init, undefined), await byName(name, {}, undefined)]) {
      expect(response.status).toBe(401);
      expect((await problemOf(response)).code).toBe("unauthorized");
    }
  });
});

describe("a role that is too low", () => {
  const limited = wired.filter(([, { effect }]) => TOO_LOW[effect] !== undefined);

  test.each(limited)("is refused by %s, whatever the arguments are", async (name, command) => {
    const role = TOO_LOW[command.effect];
    const { path, init } = placeholder(command);
    for (const response of [await send(path, init, role), await byName(name, {}, role)]) {
      expect(response.status).toBe(403);
      expect((await problemOf(response)).code).toBe("forbidden");
    }
  });

  test("is one that a read token does not have for reading", async () => {
    for (const [name, { effect }] of whole) {
      if (effect !== "read") continue;
      expect((await byName(name, {}, "read")).status, name).not.toBe(403);
    }
  });
});

describe("a command that is not wired", () => {
  const unwired = rows.filter(([name]) => !isWired(name));

  test("is none of those that a good call is known of", () => {
    expect(Object.keys(FIXTURES).filter((name) => !isWired(name))).toEqual([]);
  });

  test.each(unwired)("%s answers 501", async (name, command) => {
    const { path, init } = placeholder(command);
    for (const response of [await byName(name, {}, "admin"), await send(path, init, "admin")]) {
      expect(response.status).toBe(501);
      expect((await problemOf(response)).code).toBe("command_not_wired");
    }
  });

  test("is like a name that nobody has", async () => {
    expect((await byName("no_such_command", {}, "admin")).status).toBe(501);
  });
});

/** A request to a route that no schema would take. */
function placeholder({ http }: CommandDef): { path: string; init: RequestInit } {
  const query = http?.when === undefined ? "" : `?${http.when.query}=x`;
  const path = (http?.path ?? "").replace(/:\w+/g, "x") + query;
  return { path, init: { method: http?.method ?? "GET" } };
}
