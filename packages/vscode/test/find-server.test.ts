import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findServer, type ServerPlaces } from "../src/find-server.ts";

let root: string;
let places: ServerPlaces;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "millrace-vscode-"));
  places = {
    setting: "",
    folders: [join(root, "one"), join(root, "two")],
    isTrusted: true,
    path: [join(root, "bin"), "relative", ""].join(":"),
    platform: "linux",
  };
});
afterEach(() => rmSync(root, { recursive: true }));

function program(...parts: string[]): string {
  const file = join(root, ...parts);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, "#!/bin/sh\n");
  chmodSync(file, 0o755);
  return file;
}

test("without any command the server of the extension answers", () => {
  expect(findServer(places)).toEqual({ found: undefined });
});

test("the setting comes before the workspace, and the workspace before the PATH", () => {
  const onPath = program("bin", "millrace");
  expect(findServer(places).found).toEqual({ command: onPath, from: "PATH" });
  const local = program("two", "node_modules", ".bin", "millrace");
  expect(findServer(places).found).toEqual({ command: local, from: "workspace" });
  const setting = program("mine");
  expect(findServer({ ...places, setting }).found).toEqual({ command: setting, from: "setting" });
});

test("a workspace that is not trusted chooses nothing", () => {
  program("two", "node_modules", ".bin", "millrace");
  const setting = program("mine");
  expect(findServer({ ...places, setting, isTrusted: false })).toEqual({ found: undefined });
  const onPath = program("bin", "millrace");
  expect(findServer({ ...places, setting, isTrusted: false }).found).toEqual({
    command: onPath,
    from: "PATH",
  });
});

test.each(["no/such/file", "/no/such/file"])(
  "a setting that is no program is said, and the next place counts: %s",
  (setting) => {
    const onPath = program("bin", "millrace");
    expect(findServer({ ...places, setting })).toEqual({
      found: { command: onPath, from: "PATH" },
      problem: `the setting millrace.path is no program: ${setting}; give the absolute path of the command millrace`,
    });
  },
);

test("a file that cannot be run, and a folder, are no command", () => {
  mkdirSync(join(root, "bin", "millrace"), { recursive: true });
  const file = program("one", "node_modules", ".bin", "millrace");
  chmodSync(file, 0o644);
  expect(findServer(places).found).toBeUndefined();
});
