/** Whose the folder of models is, and the names and sources that are none. */
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { expect, test } from "vitest";
import { codeOf, openManager, put } from "./opened.ts";

/** A folder of models that holds `a`. */
function withModel(): string {
  const dir = join(temporaryFolder(), "models");
  put(join(dir, "files"), { "a.gguf": tinyGguf() });
  return dir;
}

test("folders and files are the owner's alone", async () => {
  const { dir, manager } = openManager();
  await manager.scanned;
  const modes = ["files", "downloads", "runners"].map(
    (name) => statSync(join(dir, name)).mode & 0o777,
  );
  expect(modes).toEqual([0o700, 0o700, 0o700]);
  expect(statSync(join(dir, "manager.lock")).mode & 0o777).toBe(0o600);
});

test("a second manager lists and refuses changes, until the first is gone; a lock of a dead process is nobody's", async () => {
  const first = openManager({ dir: withModel() });
  await first.manager.scanned;
  const second = openManager({ dir: first.dir });
  await second.manager.scanned;
  expect(second.manager.list().map(({ id }) => id)).toEqual(["a"]);
  const changes = [
    () => second.manager.install({ source: "https://x.example/a.gguf", allowUnverified: true }),
    () => second.manager.remove("a"),
    () => second.manager.fetchEngine("llama-cpp"),
  ];
  for (const change of changes) expect(await codeOf(change)).toBe("models_locked");
  await second.manager.close();
  await first.manager.close();
  const path = join(first.dir, "manager.lock");
  for (const left of [
    JSON.stringify({ pid: process.pid, startTime: "another" }),
    JSON.stringify({ pid: 2 ** 22 + 1, startTime: null }),
    "{",
  ]) {
    writeFileSync(path, left);
    const next = openManager({ dir: first.dir });
    await next.manager.remove("none").catch(() => undefined);
    expect(await codeOf(() => next.manager.remove("none"))).toBe("not_found");
    await next.manager.close();
  }
  expect(readdirSync(first.dir).filter((name) => name.startsWith("manager.lock"))).toEqual([]);
});

const NO_IDS = [
  ..."../x .. /etc/passwd C:\\x a/b a\\b a..b A аbc ａ a:b:c :a a: .a a. -a %2e%2e".split(" "),
  ...["a\0b", "a\n", "", "x".repeat(300), `${"a".repeat(64)}:${"b".repeat(32)}`, 7],
] as readonly string[];

test("an id that is none is refused by everything that takes one", async () => {
  const { manager } = openManager();
  const source = { source: "https://x.example/a.gguf", allowUnverified: true };
  for (const id of NO_IDS) {
    const calls = [
      ...(["get", "load", "unload", "remove", "acquire"] as const).map(
        (name) => () => manager[name](id),
      ),
      () => manager.install({ ...source, id }),
    ];
    for (const call of calls) expect(await codeOf(call), JSON.stringify(id)).toBe("invalid_args");
  }
});

test.each([
  ..."http://x.example/a.gguf ftp://x.example/a.gguf a.gguf hub: hub:a/../b".split(" "),
  "https://user:pass@x.example/a.gguf",
  { file: "relative.gguf" },
])("a source that cannot be one is refused: %j", async (source) => {
  const { manager } = openManager();
  expect(await codeOf(() => manager.install({ source }))).toBe("invalid_args");
});
