/** Descriptors of services: made from OpenAPI documents, committed as files, trusted like keys of power. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { world } from "./api-world.ts";
import { jsonLines, scratch } from "./cli.ts";
import { flow, inside } from "./inside.ts";

const operation = (more: object = {}): object => ({
  operationId: "listPets",
  responses: { 200: { description: "ok", content: { "application/json": { schema: {} } } } },
  ...more,
});
const SPEC = {
  openapi: "3.1.0",
  info: { title: "Pet Shop", version: "1" },
  servers: [{ url: "https://pets.example/v1" }],
  paths: {
    "/pets": { get: operation(), post: operation({ operationId: "addPet" }) },
  },
};
const CALL = flow(
  "node pets: service.call {",
  '  connection = "pet-shop"',
  '  operation = "nope"',
  "}",
);

/** A list of lists of lists, of ten aliases each. */
function bomb(): string {
  const rows = Array.from(
    { length: 9 },
    (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`)}]`,
  );
  return ["a0: &a0 x", ...rows].join("\n");
}

/** A project with the document, and what it describes already imported when `imported`. */
async function project(imported = false): Promise<string> {
  const cwd = scratch({ "openapi.json": JSON.stringify(SPEC), "millrace.json": "{}" });
  if (imported) await inside(["services", "import", "openapi.json"], { cwd });
  return cwd;
}

const fileOf = (cwd: string): string => join(cwd, "services", "pet-shop.json");

test("a document becomes a file beside the project file, and importing it again changes nothing", async () => {
  const cwd = await project();
  mkdirSync(join(cwd, "deep"));
  const made = await inside(["services", "import", "../openapi.json", "-q"], {
    cwd: join(cwd, "deep"),
    env: { HOME: cwd },
  });
  expect([made.code, made.stdout], made.stderr).toEqual([0, ""]);
  const text = readFileSync(fileOf(cwd), "utf8");
  expect(JSON.parse(text)).toMatchObject({
    slug: "pet-shop",
    serviceIntegration: {
      baseUrl: "https://pets.example/v1",
      operations: [{ id: "list_pets" }, { id: "add_pet" }],
    },
  });
  const again = await inside(["services", "import", "openapi.json", "--check"], { cwd });
  expect([again.code, readFileSync(fileOf(cwd), "utf8")], again.stderr).toEqual([0, text]);
  const printed = await inside(["services", "import", "-", "-o", "-"], {
    cwd,
    stdin: JSON.stringify(SPEC),
  });
  expect(printed.stdout).toBe(text);
  const yaml = await inside(["services", "import", "-", "-o", "-"], {
    cwd,
    stdin: stringify(SPEC),
  });
  expect([yaml.stdout, yaml.stderr]).toEqual([text, ""]);
});

test("a ready service is found, added and connected, up to the consent, without a network", async () => {
  const cwd = scratch({ "millrace.json": '{"credentials":{"store":"memory"}}' });
  const env = { HOME: cwd, MILLRACE_TRUST_PROJECT: "1" };
  const run = (...words: string[]) => inside(words, { cwd, env, stdin: "client-secret\n" });
  expect((await run("services", "list")).stderr).toContain(
    "millrace services search shows ready ones",
  );
  const found = await run("services", "search", "git");
  expect(found.stdout).toMatch(/^github +GitHub +Repositories/m);
  expect((await run("connect", "github")).stderr).toContain("millrace services add github puts");
  const added = await run("services", "add", "github");
  expect(added.code, added.stderr).toBe(0);
  expect(added.stderr).toContain("services/github.json: github, 16 operations, added");
  expect(added.stderr).toContain("Then: millrace connect github");
  expect((await run("services", "add", "github", "--check")).code).toBe(0);
  const listed = JSON.parse((await run("services", "list", "--json")).stdout.split("\n")[0] ?? "");
  expect(listed.items).toMatchObject([{ slug: "github", scheme: "oauth2" }]);
  expect((await run("connect", "github")).stderr).toContain("no OAuth client of service");
  const client = ["--client-id", "my-app", "--secret-stdin", "--no-browser", "--timeout", "50ms"];
  const waited = await run("connect", "github", ...client);
  expect(waited.code).toBe(124);
  expect(waited.stderr).toContain(
    "https://github.com/login/oauth/authorize?response_type=code&client_id=my-app&",
  );
  const file = join(cwd, "services", "github.json");
  const before = readFileSync(file, "utf8");
  const kept = await run("services", "add", "github", "--auth", "token");
  expect([kept.code, readFileSync(file, "utf8")], kept.stderr).toEqual([1, before]);
  expect(kept.stderr).toContain("--force replaces it");
  const token = await run("services", "add", "github", "--auth", "token", "--force", "-q");
  expect(token.stdout).toContain('-      "scheme": "oauth2"');
  const connected = await run("connect", "github", "--secret-stdin");
  expect(connected.stdout, connected.stderr).toContain("github  connected");
});

test.each([
  ["gitlb", [], "did you mean gitlab?"],
  ["zendesk", [], "subdomain is missing"],
  ["zendesk", ["--set", "subdomain"], "--set takes name=value"],
  ["gitlab", ["--set", "host=10.1.2.3"], "leads to 10.1.2.3, which is not on the public internet"],
])("services add %s %j writes nothing and says why", async (slug, flags, said) => {
  const cwd = scratch({ "millrace.json": "{}" });
  const ended = await inside(["services", "add", slug, ...flags], { cwd });
  expect([ended.code, existsSync(join(cwd, "services"))]).toEqual([2, false]);
  expect(ended.stderr).toContain(said);
});

test("a check says what changed and what breaks, writes nothing, and ends with 1", async () => {
  const cwd = await project(true);
  const before = readFileSync(fileOf(cwd), "utf8");
  const required = { name: "kind", in: "query", required: true, schema: { type: "string" } };
  const next = {
    ...SPEC,
    paths: { "/pets": { get: operation({ parameters: [required] }) } },
  };
  writeFileSync(join(cwd, "openapi.json"), JSON.stringify(next));
  const checked = await inside(["services", "import", "openapi.json", "--check"], { cwd });
  expect(checked.code).toBe(1);
  expect(checked.stdout).toContain('-        "id": "add_pet"');
  expect(checked.stderr).toContain("breaking: add_pet is gone");
  expect(checked.stderr).toContain("breaking: list_pets now requires kind");
  expect(readFileSync(fileOf(cwd), "utf8")).toBe(before);
  const json = await inside(["services", "import", "openapi.json", "--check", "--json"], { cwd });
  const [result, summary] = jsonLines(json.stdout);
  expect(result).toMatchObject({
    change: "changed",
    operations: { added: [], changed: ["list_pets"] },
  });
  expect(summary).toMatchObject({ kind: "summary", exitCode: 1 });
  await inside(["services", "import", "openapi.json"], { cwd });
  expect((await inside(["services", "import", "openapi.json", "--check"], { cwd })).code).toBe(0);
});

test.each([
  ["a text of no kind", "openapi: [3.1.0", 2, "is neither JSON nor YAML"],
  ["aliases that multiply", bomb(), 2, "is neither JSON nor YAML"],
  ["a document of another kind", '{"swagger":"2.0"}', 1, "convert it to OpenAPI 3 first"],
  ["no absolute server", JSON.stringify({ ...SPEC, servers: [] }), 1, "openapi_base_url"],
])("%s writes nothing and says why", async (_name, text, code, said) => {
  const cwd = scratch({ "openapi.json": text });
  const ended = await inside(["services", "import", "openapi.json"], { cwd });
  expect([ended.code, existsSync(join(cwd, "services"))]).toEqual([code, false]);
  expect(ended.stderr).toContain(said);
});

test("descriptors of a project count once the person trusts these very files; a check of a flow reads them anyway", async () => {
  const cwd = await project(true);
  writeFileSync(join(cwd, "x.flow"), CALL);
  const refused = await inside(["services", "list"], { cwd });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("is not trusted, and it sets services");
  const inner = createHash("sha256")
    .update(readFileSync(fileOf(cwd)))
    .digest();
  const digest = `sha256:${createHash("sha256").update("{}").update(inner).digest("hex")}`;
  const env = { MILLRACE_TRUST_PROJECT: digest };
  const listed = await inside(["services", "list", "--json"], { cwd, env });
  expect(JSON.parse(listed.stdout).items).toEqual([
    {
      slug: "pet-shop",
      title: "Pet Shop",
      scheme: "none",
      baseUrl: "https://pets.example/v1",
      operations: ["list_pets", "add_pet"],
    },
  ]);
  const checked = await inside(["validate", "x.flow"], { cwd });
  expect([checked.code, checked.stderr.includes('"nope"')], checked.stderr).toEqual([3, true]);
  writeFileSync(
    fileOf(cwd),
    readFileSync(fileOf(cwd), "utf8").replace("pets.example", "evil.example"),
  );
  expect((await inside(["services", "list"], { cwd, env })).code).toBe(2);
});

test("descriptors beside the user's own file need no trust; the project's counts where both have one", async () => {
  const cwd = await project(true);
  const home = scratch({ "config.json": "{}" });
  mkdirSync(join(home, "services"));
  const own = JSON.parse(readFileSync(fileOf(cwd), "utf8"));
  const write = (name: string, value: object): void =>
    writeFileSync(join(home, "services", name), JSON.stringify(value));
  write("a.json", { ...own, title: "Mine" });
  const titles = async (where: string): Promise<string[]> => {
    const { stdout } = await inside(["services", "list", "--json", "--home", home], {
      cwd: where,
      env: { MILLRACE_TRUST_PROJECT: where === cwd ? "1" : "" },
    });
    return JSON.parse(stdout).items.map(({ title }: { title: string }) => title);
  };
  expect([await titles(scratch()), await titles(cwd)]).toEqual([["Mine"], ["Pet Shop"]]);
  write("b.json", own);
  const twice = await inside(["services", "list", "--home", home], { cwd: scratch() });
  expect([twice.code, twice.stderr.includes('both describe "pet-shop"')]).toEqual([2, true]);
  write("b.json", {
    ...own,
    serviceIntegration: {
      ...own.serviceIntegration,
      baseUrl: "ftp://x",
      operations: [{ id: "list", method: "GET", path: "list" }],
    },
  });
  const wrong = await inside(["services", "list", "--home", home], { cwd: scratch() });
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain("/serviceIntegration/baseUrl");
  expect(wrong.stderr).toContain("/serviceIntegration/operations/0/path");
  writeFileSync(join(home, "services", "b.json"), '{\n  "slug": "b",\n}');
  const broken = await inside(["services", "list", "--home", home], { cwd: scratch() });
  expect(broken.code).toBe(2);
  expect(broken.stderr).toMatch(/b\.json is not JSON: line 3, column 1: /);
  // What asks nothing of a service reads none of them.
  const runs = await inside(["runs", "list", "--home", home], { cwd: scratch() });
  expect([runs.code, runs.stderr]).toEqual([0, expect.not.stringContaining("services")]);
});

test("a flow is checked by what a named server knows, in the words of a check here", async () => {
  const at = await world();
  const cwd = await project(true);
  writeFileSync(join(cwd, "x.flow"), CALL);
  writeFileSync(join(cwd, "cut.flow"), "flow 1 cut {");
  const there = ["--server", at.url];
  const env = { MILLRACE_TRUST_PROJECT: "1" };
  // The service lies beside the flow here, and is unknown there.
  const here = await inside(["validate", "x.flow", "--json"], { cwd });
  expect([here.code, here.stdout.includes("nope")]).toEqual([3, true]);
  const known = await inside(["validate", "x.flow", "--json", ...there], { cwd, env });
  expect(known.stdout).toContain("connection pet-shop is not declared in this flow");
  const flows = await at.inside(["validate", "hello.flow"]);
  expect([flows.code, flows.stderr]).toEqual([0, "✓ hello.flow: nothing found\n"]);
  const cut = await inside(["validate", "cut.flow", ...there], { cwd, env });
  expect([cut.code, cut.stderr]).toEqual([3, expect.stringContaining("cut.flow:1:12")]);
  const nobody = await inside(["validate", "x.flow", "--server", "http://127.0.0.1:1"], {
    cwd,
    env,
  });
  expect([nobody.code, nobody.stderr]).toEqual([6, expect.stringContaining("127.0.0.1:1")]);
});

const LOGIN = flow(
  "connection pets: oauth {",
  '  service = "pet-shop"',
  "}",
  "",
  "output n: int = 1",
);

test("an import makes the project file that services need, and says how to trust it", async () => {
  const cwd = scratch({ "openapi.json": JSON.stringify(SPEC), "x.flow": LOGIN });
  const made = await inside(["services", "import", "openapi.json"], { cwd });
  expect([made.code, readFileSync(join(cwd, "millrace.json"), "utf8")]).toEqual([0, "{}\n"]);
  expect(made.stderr).toMatch(/millrace\.json: added.*\nnext: millrace config trust\n$/s);
  expect((await inside(["validate", "x.flow"], { cwd })).code).toBe(0);
  await inside(["config", "trust"], { cwd });
  expect((await inside(["services", "list"], { cwd })).stdout).toContain("pet-shop");
  const again = await inside(["services", "import", "openapi.json"], { cwd });
  expect(again.stderr, "trusted, and nothing has changed").not.toContain("next:");
});

test("descriptors without a project file are named by every command that would need them", async () => {
  const cwd = await project(true);
  writeFileSync(join(cwd, "x.flow"), LOGIN);
  rmSync(join(cwd, "millrace.json"));
  const lines: readonly (readonly [line: string, code: number])[] = [
    ["validate x.flow", 3],
    ["run x.flow", 3],
    ["services list", 2],
    ["connect pet-shop", 2],
    ["config trust", 2],
  ];
  for (const [line, code] of lines) {
    const told = await inside(line.split(" "), { cwd });
    expect([line, told.code], told.stderr).toEqual([line, code]);
    expect(told.stderr.replace(/\s+/g, " "), line).toContain(
      `${fileOf(cwd)} does not count: there is no millrace.json beside services/; write {} into ${join(cwd, "millrace.json")}, then run millrace config trust`,
    );
  }
});

test.each([
  [
    'connection pets: oauth {\n  service = "pet-shp"\n}',
    'service must be one of pet-shop, found "pet-shp"',
    "pet-shop",
  ],
  [
    "connection pet-shop: anything",
    "kind must be one of oauth, oauth2, bearer, apiKey, basic, none",
    "",
  ],
  ["connection pet-shop: api_key", "kind must be one of", "apiKey"],
  [
    'node a: ai {\n  provider = "lcal"\n  input = "hi"\n}',
    "provider must be one of anthropic, google, house, local, mock, openai",
    "local",
  ],
  [
    'node a: ai {\n  provider = "house"\n  input = "hi"\n  failover = [{ provider: "hous" }]\n}',
    "provider must be one of",
    "house",
  ],
])("%s is an error of validate and of run, with the nearest name", async (lines, says, near) => {
  const cwd = await project(true);
  writeFileSync(join(cwd, "x.flow"), flow(lines));
  const providers = { house: { kind: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1" } };
  writeFileSync(join(cwd, "millrace.json"), JSON.stringify({ providers }));
  for (const command of ["validate", "run"]) {
    const told = await inside([command, "x.flow"], { cwd, env: { MILLRACE_TRUST_PROJECT: "1" } });
    expect(told.code, told.stderr).toBe(3);
    expect(told.stderr).toContain(`error[FLOW3006] ${says}`);
    if (near !== "") expect(told.stderr).toContain(`did you mean ${near}?`);
  }
});

test("the providers that a flow may name without configuration are those that are listed", async () => {
  const cwd = scratch({ "x.flow": flow('node a: ai {\n  provider = "nobody"\n  input = "hi"\n}') });
  const env = { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
  const listed = await inside(["providers", "list", "--json"], { cwd, env });
  const ids = (JSON.parse(listed.stdout).items as { id: string }[]).map(({ id }) => id).sort();
  const told = await inside(["validate", "x.flow"], { cwd });
  expect(told.stderr).toContain(`provider must be one of ${ids.join(", ")}, found "nobody"`);
});
