import { parseEvent, type Summary } from "@millrace/contracts";
import { noIpv6, testUnless } from "@millrace/test-support";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { flow, inside, millrace } from "./inside.ts";

const SORT = flow(
  "input message: string",
  "node sort: ai {",
  '  provider = "mock"',
  '  modelId = "echo"',
  "  input = inputs.message",
  '  labels = [{ name: "bug" }, { name: "billing" }]',
  "}",
  "output label: string = sort.label",
);

test("a flow with the mock provider runs offline, from the question to the label", async () => {
  const { code, stdout, stderr } = await inside(
    ["run", "sort.flow", "-i", "message=My billing is wrong", "--json"],
    { files: { "sort.flow": SORT } },
  );
  expect(code, stderr).toBe(0);
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => parseEvent(line));
  expect(events.map(({ kind }) => kind)).toContain("llm.delta");
  expect((events.at(-1) as Summary).outputs).toEqual({ label: "billing" });
  expect((events.at(-1) as Summary).costUsd).toBe(0);
});

test("a provider without a key ends the run with 5 and says how to store one", async () => {
  const { code, stderr } = await inside(["run", "sort.flow", "-i", "message=x"], {
    files: { "sort.flow": SORT.replace("mock", "openai"), "config.json": "{}" },
    env: { MILLRACE_CREDENTIALS_STORE: "memory" },
  });
  expect(code).toBe(5);
  expect(stderr).toContain("millrace secrets set ai:openai");
});

test("a setting that is not right ends the command with 2, by its name", async () => {
  const home = scratch({
    "config.json": '{ "providers": { "openai": { "apiKey": "sk-literal" } } }',
    "sort.flow": SORT,
  });
  const world = { cwd: home, env: { MILLRACE_HOME: home } };
  for (const words of [
    ["run", "sort.flow", "-i", "message=x"],
    ["providers", "list"],
  ]) {
    const { code, stderr } = await inside(words, world);
    expect(code).toBe(2);
    expect(stderr).toContain("providers.openai.apiKey is unknown");
    expect(stderr).not.toContain("sk-literal");
  }
});

test("providers are listed with the state of their keys; the keys are not", async () => {
  const home = scratch({
    "config.json": JSON.stringify({
      credentials: { store: "memory" },
      providers: {
        openai: { credential: "env:MY_KEY", modelId: "gpt-4.1" },
        local: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:9/v1" },
      },
    }),
  });
  const { code, stdout, stderr } = await inside(["providers", "list", "--json"], {
    cwd: home,
    env: { MILLRACE_HOME: home, MY_KEY: "sk-planted" },
  });
  expect(code, stderr).toBe(0);
  const { items } = JSON.parse(stdout) as { items: { id: string; key: string }[] };
  expect(Object.fromEntries(items.map(({ id, key }) => [id, key]))).toEqual({
    openai: "present",
    anthropic: "missing",
    google: "missing",
    mock: "none",
    local: "none",
  });
  expect(stdout).not.toContain("sk-planted");
});

/** A server of models on loopback that knows one key. */
async function modelServer(host = "127.0.0.1"): Promise<string> {
  const { url } = await serveHttp((request, response) => {
    const isKnown = request.headers.authorization === "Bearer sk-right";
    response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" });
    response.end(JSON.stringify({ data: [{ id: "m1" }, { id: "m2" }] }));
  }, host);
  return `${url}/v1`;
}

test.each([
  ["sk-right", 0, "local answers and has 2 models"],
  ["sk-wrong", 5, "local refused the key"],
])("with the key %s the test of a provider ends with %i", async (key, wanted, told) => {
  const local = {
    kind: "openai-compatible",
    baseUrl: await modelServer(),
    credential: "env:KEY",
  };
  const home = scratch({ "config.json": JSON.stringify({ providers: { local } }) });
  const { code, stdout, stderr } = await inside(["providers", "test", "local"], {
    cwd: home,
    env: { MILLRACE_HOME: home, KEY: key },
  });
  expect([code, stdout + stderr]).toEqual([wanted, expect.stringContaining(told)]);
  expect(stdout + stderr).not.toContain(key);
});

testUnless(noIpv6())("a server of models may have an IPv6 address", async () => {
  const baseUrl = await modelServer("::1");
  const local = { kind: "openai-compatible", baseUrl, credential: "env:KEY" };
  const home = scratch({ "config.json": JSON.stringify({ providers: { local } }) });
  const { code, stderr } = await inside(["providers", "test", "local"], {
    cwd: home,
    env: { MILLRACE_HOME: home, KEY: "sk-right" },
  });
  expect(code, stderr).toBe(0);
});

test("an unknown provider is a matter of usage", async () => {
  const { code, stderr } = await inside(["providers", "test", "acme"]);
  expect(code).toBe(2);
  expect(stderr).toContain("mock");
});

test("without a credential store the variable of a provider is named first, and the others are still listed", async () => {
  const ask = flow('node a: ai {\n  provider = "openai"\n  modelId = "m"\n  input = "hi"\n}');
  const cwd = scratch({ "ask.flow": ask });
  // No bus in its environment, so no store of the system.
  const env = { DBUS_SESSION_BUS_ADDRESS: "", ANTHROPIC_API_KEY: "sk-planted" };
  const run = await millrace(["run", "ask.flow"], { cwd, env });
  const told = run.stderr.replace(/\s+/g, " ");
  expect(told).toContain("openai has no key here: set OPENAI_API_KEY; or credential store:");
  expect(run.stderr).toContain(
    "next: export OPENAI_API_KEY=KEY, or\nnext: millrace config set credentials.store file --user\n",
  );
  const listed = await millrace(["providers", "list", "--json"], { cwd, env });
  const { items } = JSON.parse(listed.stdout) as { items: { id: string; key: string }[] };
  const keys = Object.fromEntries(items.map(({ id, key }) => [id, key]));
  expect(keys).toMatchObject({ anthropic: "present", openai: "unknown", mock: "none" });
  expect([listed.code, listed.stderr.includes("warning: openai cannot be asked")]).toEqual([
    0,
    true,
  ]);
  const next = "millrace config set credentials.store file --user, which makes its key";
  expect(listed.stderr.match(/^next: .*$/gm)).toEqual([expect.stringContaining(next)]);
  const tested = await millrace(["providers", "test", "openai"], { cwd, env });
  expect([tested.code, tested.stderr]).toEqual([6, expect.stringContaining(next)]);
});
