/** `millrace config`: every source, where it is from, how it is changed, and what is never shown. */
import {
  chmodSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { flow, inside, millrace } from "./inside.ts";

const READ = flow("node wait: log {", '  message = "hi"', "}");

async function json(
  words: readonly string[],
  world: Parameters<typeof inside>[1],
): Promise<unknown> {
  const told = await inside([...words, "--json"], world);
  expect([told.code, told.stderr]).toEqual([0, ""]);
  return JSON.parse(told.stdout);
}

test("explain names variable, file and line, and what each replaces", async () => {
  const home = scratch({ "config.json": '{\n  "run": {\n    "timeoutMs": 5\n  }\n}\n' });
  const cwd = scratch({
    "millrace.json": '{\n  "flows": "all",\n  "run": { "timeoutMs": 7, "graceMs": 1 }\n}\n',
  });
  const env = { MILLRACE_HOME: home, MILLRACE_RUN_GRACE_MS: "9" };
  const told = await inside(["config", "explain", "run"], { cwd, env });
  expect(told.stdout).toBe(
    [
      `run.timeoutMs  7  project ${cwd}/millrace.json:3 (overrides user ${home}/config.json:3 5, default 0)`,
      `run.graceMs  9  variable MILLRACE_RUN_GRACE_MS (overrides project ${cwd}/millrace.json:3 1, default 10000)`,
      "",
    ].join("\n"),
  );
  expect(await json(["config", "get", "run.timeoutMs"], { cwd, env })).toEqual({
    key: "run.timeoutMs",
    value: 7,
  });
  expect(await json(["config", "path"], { cwd, env })).toEqual({
    user: join(home, "config.json"),
    project: join(cwd, "millrace.json"),
    data: home,
  });
});

test("every key has a variable, and a short one has its place behind it", async () => {
  const env = {
    MILLRACE_FLOWS: "elsewhere",
    MILLRACE_HISTORY: "true",
    MILLRACE_EGRESS_ALLOW: '[{"host":"a.example"}]',
    MILLRACE_PORT: "7",
    MILLRACE_SHELL_CWD_ROOT: "/srv",
    MILLRACE_EGRESS_MAX_RESPONSE_BYTES: "10",
  };
  const { items } = (await json(["config", "list"], { env })) as {
    items: { key: string; value: unknown; source: string }[];
  };
  const named = items.filter(({ source }) => source === "variable");
  expect(named.map(({ key, value }) => [key, value])).toEqual([
    ["flows", expect.stringMatching(/\/elsewhere$/)],
    ["history", true],
    ["egress.allow", [{ host: "a.example" }]],
    ["egress.maxResponseBytes", 10],
    ["shell.cwdRoot", "/srv"],
    ["serve.port", 7],
  ]);
  const both = { MILLRACE_PORT: "7", MILLRACE_SERVE_PORT: "8" };
  const port = (given: Record<string, string>) =>
    json(["config", "get", "serve.port"], { env: given });
  expect(await port(both)).toMatchObject({ value: 8 });
  // What Kubernetes tells the pods of a Service of this name is no port of ours.
  const link = { MILLRACE_PORT: "tcp://10.0.0.1:80" };
  expect(await port(link)).toMatchObject({ value: 6455 });
});

test.each([
  ["0", false],
  ["1", true],
])("a switch is %s as the server reads it, in a variable or set", async (text, value) => {
  const cwd = scratch({ "millrace.json": "{}", "x.flow": READ });
  const env = { MILLRACE_SERVE_MCP: text, MILLRACE_SERVE_STUDIO: text };
  expect(await json(["config", "get", "serve.mcp"], { cwd, env })).toMatchObject({ value });
  const ran = await inside(["run", "x.flow"], { cwd, env });
  expect(ran.code, ran.stderr).toBe(0);
  expect((await inside(["config", "set", "history", text], { cwd })).code).toBe(0);
  expect(JSON.parse(readFileSync(join(cwd, "millrace.json"), "utf8"))).toEqual({ history: value });
});

test("set and unset write the project file, or the user's where it is named or there is no project", async () => {
  const cwd = scratch();
  const home = scratch({ "mine.json": "{}" });
  chmodSync(join(home, "mine.json"), 0o600);
  symlinkSync("mine.json", join(home, "config.json"));
  const env = { MILLRACE_HOME: home };
  expect((await inside(["config", "set", "run.timeoutMs", "5"], { cwd, env })).code).toBe(0);
  expect(statSync(join(home, "mine.json")).mode & 0o777, "a link stays a link").toBe(0o600);
  expect(readdirSync(home).sort()).toEqual(["config.json", "mine.json"]);
  expect(readFileSync(join(home, "mine.json"), "utf8")).toContain("timeoutMs");
  expect(readFileSync(join(home, "config.json"), "utf8")).toBe(
    '{\n  "run": {\n    "timeoutMs": 5\n  }\n}\n',
  );
  expect((await inside(["config", "set", "flows", "mine", "--project"], { cwd, env })).code).toBe(
    0,
  );
  expect((await inside(["config", "set", "run.timeoutMs", "6"], { cwd, env })).code).toBe(0);
  expect(JSON.parse(readFileSync(join(cwd, "millrace.json"), "utf8"))).toEqual({
    flows: "mine",
    run: { timeoutMs: 6 },
  });
  expect((await inside(["config", "unset", "run.timeoutMs"], { cwd, env })).code).toBe(0);
  expect((await inside(["config", "unset", "run.timeoutMs"], { cwd, env })).stderr).toContain(
    "does not set run.timeoutMs",
  );
  expect(await json(["config", "get", "run.timeoutMs"], { cwd, env })).toEqual({
    key: "run.timeoutMs",
    value: 5,
  });
  expect(
    (await inside(["config", "set", "flows", "x", "--user", "--project"], { cwd, env })).code,
  ).toBe(2);
});

test.each([
  [
    "an unknown key, with the nearest",
    ["get", "run.timeoutMz"],
    'there is no key "run.timeoutMz"; did you mean run.timeoutMs?',
  ],
  [
    "a value of another type",
    ["set", "run.timeoutMs", "soon"],
    "run.timeoutMs takes a whole number",
  ],
  [
    "a port that is none",
    ["set", "serve.port", "70000"],
    "serve.port takes a whole number up to 65535",
  ],
  [
    "a value that is no choice",
    ["set", "credentials.store", "disk"],
    "credentials.store takes os, file, memory",
  ],
  [
    "a key that holds a secret",
    ["set", "providers.openai.apiKey", "x"],
    "would keep a secret in a file",
  ],
  [
    "a value that is a secret",
    ["set", "providers.openai.credential", "sk-live-123456"],
    "would keep a secret in a file",
  ],
  ["a token for a server without TLS", ["login", "http://mill.example"], "which has no TLS"],
  ["a server that is no URL", ["login", "mill.example"], "takes an http or https URL"],
  ["trust where there is no project", ["trust"], "there is no millrace.json here"],
])("%s is exit code 2", async (_name, words, says) => {
  const told = await inside(["config", ...words]);
  expect([told.code, told.stdout]).toEqual([2, ""]);
  expect(told.stderr).toContain(says);
});

test("secrets are only said to be set", async () => {
  const config = {
    providers: {
      openai: { credential: "env:SOME_KEY" },
      google: { credential: "env:NO_KEY" },
      local: {
        kind: "openai-compatible",
        baseUrl: "https://me:canary-1@x.example/",
        headers: { "x-token": "canary-2" },
      },
    },
  };
  const home = scratch({ "config.json": JSON.stringify(config) });
  const env = { MILLRACE_HOME: home, SOME_KEY: "canary-3" };
  for (const words of [["list"], ["explain"], ["get", "providers"], ["explain", "--json"]]) {
    const told = await inside(["config", ...words], { env });
    expect(told.code).toBe(0);
    expect(told.stdout + told.stderr).not.toContain("canary");
    expect(told.stdout).toContain("set (env:SOME_KEY)");
    expect(told.stdout).toContain("not set (env:NO_KEY)");
  }
});

test("what a project may grant counts from the moment that it is trusted until one byte changes", async () => {
  const cwd = scratch({ "millrace.json": '{ "egress": { "perHost": 3 } }', "x.flow": READ });
  const before = await inside(["run", "x.flow"], { cwd });
  expect(before.code).toBe(2);
  expect(before.stderr).toMatch(
    /is not trusted, and it sets egress; read it, then run millrace config trust/,
  );
  const seen = await inside(["config", "explain", "egress.perHost"], { cwd });
  expect(seen.stdout).toBe("egress.perHost  16  default\n");
  expect(seen.stderr).toContain("is not trusted: egress of it does not count");
  for (const words of [
    ["validate", "x.flow"],
    ["fmt", "x.flow"],
    ["graph", "x.flow"],
    ["diff", "x.flow", "x.flow"],
  ])
    expect((await inside(words, { cwd })).code).toBe(0);

  expect((await inside(["config", "trust"], { cwd })).code).toBe(0);
  expect((await inside(["run", "x.flow"], { cwd })).code).toBe(0);
  expect((await inside(["config", "get", "egress.perHost"], { cwd })).stdout).toBe("3\n");

  writeFileSync(join(cwd, "millrace.lock.json"), "{}");
  const changed = await inside(["run", "x.flow"], { cwd });
  expect([changed.code, changed.stderr.includes("is not trusted: it has changed since")]).toEqual([
    2,
    true,
  ]);
  expect((await inside(["config", "trust"], { cwd })).code).toBe(0);
  expect((await inside(["config", "set", "egress.perHost", "4"], { cwd })).stderr).toContain(
    "next: millrace config trust",
  );
  expect((await inside(["run", "x.flow"], { cwd })).code).toBe(2);
});

test("trust in one project is none in its neighbour", async () => {
  const home = scratch();
  const files = { "millrace.json": '{ "files": {} }', "x.flow": READ };
  const [one, other] = [scratch(files), scratch(files)];
  const env = { MILLRACE_HOME: home };
  await inside(["config", "trust"], { cwd: one, env });
  expect((await inside(["run", "x.flow"], { cwd: one, env })).code).toBe(0);
  expect((await inside(["run", "x.flow"], { cwd: other, env })).code).toBe(2);
});

test("the schema knows every key, and the strict one no other", async () => {
  const loose = (await json(["config", "schema"], {})) as { properties: Record<string, object> };
  expect(Object.keys(loose.properties)).toContain("serve");
  expect(loose).not.toHaveProperty("additionalProperties");
  const strict = await json(["config", "schema", "--strict"], {});
  expect(strict).toMatchObject({
    additionalProperties: false,
    properties: {
      run: {
        additionalProperties: false,
        properties: { timeoutMs: { type: "integer", default: 0 } },
      },
    },
  });
});

test("the schema of millrace.json describes the items of lists", async () => {
  const { stdout } = await inside(["config", "schema", "--json"]);
  const { properties } = JSON.parse(stdout);
  const [rule, range] = properties.egress.properties.allow.items.anyOf;
  expect([rule.required, range.required]).toEqual([["host"], ["cidr"]]);
  expect(properties.egress.properties.deny.items).toEqual(properties.egress.properties.allow.items);
  expect(properties.shell.properties.env.items).toEqual({ type: "string" });
});

test("a malformed file is shown with its place, and nothing of it can be read", async () => {
  const cwd = scratch({
    "x.flow": READ,
    "millrace.json": '{\n  "run": {},\n  "token": canary-value\n}\n',
  });
  const told = await inside(["run", "x.flow"], { cwd });
  expect(told.code).toBe(2);
  expect(told.stderr).toBe(
    [
      `error: ${cwd}/millrace.json is not JSON: line 3, column 12: a value is needed here`,
      `  ${cwd}/millrace.json:3:12`,
      '  2 |   "run": {},',
      '  3 |   "•••••": ••••••-•••••',
      "    |            ^ a value is needed here",
      "  4 | }",
      "",
    ].join("\n"),
  );
});

test("a token is stored for the origin of a server, and goes there", async () => {
  const seen: (string | undefined)[] = [];
  const server = await serveHttp((request, response) => {
    seen.push(request.headers.authorization);
    const isIn = request.headers.authorization === "Bearer canary-token";
    response.writeHead(isIn ? 200 : 401, { "content-type": "application/json" });
    response.end(
      JSON.stringify(
        isIn ? { items: [], nextCursor: null } : { code: "unauthorized", title: "no" },
      ),
    );
  });
  const url = server.url;
  const env = {
    MILLRACE_HOME: scratch(),
    MILLRACE_CREDENTIALS_STORE: "file",
    MILLRACE_CREDENTIAL_KEY: Buffer.alloc(32, 7).toString("base64"),
  };
  const told = await millrace(["config", "login", `${url}/any/path`], {
    env,
    stdin: "canary-token\n",
  });
  expect(told).toMatchObject({
    code: 0,
    stdout: "",
    stderr: `the token for ${url} is stored in file\n`,
  });
  const listed = await millrace(["connections", "list", "--server", url], { env });
  expect(listed.code).toBe(0);
  expect(seen).toEqual([undefined, "Bearer canary-token"]);
});
