/** `millrace serve` and its folder. */
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { expect, test } from "vitest";
import { jsonLines, millrace, postJson, scratch, start, urlOf } from "./cli.ts";
import { inside } from "./inside.ts";

test("a server says where its API and data are, who is let in, and which schedules do not fire", async () => {
  const home = scratch();
  const nightly = "flow 1 nightly\n\nschedule night {\n  every = 15m\n}\n\noutput n: int = 1\n";
  const cwd = scratch({ "nightly.flow": nightly });
  await inside(["templates", "save", "nightly", "nightly.flow", "--home", home], { cwd });
  const words = ["serve", "--port", "0", "--home", home, "--log-format", "pretty"];
  const open = start(words);
  await open.until("activates it\n");
  expect(open.told()).toMatch(/^listening on (\S+)\npage: \1\/studio\nAPI: \1\/api\/docs\ndata: /m);
  await open.until(" info  server.listening url=http");
  expect(open.told()).toContain(`data: ${home}`);
  expect(open.told()).toContain("requests need no token");
  // No bus in its environment, so no keyring: it chose, said so once, and the other commands of the folder follow.
  const key = join(home, "credentials.key");
  expect(open.told()).toContain(`as this machine has no keyring; its key: ${key}\n`);
  expect(statSync(key).mode & 0o777).toBe(0o600);
  expect(open.told()).toContain("millrace schedule add --from nightly activates it");
  open.child.kill("SIGTERM");
  await open.ended;
  const env = { MILLRACE_TOKEN: "0123456789abcdef" };
  const closed = start(words, { env });
  await closed.until("requests need a token: Authorization: Bearer TOKEN\n");
  expect(closed.told()).not.toContain(env.MILLRACE_TOKEN);
  expect(closed.told()).not.toContain("keyring");
  const stored = await inside(["secrets", "set", "ai:x", "--home", home], { stdin: "planted" });
  expect([stored.code, stored.stderr]).toEqual([0, "ai:x is stored in file\n"]);
  const moved = await millrace(["secrets", "move", "os", "--home", home]);
  expect([moved.code, moved.stderr]).toEqual([6, expect.stringContaining("credential store")]);
  expect((await inside(["secrets", "list", "--home", home])).stdout).toBe("ai:x\n");
});

test("without a keyring no file is chosen over the connections of a folder; the sentence says how to choose", async () => {
  const home = scratch();
  const store = await openStore({ dir: home });
  const row = { slug: "tracker", status: "connected", scope: null, expiresAt: null, body: {} };
  await store.connections.put(row as never);
  await store.close();
  const { code, stderr } = await millrace(["serve", "--port", "0", "--home", home]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("credentials.store file --user")]);
  expect(existsSync(join(home, "credentials.key"))).toBe(false);
});

test("what is no terminal gets JSON from the first line on, with the level as a word, as far as it is wanted", async () => {
  const cwd = scratch({
    "hi.flow": "flow 1 hi\n\noutput n: int = 1\n",
    "millrace.json": '{"serve":{"logLevel":"error","logFormat":"pretty","studio":false}}',
  });
  const env = { MILLRACE_TRUST_PROJECT: "1", MILLRACE_SERVE_LOG_LEVEL: "debug" };
  const server = start(["serve", "--port", "0", "--log-format", "json"], { cwd, env });
  await server.until('"server.listening"}\n');
  const told = JSON.parse(server.told().split("\n")[0] ?? "") as { url: string; studio: null };
  const { url, studio } = told;
  expect([studio, (await fetch(`${url}/studio`)).status]).toEqual([null, 404]);
  await inside(["run", "hi.flow", "--server", url], { cwd, env });
  await server.until('"run.ended"');
  server.child.kill("SIGTERM");
  await server.until('"server.stopped"');
  const lines = jsonLines<{ level: string; time: string; msg: string }>(server.told());
  const levels = new Map(lines.map(({ msg, level }) => [msg, level]));
  expect(levels.get("run.started")).toBe("debug");
  expect(levels.get("run.ended")).toBe("info");
  expect(lines.find(({ msg }) => msg === "server.stopping")).toMatchObject({ signal: "SIGTERM" });
  for (const { time } of lines) expect(Date.parse(time)).toBeGreaterThan(0);
  const explained = await inside(["config", "explain", "serve.logLevel"], { cwd, env });
  expect(explained.stdout).toMatch(/serve\.logLevel\s+debug\s+.*MILLRACE_SERVE_LOG_LEVEL/);
  const wrong = await inside(["serve", "--log-level", "loud"]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining("--log-level")]);
  for (const words of [[], ["--json"]]) {
    const open = ["serve", "--host", "0.0.0.0", "--port", "0", "--log-format", "json", ...words];
    const refused = await inside(open);
    expect(refused.code).toBe(2);
    const line = { level: "error", msg: "server.failed", code: "usage", time: expect.any(String) };
    expect(JSON.parse(refused.stderr)).toMatchObject({
      ...{ ...line, problem: expect.stringContaining("no token is set") },
      hint: expect.stringContaining("--allow-open"),
    });
  }
});

test("an address that others can reach is refused without a token, and the flags that mend it are named", async () => {
  const { code, stderr } = await inside(["serve", "--host", "0.0.0.0", "--port", "0"]);
  expect(code).toBe(2);
  for (const word of ["MILLRACE_TOKEN", "--token-file", "--allow-open"]) {
    expect(stderr).toContain(word);
  }
});

/** A folder in which the program that opens addresses writes down what it was given. */
function browser(): { readonly PATH: string; readonly opened: () => string } {
  const folder = scratch();
  const file = join(folder, "opened.txt");
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(folder, name), `#!/bin/sh\necho "$@" > ${file}\n`, { mode: 0o755 });
  }
  return {
    PATH: `${folder}:${process.env["PATH"]}`,
    opened: () => (existsSync(file) ? readFileSync(file, "utf8") : ""),
  };
}

test("a folder has one server, which names the page and serves it, unless a flag says no; the second ends with 6 and names the first", async () => {
  const home = scratch();
  const words = ["serve", "--port", "0", "--json", "--home", home];
  const first = start(words);
  await first.until('"listening"');
  const second = await start(words).ended;
  expect(second.code).toBe(6);
  expect(second.stdout + second.stderr).toContain(`process ${first.child.pid}`);
  const { url, studio } = JSON.parse(first.output()) as { url: string; studio: string };
  expect(studio).toBe(`${url}/studio`);
  const page = await fetch(studio);
  expect([page.status, page.headers.get("content-type")]).toEqual([
    200,
    "text/html; charset=utf-8",
  ]);
  const [, script] = /src="([^"]+)"/.exec(await page.text()) ?? [];
  expect((await fetch(new URL(script ?? "/none", studio))).status).toBe(200);
  first.child.kill("SIGTERM");
  expect(await first.ended).toMatchObject({ code: 0 });
  const third = start([...words, "--no-studio"]);
  await third.until('"listening"');
  const bare = JSON.parse(third.output()) as { url: string };
  expect(bare).not.toHaveProperty("studio");
  expect((await fetch(`${bare.url}/studio`)).status).toBe(404);
});

test("--open gives the browser the address of the page, without the token", async () => {
  const { opened, PATH } = browser();
  const env = { PATH, MILLRACE_TOKEN: "0123456789abcdef" };
  const server = start(["serve", "--port", "0", "--open"], { env });
  await server.until('"server.listening"}\n');
  const { studio: page } = JSON.parse(server.told().split("\n")[0] ?? "") as { studio: string };
  await expect.poll(opened).toBe(`${page}\n`);
  const open = start(["serve", "--host", "0.0.0.0", "--port", "0", "--open"], { env });
  await open.until("warning: no browser is opened: other machines can reach this address\n");
});

test("--open wants the page", async () => {
  const { code, stderr } = await inside(["serve", "--open", "--no-studio"]);
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining("--open does not go with --no-studio"),
  ]);
});

test("limits come from the flag, a variable or the file, in this order, and are explained", async () => {
  const cwd = scratch({
    "millrace.json": '{"serve":{"limits":{"maxMapItems":2,"maxDepth":3,"maxRunMs":60000}}}',
  });
  const env = { MILLRACE_TRUST_PROJECT: "1", MILLRACE_SERVE_MAX_DEPTH: "4" };
  const server = start(["serve", "--port", "0", "--json", "--limit", "maxRunMs=7000"], {
    cwd,
    env,
  });
  const url = await urlOf(server);
  const { limits } = (await (await fetch(`${url}/api/meta`)).json()) as { limits: object };
  expect(limits).toMatchObject({ maxMapItems: 2, maxDepth: 4, maxRunMs: 7_000, maxEvents: 1e6 });
  const explained = await inside(["config", "explain", "serve.limits.maxDepth"], { cwd, env });
  expect(explained.stdout).toContain("MILLRACE_SERVE_MAX_DEPTH");
  expect(explained.stdout).toContain("millrace.json:1");
  const dsl =
    'flow 1 many\n\nnode each: map {\n  items = [1, 2, 3]\n\n  body {\n    node note: log {\n      message = "x"\n    }\n  }\n}\n';
  const started = await postJson(`${url}/api/runs?waitMs=60000`, { dsl, inputs: {} });
  expect(await started.json()).toMatchObject({ summary: { error: { code: "limit_exceeded" } } });
});

test("a limit that does not exist has no effect, also where another option has its name", async () => {
  const serving = { host: "0.0.0.0", limits: { maxRumMs: 5, allowOpen: true } };
  const cwd = scratch({ "millrace.json": JSON.stringify({ serve: serving }) });
  const env = { MILLRACE_TRUST_PROJECT: "1" };
  const refused = await inside(["serve", "--port", "0", "--log-format", "pretty"], { cwd, env });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("no token is set")]);
  for (const name of Object.keys(serving.limits))
    expect(refused.stderr).toContain(`unknown key "serve.limits.${name}" has no effect`);
});

test.each([
  ["maxRuns=1", "--limit: there is no limit maxRuns"],
  ["maxRunMs", "--limit takes name=number, such as maxRunMs=60000"],
  ["maxRunMs=0", 'option "maxRunMs" must be a whole number from 1'],
])("the limit %s is refused before anything listens", async (limit, message) => {
  const refused = await inside(["serve", "--port", "0", "--limit", limit], { cwd: scratch() });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(message)]);
});

test("SIGHUP reads the tokens again: new ones are let in, old ones are not, a broken file changes nothing", async () => {
  const [first, second] = ["first-token-of-the-test", "second-token-of-the-test"];
  const cwd = scratch({ tokens: `${first}\n` });
  const words = [
    "serve",
    "--port",
    "0",
    "--json",
    "--log-format",
    "json",
    "--token-file",
    "tokens",
  ];
  const server = start(words, { cwd });
  const url = await urlOf(server);
  const statusOf = async (token: string): Promise<number> => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(`${url}/api/meta`, { headers })).status;
  };
  expect([await statusOf(first), await statusOf(second)]).toEqual([200, 401]);
  writeFileSync(join(cwd, "tokens"), `${second}\n`);
  server.child.kill("SIGHUP");
  await server.until('"server.reloaded"');
  expect([await statusOf(first), await statusOf(second)]).toEqual([401, 200]);
  writeFileSync(join(cwd, "tokens"), "\n");
  server.child.kill("SIGHUP");
  await server.until('"server.not_reloaded"');
  expect(await statusOf(second)).toBe(200);
  expect(server.told()).not.toContain(second);
  server.child.kill("SIGTERM");
  expect(await server.ended).toMatchObject({ code: 0 });
});
