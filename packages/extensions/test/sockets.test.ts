/** Connections that are no HTTP, from a process of an extension: each where the operator's policy permits, none elsewhere. */
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import {
  compileFlow,
  createEngine,
  createMemoryJournal,
  createRegistry,
  type Engine,
} from "@millrace/engine";
import { createNodeHost } from "@millrace/engine/node";
import { type Extensions, openExtensions } from "@millrace/extensions";
import {
  actionCode,
  adapterCode,
  extensionProject,
} from "@millrace/test-support/extension-project";
import { graphOf } from "@millrace/test-support/flows";
import { sharedFolder } from "@millrace/test-support/folder";
import { afterAll, beforeAll, expect, test } from "vitest";

/** Connects in ways that libraries have, and tells what the other side said. */
const BODY = `async ({ tries, port }) => ({ told: await Promise.all(tries.map(async ({ host, way = "call" }) => {
  const connect = { call: () => net.connect(port, host), options: () => net.connect({ host, port }),
    socket: () => new net.Socket().connect(port, host), single: () => net.connect({ host, port, autoSelectFamily: false }),
    path: () => net.connect({ path: "/tmp/x.sock" }), tls: () => tls.connect({ host, port }) };
  try {
    const socket = connect[way]();
    return await new Promise((done, fail) => {
      socket.once("data", (data) => { done(String(data) + " from " + socket.remoteAddress); socket.destroy(); });
      socket.once("error", fail);
    });
  } catch (error) { return error.code + ": " + error.message; }
})) })`;
const HEAD = 'import net from "node:net"; import tls from "node:tls";';

/** Names of this test, by the addresses that they have. */
const NAMES: Readonly<Record<string, string>> = {
  "db.example": "127.0.0.1",
  "inside.example": "10.0.0.7",
};

const project = sharedFolder();
let server: Server;
let port: number;
let extensions: Extensions;
let engine: Engine;
const asked: string[] = [];

beforeAll(async () => {
  server = createServer((socket) => socket.on("error", () => {}).end("hello"));
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  port = (server.address() as AddressInfo).port;
  const packageOf = (id: string, sockets: readonly string[]) => ({
    name: `@acme/${id}`,
    code: adapterCode(id, actionCode("go", BODY), HEAD),
    permissions: { sockets },
  });
  const packages = [
    packageOf("every", ["*"]),
    packageOf("one", ["other.example:5432"]),
    packageOf("none", []),
  ];
  await extensionProject(packages, project);
  const host = createNodeHost({
    resolve: async (name) => {
      asked.push(name);
      return [NAMES[name] ?? "192.0.2.1"];
    },
  });
  extensions = await openExtensions({
    project,
    list: ["@acme/every", "@acme/one", "@acme/none"],
    taken: { types: [] },
    data: join(project, "data"),
    openFetch: host.openFetch,
    openResolver: host.openResolver,
    egress: {
      allow: [
        { host: "db.example", port },
        { host: "127.0.0.1", port },
      ],
    },
    warn: () => {},
    times: { loadMs: 15_000 },
  });
  engine = createEngine({ host, journal: createMemoryJournal(), config: extensions.config });
});

afterAll(async () => {
  await engine?.close({ graceMs: 0 });
  await extensions?.close();
  server?.close();
});

/** What an extension is told by each try. */
async function connect(id: string, tries: readonly object[]): Promise<unknown> {
  const registry = createRegistry([...extensions.types]);
  const source = `node a: ${id}.go {\nport = ${port}\ntries = ${JSON.stringify(tries)}\n}\noutput told = a.told`;
  const compiled = await compileFlow(graphOf(source), { registry });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  return (await engine.run(compiled.plan).result).outputs["told"];
}

test("a socket goes to the addresses that the host found for its name, once for each connection", async () => {
  const ways = ["call", "options", "socket", "single"].map((way) => ({ host: "db.example", way }));
  const told = await connect("every", [...ways, { host: "127.0.0.1" }]);
  expect(told).toEqual(Array.from({ length: 5 }, () => "hello from 127.0.0.1"));
  expect(asked).toEqual(Array.from({ length: 4 }, () => "db.example"));
});

test("what the policy, the grant or the kind of a socket forbids is refused, and says by what", async () => {
  const told = await connect("every", [
    { host: "inside.example" },
    { host: "10.0.0.7", way: "options" },
    { host: "inside.example", way: "tls" },
    { host: "a b" },
    { way: "path" },
  ]);
  const denied = "the egress policy does not permit";
  const setting = "the operator can allow it with egress.allow";
  expect(told).toEqual([
    `egress_denied: private-address: ${denied} inside.example; ${setting}`,
    `egress_denied: private-address: ${denied} 10.0.0.7:${port}; ${setting}`,
    `egress_denied: private-address: ${denied} inside.example; ${setting}`,
    `egress_denied: url: a b:${port} is no host`,
    expect.stringMatching(/^permission_denied: .*"sockets"/),
  ]);
  const other = `db.example:${port} is not among the hosts granted to this extension`;
  expect(await connect("one", [{ host: "db.example" }])).toEqual([
    `egress_denied: not-granted: ${other}`,
  ]);
  expect(await connect("none", [{ host: "db.example" }])).toEqual([
    expect.stringMatching(/^permission_denied: /),
  ]);
});
