/** A server inside another program: its node types, its errors, and its own way to know who calls. */
import { defineNodeType, jsonSchema } from "@millrace/contracts";
import {
  type CreateServerOptions,
  createServer,
  type MillraceServer,
  start,
} from "@millrace/server";
import { expect, onTestFinished, test } from "vitest";
import { keepLog } from "./support/server.ts";

const total = defineNodeType({
  type: "shop.total",
  title: "Total",
  summary: "Adds up.",
  fields: jsonSchema<{ prices: number[] }>({ type: "object" }),
  output: jsonSchema<{ total: number }>({ type: "object" }),
  effect: "read",
  run: async ({ prices }, ctx) => {
    if (prices.length === 0) throw new RangeError("nothing in order 4711");
    const secret = await ctx.credentials.secret("shop").catch((error) => error.code);
    return { total: prices.reduce((sum, price) => sum + price, 0), secret };
  },
});

async function own(options: CreateServerOptions): Promise<MillraceServer> {
  const server = await createServer({ store: "memory", log: keepLog(), ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return server;
}

function ask({ app }: MillraceServer, path: string, init: RequestInit = {}): Promise<Response> {
  return Promise.resolve(app.fetch(new Request(`http://localhost${path}`, init)));
}

const running = (dsl: string): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ dsl }),
});

const flow = (prices: string): string =>
  `flow 1 shop\n\nnode a: shop.total {\n  prices = ${prices}\n}\n\noutput t: number = a.total\n`;

test("own node types are listed, checked and run with what the server has", async () => {
  const errors: unknown[] = [];
  const server = await own({
    nodeTypes: [total],
    onError: (error, { node, type }) => errors.push([error, node, type]),
  });
  const listed = await (await ask(server, "/api/nodes/shop.total")).json();
  expect(listed).toMatchObject({ type: "shop.total", title: "Total" });

  const done = await (await ask(server, "/api/run", running(flow("[1, 2]")))).text();
  expect(done).toContain('"outputs":{"t":3}');

  const failed = await (await ask(server, "/api/run", running(flow("[]")))).text();
  expect(failed).toContain("shop.total threw RangeError; its message is withheld");
  expect(failed).not.toContain("4711");
  expect(errors).toEqual([[new RangeError("nothing in order 4711"), "a", "shop.total"]]);
});

test("what is no node type, or is one twice, is refused by the name of the option", async () => {
  await expect(own({ nodeTypes: [total, total] })).rejects.toMatchObject({
    code: "option_invalid",
    message: expect.stringContaining('option "nodeTypes"'),
  });
  await expect(own({ nodeTypes: total as never })).rejects.toMatchObject({
    message: 'option "nodeTypes" must be a list of node types',
  });
  await expect(own({ onError: "log" as never })).rejects.toThrow('option "onError" must be');
});

const USERS: { readonly [name: string]: unknown } = {
  ada: { id: "ada", role: "admin" },
  bob: { id: "bob", role: "read" },
  eve: { id: "eve", role: "root" },
  mal: { id: "mal ory", role: "read" },
};

const caller = (request: Request): never => {
  const user = request.headers.get("x-user");
  if (user === "throws") throw new Error("the session store is down");
  return (user === null ? null : (USERS[user] ?? null)) as never;
};

test.each([
  ["ada", 200],
  ["bob", 403],
  ["nobody", 401],
  ["eve", 500],
  ["mal", 500],
  ["throws", 500],
])("%s is answered with %i, as the program around says", async (user, status) => {
  const server = await own({ caller });
  const headers = { "x-user": user, "content-type": "application/json" };
  const answer = await ask(server, "/api/run", { ...running("flow 1 x\n"), headers });
  const text = await answer.text();
  expect([answer.status, text.includes("session store")]).toEqual([status, false]);
});

test("a caller reads as its role allows, is named in the log, and is asked about no health", async () => {
  const log = keepLog();
  const server = await own({ log, caller: async (request) => caller(request) });
  expect((await ask(server, "/api/runs", { headers: { "x-user": "bob" } })).status).toBe(200);
  expect((await ask(server, "/api/runs")).status).toBe(401);
  expect((await ask(server, "/api/health")).status).toBe(200);
  const ids = log.lines.filter(({ message }) => message === "request");
  expect(ids.map(({ fields }) => (fields as { tokenId: unknown }).tokenId)).toEqual([
    "bob",
    null,
    null,
  ]);
  // Where the request comes from is still the server's own affair.
  const foreign = { "x-user": "ada", origin: "https://evil.example" };
  expect((await ask(server, "/api/runs", { headers: foreign })).status).toBe(403);
});

test("over a socket the caller sees the headers, and no token is needed for an open address", async () => {
  const log = keepLog();
  const server = await start({
    ...{ port: 0, host: "0.0.0.0", signals: false, store: "memory", log },
    caller,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const url = `http://127.0.0.1:${new URL(server.url).port}/api/runs`;
  expect((await fetch(url, { headers: { "x-user": "bob" } })).status).toBe(200);
  expect((await fetch(url)).status).toBe(401);
  expect(log.lines.map(({ message }) => message).join()).not.toContain("open:");
});

test("a caller and tokens do not go together", async () => {
  const tokens = ["0123456789abcdef"];
  await expect(own({ caller, tokens })).rejects.toMatchObject({ code: "option_invalid" });
  const server = await own({ caller });
  expect(() => server.app.reload({ tokens })).toThrow("does not go with tokens");
  server.app.reload({ allowedHosts: ["shop.example"] });
});
