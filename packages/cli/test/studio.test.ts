/** `millrace studio`: a folder of flows on the page, saved in its files. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@millrace/client";
import { expect, test } from "vitest";
import { type Running, scratch, start } from "./cli.ts";
import { inside } from "./inside.ts";

const hello = (word: string): string => `flow 1 hello\n\noutput word: string = "${word}"\n`;

interface Listening {
  readonly url: string;
  readonly studio: string;
  readonly flows: string;
}

async function listening(studio: Running): Promise<Listening> {
  await studio.until('"listening"');
  return JSON.parse(studio.output()) as Listening;
}

test("the flows of a folder are on the page, a save is in the file, and runs are kept", async () => {
  const cwd = scratch({ "hello.flow": hello("a") });
  const home = scratch();
  const studio = start(["studio", "--json", "--home", home], { cwd });
  const told = await listening(studio);
  expect(told).toMatchObject({ studio: `${told.url}/studio`, flows: cwd });
  expect(new URL(told.url).hostname).toBe("127.0.0.1");
  expect((await fetch(told.studio)).status).toBe(200);
  const { call, invoke } = createClient({ url: told.url });
  const { value, etag = "" } = await call("get_template", { slug: "hello" });
  expect(value.dsl).toBe(hello("a"));
  await call("save_template", { slug: "hello", dsl: hello("b"), ifMatch: etag });
  expect(readFileSync(join(cwd, "hello.flow"), "utf8")).toBe(hello("b"));
  const late = call("save_template", { slug: "hello", dsl: hello("c"), ifMatch: etag });
  await expect(late).rejects.toMatchObject({ code: "etag_mismatch" });
  const run = await invoke("run_and_wait", { template: "hello", waitMs: 20_000 });
  expect(run).toMatchObject({ summary: { outputs: { word: "b" } } });
  studio.child.kill("SIGINT");
  expect(await studio.ended).toMatchObject({ code: 0 });
  const runs = await inside(["runs", "list", "--home", home], { cwd });
  expect(runs.stdout).toContain(run.runId);
});

test("a project says where its flows are; a folder that is not there yet is made", async () => {
  const cwd = scratch({ "millrace.json": '{"flows":"src/flows"}' });
  mkdirSync(join(cwd, "below"));
  const { flows, url } = await listening(
    start(["studio", "below", "--json", "--store", "memory"], { cwd }),
  );
  expect(flows).toBe(join(cwd, "src/flows"));
  await createClient({ url }).invoke("save_template", { slug: "new", dsl: hello("a") });
  expect(readFileSync(join(flows, "new.flow"), "utf8")).toBe(hello("a"));
});

test("flows read and write files of the folder, as those of a run do", async () => {
  const cwd = scratch({
    "copy.flow":
      'flow 1 copy\n\nnode put: file.write {\n  path = "out.txt"\n  content = "here"\n}\n',
  });
  const { url } = await listening(start(["studio", "--json", "--store", "memory"], { cwd }));
  await createClient({ url }).invoke("run_and_wait", { template: "copy", waitMs: 20_000 });
  expect(readFileSync(join(cwd, "out.txt"), "utf8")).toBe("here");
});

test("a person is told the address, what cannot be read, and that the browser is opened", async () => {
  const bin = scratch();
  const opened = join(bin, "opened.txt");
  for (const name of ["xdg-open", "open"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "$@" > ${opened}\n`, { mode: 0o755 });
  }
  const cwd = scratch({ "hello.flow": hello("a"), "broken.flow": "flow 1 broken\n\nnode {\n" });
  const env = { PATH: `${bin}:${process.env["PATH"]}` };
  const studio = start(["studio"], { cwd, env });
  await studio.until("Ctrl-C ends it\n");
  expect(studio.told()).toMatch(
    /^warning: broken\.flow cannot be read as a flow: 3:1 .*\nstudio: (\S+)\nflows: (\S+)\nCtrl-C ends it\n$/,
  );
  const read = (): string => (existsSync(opened) ? readFileSync(opened, "utf8") : "");
  const [, page] = /^studio: (\S+)$/m.exec(studio.told()) ?? [];
  await expect.poll(read).toBe(`${page}\n`);
});

test("beside another process that has the data directory it says what works", async () => {
  const home = scratch();
  const server = start(["serve", "--port", "0", "--json", "--home", home]);
  await server.until('"listening"');
  const { code, stderr } = await start(["studio", "--no-open", "--home", home]).ended;
  expect([code, stderr]).toEqual([6, expect.stringContaining("--store memory works beside it")]);
  const beside = start(["studio", "--json", "--home", home, "--store", "memory"]);
  await listening(beside);
});

test("what is no folder is refused", async () => {
  const cwd = scratch({ "hello.flow": hello("a") });
  const file = await inside(["studio", "hello.flow"], { cwd });
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining("is no folder")]);
  const none = await inside(["studio", "none"], { cwd });
  expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("cannot read none")]);
});
