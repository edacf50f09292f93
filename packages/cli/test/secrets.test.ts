/** Secrets and connections without a consent: what comes in by stdin or the prompt, and never goes out. */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { serveHttp } from "@millrace/test-support/loopback";
import { expect, test } from "vitest";
import { scratch } from "./cli.ts";
import { inside, millrace } from "./inside.ts";
import { serviceWorld } from "./service-world.ts";

const SECRET = "sk-planted-secret";
const KEY = Buffer.alloc(32, 7).toString("base64");

/** A home with the encrypted file store. */
function fileStore(): { cwd: string; env: Record<string, string> } {
  const home = scratch({ "config.json": '{ "credentials": { "store": "file" } }' });
  return { cwd: home, env: { MILLRACE_HOME: home, MILLRACE_CREDENTIAL_KEY: KEY } };
}

test("a secret comes from stdin, its name is listed, it is in no output and no file, and it is removed", async () => {
  const world = fileStore();
  const run = (words: string[], stdin?: string) =>
    inside(words, { ...world, ...(stdin !== undefined && { stdin }) });
  const stored = await run(["secrets", "set", "ai:openai", "--json"], `${SECRET}\n`);
  expect([stored.code, stored.stdout], stored.stderr).toEqual([
    0,
    '{"name":"ai:openai","store":"file"}\n',
  ]);
  expect((await run(["secrets", "list", "--json"])).stdout).toBe('{"items":["ai:openai"]}\n');
  expect((await run(["secrets", "list"])).stdout).toBe("ai:openai\n");
  expect(readFileSync(join(world.cwd, "credentials.json"), "utf8")).not.toContain(SECRET);
  expect((await run(["secrets", "remove", "ai:openai"])).code).toBe(0);
  const again = await run(["secrets", "remove", "ai:openai", "--json"]);
  expect([again.code, again.stdout]).toEqual([6, ""]);
  expect(JSON.parse(again.stderr)).toMatchObject({ code: "not_found" });
});

test("at a terminal the secret is asked for, and what is typed is not shown", async () => {
  const world = fileStore();
  const keys = new PassThrough();
  const asked = inside(["secrets", "set", "ext:WEATHER_KEY"], { ...world, terminal: true, keys });
  keys.write("sk-plantez");
  keys.write("\u007fd-secret\r");
  const { code, stdout, stderr } = await asked;
  expect([code, stdout], stderr).toEqual([0, ""]);
  expect(stderr).toContain("secret ext:WEATHER_KEY: ");
  expect(stderr).not.toContain("planted");
  expect((await inside(["secrets", "list"], world)).stdout).toBe("ext:WEATHER_KEY\n");
});

test.each([
  ["a name that is none", ["secrets", "set", "open-ai"], SECRET, "is no name of a secret"],
  ["a secret that no log could hide", ["secrets", "set", "pin"], "4711", "less than 6 characters"],
  ["a blank at an end", ["secrets", "set", "pin"], `${SECRET} \n`, "a blank at an end"],
  ["an empty secret", ["secrets", "set", "ai:openai"], "\n", "is empty"],
  ["two lines", ["secrets", "set", "ai:openai"], `${SECRET}\n${SECRET}`, "must be one line"],
  ["no action", ["secrets"], "", "secrets needs an action: set, list, remove, move"],
])("%s ends with 2 and without the value", async (_name, words, stdin, said) => {
  const { code, stdout, stderr } = await inside(words, { ...fileStore(), stdin });
  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(said);
  expect(stderr).not.toContain(SECRET);
});

test.each([
  ["a variable decides", { MILLRACE_CREDENTIALS_STORE: "file" }, "would stay what it is"],
  ["nothing is kept", { MILLRACE_CREDENTIALS_STORE: "memory" }, "keeps nothing to move"],
])("no credential is moved where %s", async (_name, more, said) => {
  const { cwd, env } = fileStore();
  const refused = await inside(["secrets", "move", "os"], { cwd, env: { ...env, ...more } });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)]);
});

test("the encrypted file is never replaced by another store: without its key or with another one, 6", async () => {
  const { cwd, env } = fileStore();
  const { MILLRACE_CREDENTIAL_KEY: _, ...keyless } = env;
  await inside(["secrets", "set", "ai:x"], { cwd, env, stdin: SECRET });
  const refused = await inside(["secrets", "set", "ai:x"], { cwd, env: keyless, stdin: SECRET });
  expect([refused.code, refused.stderr.includes("MILLRACE_CREDENTIAL_KEY")]).toEqual([6, true]);
  const other = { ...env, MILLRACE_CREDENTIAL_KEY: Buffer.alloc(32, 8).toString("base64") };
  const locked = await inside(["secrets", "set", "ai:x", "--json"], {
    cwd,
    env: other,
    stdin: SECRET,
  });
  expect([locked.code, locked.stdout]).toEqual([6, ""]);
  expect(JSON.parse(locked.stderr)).toMatchObject({ code: "credential_store_unavailable" });
  const { keyId } = JSON.parse(readFileSync(join(cwd, "credentials.json"), "utf8"));
  expect(locked.stderr).toContain(`it was made with the key ${keyId}, and the key given is `);
});

test("a key that nobody gives is made beside the file; a program or a file may give it", async () => {
  const home = scratch({
    "config.json": '{ "credentials": { "store": "file" } }',
    "other.key": `${KEY}\n`,
  });
  const world = { cwd: home, env: { MILLRACE_HOME: home } };
  const set = { ...world, stdin: SECRET };
  expect((await inside(["secrets", "set", "ai:x"], set)).code).toBe(0);
  const path = join(home, "credentials.key");
  const made = readFileSync(path, "utf8");
  expect([Buffer.from(made, "base64").length, statSync(path).mode & 0o777]).toEqual([32, 0o600]);
  renameSync(path, join(home, "mine.key"));
  const lost = await inside(["secrets", "set", "ai:y"], set);
  expect([lost.code, lost.stderr.includes(path), existsSync(path)]).toEqual([6, true, false]);
  const keyed = (key: string) => inside(["config", "set", "credentials.key", key, "--user"], world);
  await keyed("command:cat mine.key");
  expect((await inside(["secrets", "list"], world)).stdout).toBe("ai:x\n");
  await keyed(`file:${join(home, "other.key")}`);
  const wrong = await inside(["secrets", "list"], world);
  expect([wrong.code, wrong.stderr]).toEqual([6, expect.stringContaining("the key given is")]);
  expect(wrong.stderr).not.toContain(KEY);
});

test("where the system has no store, the command that chooses the encrypted file is named", async () => {
  // No bus in its environment, so no store of the system.
  const env = { DBUS_SESSION_BUS_ADDRESS: "" };
  const { code, stderr } = await millrace(["secrets", "set", "ai:x"], {
    cwd: scratch(),
    env,
    stdin: SECRET,
  });
  expect(code, stderr).toBe(6);
  expect(stderr).toContain("millrace config set credentials.store file --user");
});

test("a service with a key of its own takes it from stdin, and a flow is sent with it", async () => {
  const world = await serviceWorld({ auth: { scheme: "bearer" } });
  const connected = await world.here(["connect", "tracker"], { stdin: `${SECRET}\n` });
  expect([connected.code, connected.stdout], connected.stderr).toEqual([
    0,
    "tracker  connected  service tracker, in file\n",
  ]);
  const ended = await world.here(["run", "issues.flow", "--json"]);
  expect([ended.code, world.seen]).toEqual([0, [SECRET]]);
  expect(ended.stdout + ended.stderr).not.toContain(SECRET);
  const unusable = await world.here(["run", "issues.flow"], {
    env: { MILLRACE_CREDENTIAL_KEY: "" },
  });
  expect(unusable.code, unusable.stderr).toBe(6);
  const second = ["connect", "tracker-eu", "--json"];
  await world.here([...second, "--service", "tracker"], { stdin: "another-secret" });
  const again = await world.here(second, { stdin: "a-third-secret" });
  expect(JSON.parse(again.stdout)).toMatchObject({ slug: "tracker-eu", service: "tracker" });
  world.refuse(SECRET);
  expect((await world.here(["run", "issues.flow"])).code).toBe(5);
});

test("a flow reads variables of its environment, once, and sends named secrets that are listed without a value", async () => {
  const seen: string[] = [];
  const shop = await serveHttp((request, response) => {
    seen.push(`${request.url} ${request.headers.authorization}`);
    response.end("{}");
  });
  const { port } = shop;
  const { cwd, env } = fileStore();
  writeFileSync(join(cwd, "millrace.json"), '{ "egress": { "allow": [{ "host": "127.0.0.1" }] } }');
  const call = `node call: http.request {
  url = "http://127.0.0.1:${port}/\${vars.region}"
  headers = { authorization: "Bearer \${secrets.shop_key}" }
}

output region: any = vars.region
`;
  writeFileSync(join(cwd, "shop.flow"), `flow 1 shop\n\n${call}`);
  writeFileSync(join(cwd, "leak.flow"), "flow 1 leak\n\noutput key: any = secrets.shop_key\n");
  const world = { cwd, env: { ...env, MILLRACE_TRUST_PROJECT: "1" } };
  const run = (words: string[], stdin?: string) =>
    inside(words, { ...world, ...(stdin !== undefined && { stdin }) });
  await run(["vars", "set", "regoin", "eu"]);
  const unknown = await run(["run", "shop.flow"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    2,
    "error: vars.region is not set; did you mean vars.regoin?\n",
  ]);
  await run(["vars", "remove", "regoin"]);
  const everywhere = await inside(["vars", "set", "region", "eu"], {
    ...world,
    env: { ...world.env, MILLRACE_ENV: "prod" }, // of runs, not of what is set
  });
  expect(everywhere.stderr).toBe('vars.region is "eu" in all environments\n');
  await run(["vars", "set", "region", '"us"', "--env", "prod"]);
  expect((await run(["vars", "list"])).stdout).toBe(
    'NAME    ENVIRONMENT  VALUE\nregion  all          "eu"\nregion  prod         "us"\n',
  );
  const missing = await run(["run", "shop.flow"]);
  expect([missing.code, missing.stderr.includes("millrace secrets set shop_key")]).toEqual([
    5,
    true,
  ]);
  await run(["secrets", "set", "shop_key"], `${SECRET}\n`);
  writeFileSync(join(cwd, "key.txt"), "sk-of-production\n");
  await run(["secrets", "set", "shop_key", "--env", "prod", "--file", "key.txt"]);
  expect((await run(["run", "shop.flow", "--save"])).code).toBe(0);
  const prod = await run(["run", "shop.flow", "--env", "prod", "--json"]);
  expect([prod.code, seen]).toEqual([0, [`/eu Bearer ${SECRET}`, "/us Bearer sk-of-production"]]);
  expect(prod.stdout).not.toContain("sk-of-production");
  const listed = await run(["secrets", "list", "--json"]);
  expect(JSON.parse(listed.stdout).flows).toMatchObject([
    { name: "shop_key", setAt: expect.stringMatching(/^\d{4}-/) },
    { name: "shop_key", environment: "prod" },
  ]);
  const leak = await run(["run", "leak.flow"]);
  expect([leak.code, leak.stderr]).toEqual([3, expect.stringContaining("FLOW6008")]);
  const explained = await inside(["config", "explain", "environment"], {
    ...world,
    env: { ...world.env, MILLRACE_ENV: "prod" },
  });
  expect(explained.stdout).toContain("MILLRACE_ENV");
});
