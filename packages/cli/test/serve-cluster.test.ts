/** `millrace serve` as one of several servers. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { describeLongWith } from "@millrace/test-support";
import { sharedPostgres } from "@millrace/test-support/postgres";
import { expect, onTestFinished, test } from "vitest";
import { lastSummary, millrace, scratch, start, urlOf } from "./cli.ts";
import { inside } from "./inside.ts";

const KEY = Buffer.alloc(32, 5).toString("base64");
const HELLO = "flow 1 hello\n\nnode a: transform {\n  value = 2\n}\n\noutput two = a.value\n";

describeLongWith("postgres")("two servers", () => {
  test("share a store that the configuration names: what runs at one is read at the other", async () => {
    const { url } = await sharedPostgres();
    const env = { STORE_URL: `${url}?search_path=serve_${process.pid}`, STORE_KEY: KEY };
    const config = {
      store: { url: "env:STORE_URL", key: "env:STORE_KEY" },
      serve: { executor: "postgres" },
    };
    const cwd = scratch({ "millrace.json": JSON.stringify(config), "hello.flow": HELLO });
    const options = { cwd, env: { ...env, MILLRACE_TRUST_PROJECT: "1" } };
    const servers = [1, 2].map(() => {
      return start(["serve", "--port", "0", "--json", "--home", scratch()], options);
    });
    const [one = "", other = ""] = await Promise.all(servers.map(urlOf));
    const ran = await millrace(["run", "hello.flow", "--server", one, "--json"], options);
    expect(lastSummary(ran.stdout)).toMatchObject({ status: "succeeded", outputs: { two: 2 } });
    const listed = await millrace(["runs", "list", "--server", other, "--json"], options);
    expect(JSON.parse(listed.stdout).items).toMatchObject([{ status: "succeeded" }]);
    for (const server of servers) {
      expect(server.told() + server.output()).not.toContain(KEY);
      server.child.kill("SIGTERM");
      expect(await server.ended).toMatchObject({ code: 0 });
    }
  });
});

test("a signal ends a server that waits for a database which never answers", async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket.on("error", () => {})));
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    silent.close();
  });
  const { port } = silent.address() as AddressInfo;
  const store = { url: "env:STORE_URL", key: "env:STORE_KEY" };
  const cwd = scratch({ "millrace.json": JSON.stringify({ store }) });
  const env = { STORE_URL: `postgres://me:hidden@127.0.0.1:${port}/x`, STORE_KEY: KEY };
  const server = start(["serve", "--port", "0", "--home", scratch()], {
    cwd,
    env: { ...env, MILLRACE_TRUST_PROJECT: "1" },
  });
  await once(silent, "connection");
  server.child.kill("SIGTERM");
  expect((await server.ended).stderr).toBe("error: ended by sigterm\n");
});

test.each([
  [["--executor", "restate"], {}, "needs a store that servers share: set store.url"],
  [["--executor", "postgres"], {}, "needs a store that servers share: set store.url"],
  [["--store-url", "env:STORE_URL"], {}, "store.key is needed"],
  [
    ["--store-url", "postgres://me:hidden@db/x"],
    { key: "env:STORE_KEY" },
    "store.url takes env:NAME",
  ],
  [["--store-url", "env:NONE"], { key: "env:STORE_KEY" }, "the variable NONE is not set"],
  [["--store-url", "env:STORE_URL"], { key: "file:none.key" }, "cannot read"],
  [["--store-url", "env:STORE_URL"], { key: "env:STORE_URL" }, "the key of the store is 32 bytes"],
  [
    ["--store-url", "env:STORE_URL", "--executor", "restate"],
    { key: "env:STORE_KEY" },
    "needs restate.ingress",
  ],
])("serve %j is refused by what is missing", async (words, store, says) => {
  const cwd = scratch({ "millrace.json": JSON.stringify({ store }) });
  const env = { STORE_URL: "postgres://me:hidden@127.0.0.1:1/x", STORE_KEY: KEY };
  const told = await inside(["serve", "--port", "0", ...words], {
    cwd,
    env: { ...env, MILLRACE_TRUST_PROJECT: "1" },
  });
  expect(told.code).toBe(2);
  expect(told.stderr).toContain(says);
  expect(told.stderr).not.toContain("hidden");
  expect(told.stderr).not.toContain(KEY);
});
