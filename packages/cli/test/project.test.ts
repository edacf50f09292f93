/** A new project, another flow in it, and a copy of what it keeps. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { expect, test } from "vitest";
import { ROOT, scratch } from "./cli.ts";
import { inside } from "./inside.ts";

test("init makes a project whose flow runs, passes its test and is canonical", async () => {
  const cwd = scratch();
  const told = await inside(["init", "shop"], { cwd });
  expect([told.code, told.stdout]).toEqual([
    0,
    "shop/millrace.json\nshop/millrace.schema.json\nshop/fixtures/hello/golden.ndjson\nshop/flows/hello.flow\nshop/fixtures/hello/inputs.json\nshop/.gitignore\n",
  ]);
  expect(told.stderr).toContain("next: cd shop\nnext: millrace run flows/hello.flow\n");
  const shop = join(cwd, "shop");
  expect(JSON.parse(readFileSync(join(shop, "millrace.json"), "utf8"))).toEqual({
    $schema: "./millrace.schema.json",
    flows: "flows",
  });
  expect(JSON.parse(readFileSync(join(shop, "millrace.schema.json"), "utf8"))).toMatchObject({
    title: "Configuration of Millrace",
  });
  mkdirSync(join(cwd, "app/node_modules/@millrace/cli"), { recursive: true });
  writeFileSync(join(cwd, "app/node_modules/@millrace/cli/schema.json"), "{}");
  await inside(["init", "app"], { cwd });
  expect(JSON.parse(readFileSync(join(cwd, "app/millrace.json"), "utf8")).$schema).toBe(
    "./node_modules/@millrace/cli/schema.json",
  );
  expect((await inside(["run", "flows/hello.flow"], { cwd: shop })).stdout).toContain(
    "Hello, world!",
  );
  const tested = await inside(["test", "flows"], { cwd: shop });
  expect([tested.code, tested.stderr]).toEqual([0, "✓ flows/hello.flow\n1 test passed\n"]);
  expect((await inside(["fmt", "--check", "flows"], { cwd: shop })).code).toBe(0);
});

test("init writes nothing over what is there, unless it is forced", async () => {
  const cwd = scratch({ "millrace.json": "{}", ".gitignore": "dist" });
  const refused = await inside(["init"], { cwd });
  expect([refused.code, refused.stderr]).toEqual([
    1,
    `error: millrace.json exists already in ${cwd}; --force replaces what is there\n`,
  ]);
  expect(readdirSync(cwd).sort()).toEqual([".gitignore", "millrace.json"]);
  expect((await inside(["init", "--force"], { cwd })).code).toBe(0);
  expect(readFileSync(join(cwd, ".gitignore"), "utf8")).toBe("dist\nout/\n");
  expect((await inside(["init", "--force", "--json"], { cwd })).stdout).not.toContain(".gitignore");
});

test("every example is a template, and the flow of each is valid in its project", async () => {
  const names = readdirSync(join(ROOT, "examples"))
    .filter((folder) => existsSync(join(ROOT, "examples", folder, `${folder.slice(3)}.flow`)))
    .map((folder) => folder.slice(3));
  expect(names).toContain("support-triage");
  const cwd = scratch();
  for (const name of names) {
    expect(await inside(["init", name, "--template", name], { cwd })).toMatchObject({ code: 0 });
    const checked = await inside(["validate", "flows"], { cwd: join(cwd, name) });
    expect(checked.code, checked.stderr).toBe(0);
  }
});

test("new writes a flow of the given name into the project's folder of flows, with its fixtures", async () => {
  const cwd = scratch({ "millrace.json": '{ "flows": "all" }' });
  const told = await inside(["new", "weekly", "--template", "support-triage"], {
    cwd,
    env: { npm_command: "exec" }, // as npx says
  });
  expect([told.code, told.stderr]).toEqual([
    0,
    "next: npx millrace run all/weekly.flow\nnext: npx millrace test all/weekly.flow --update\n",
  ]);
  expect(readFileSync(join(cwd, "all/weekly.flow"), "utf8")).toContain("\nflow 1 weekly {\n");
  expect(existsSync(join(cwd, "fixtures/weekly/answers.ndjson"))).toBe(true);
  const updated = await inside(["test", "all", "--update"], { cwd });
  expect([updated.code, updated.stderr]).toEqual([
    0,
    "✓ all/weekly.flow (updated)\n1 test passed\n",
  ]);
  expect((await inside(["new", "weekly"], { cwd })).code).toBe(1);
  expect((await inside(["new", "weekly", "--force"], { cwd })).code).toBe(0);
});

test.each([
  [["init", "--template", "helo"], 'there is no template "helo"; did you mean hello?'],
  [["new", "Weekly Report"], "is no name of a flow"],
  [["new", "../out"], "is no name of a flow"],
  [
    ["new", "weekly"],
    "there is no millrace.json in this folder or above it; go into the folder of a project, or make one with millrace init",
  ],
  [["init", "a-file/x"], "cannot write"],
])("%j is exit code 2", async (words, says) => {
  const told = await inside(words, { files: { "a-file": "" } });
  expect([told.code, told.stdout]).toEqual([2, ""]);
  expect(told.stderr).toContain(says);
});

test("a backup is one file with everything that the store keeps, and never replaces one", async () => {
  const home = scratch();
  const store = await openStore({ dir: home });
  await store.templates.list();
  await store.close();
  const cwd = scratch();
  const env = { MILLRACE_HOME: home };
  expect(await inside(["backup", "copy.db"], { cwd, env })).toMatchObject({
    code: 0,
    stdout: "",
    stderr: "copy.db has everything but keys and tokens\n",
  });
  const again = await inside(["backup", "copy.db"], { cwd, env });
  expect([again.code, again.stderr]).toEqual([
    2,
    "error: copy.db exists already; a backup never overwrites; choose another name\n",
  ]);
  const restored = scratch();
  writeFileSync(join(restored, "millrace.db"), readFileSync(join(cwd, "copy.db")));
  const opened = await openStore({ dir: restored, readonly: true });
  expect(await opened.templates.list()).toEqual([]);
  await opened.close();
});

test("a backup that cannot be made says why", async () => {
  // as after a move: the folder has what was there before
  const moved = scratch({ "config.json": '{"store":{"url":"env:STORE"}}' });
  await (await openStore({ dir: moved })).close();
  const old = await inside(["backup", "copy.db"], { env: { MILLRACE_HOME: moved } });
  expect([old.code, old.stderr]).toEqual([2, expect.stringContaining("is in PostgreSQL")]);
  const named = await inside(["backup", "copy.db", "--home", moved]);
  expect([named.code, named.stderr]).toEqual([0, expect.stringContaining("has everything")]);
  const list = await inside(["runs", "list"], { env: { MILLRACE_HOME: moved } });
  const warned = `warning: this is the data folder ${moved}, and not the store that store.url names`;
  expect([list.code, list.stderr]).toEqual([0, expect.stringContaining(warned)]);
  const none = await inside(["backup", "copy.db"], { env: { MILLRACE_HOME: scratch() } });
  expect([none.code, none.stderr.includes("there is no store in")]).toEqual([6, true]);
  const home = scratch();
  await (await openStore({ dir: home })).close();
  const nowhere = await inside(["backup", "no/such/folder.db"], { env: { MILLRACE_HOME: home } });
  expect([nowhere.code, nowhere.stdout]).toEqual([6, ""]);
  expect(nowhere.stderr).toMatch(/^error: .+/);
  const damaged = scratch({ "millrace.db": "no database\n".repeat(500) });
  expect((await inside(["backup", "x.db"], { env: { MILLRACE_HOME: damaged } })).code).toBe(6);
});

test("new finds the project from deep inside it", async () => {
  const cwd = scratch();
  expect((await inside(["init", "a/b/c"], { cwd })).code).toBe(0);
  const deep = join(cwd, "a/b/c/flows/deeper");
  mkdirSync(deep);
  const told = await inside(["new", "second"], { cwd: deep, env: { HOME: cwd } });
  expect([told.code, told.stdout.split("\n")[0]]).toEqual([0, "../second.flow"]);
});
