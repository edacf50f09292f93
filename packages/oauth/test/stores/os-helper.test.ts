import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { OAuthError } from "@millrace/oauth";
import { describeCredentialBackends } from "@millrace/oauth/store/os";
import { testUnless } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { isAlive } from "@millrace/test-support/processes";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { startChild } from "./child.ts";
import { fakeLibraries, openStore } from "./fake-libraries.ts";

const HAS_PROC = existsSync("/proc/self/stat");
const SECRET = "SECRET-TOKEN-93ab";

beforeEach(() => vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", "tcp:host=127.0.0.1,port=1"));
afterEach(() => {
  vi.unstubAllEnvs();
  vi.useRealTimers();
});

describe("a library that hangs", () => {
  test.each(["await forever", "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)"])(
    "by %s is killed at the limit, and the next call starts anew",
    async (get) => {
      const libraries = fakeLibraries({ keytar: { get: `if (account === "service:a") ${get}` } });
      libraries.write("keytar", { "service:b": "fine" });
      const store = openStore(libraries, { timeoutMs: 2000 });
      const error = await store.get("service:a").catch((e: unknown) => e);
      expect(OAuthError.isInstance(error, "Credential")).toBe(true);
      expect(error).toMatchObject({ reason: "helper_timeout", retryable: true });
      expect(String(error)).toContain("did not answer within 2 s");
      const hanging = libraries.helperPid();
      await expect.poll(() => isAlive(hanging)).toBe(false);
      expect(await store.get("service:b")).toBe("fine");
      expect(libraries.helperPid()).not.toBe(hanging);
    },
  );

  test("takes those with it that wait behind, and nobody waits for ever", async () => {
    const libraries = fakeLibraries({ keytar: { get: "await forever" } });
    const store = openStore(libraries, { timeoutMs: 500 });
    const calls = Array.from({ length: 10 }, (_, i) => store.get(`service:${i}`));
    for (const call of await Promise.allSettled(calls)) {
      expect(call).toMatchObject({ status: "rejected", reason: { reason: "helper_timeout" } });
    }
  });

  test("is described as what it is", async () => {
    const helperUrl = script("setInterval(() => {}, 1000);");
    const [keytar] = await describeCredentialBackends({ helperUrl });
    expect(keytar).toMatchObject({ importable: false, state: "unavailable" });
    expect(keytar?.detail).toContain("did not answer within 3 s");
  });
});

test("many slow answers are no hang: each answer gives the next one its time", async () => {
  const get = "await new Promise((done) => setTimeout(done, 400));";
  const libraries = fakeLibraries({ keytar: { get } });
  const store = openStore(libraries, { timeoutMs: 3000 });
  const calls = Array.from({ length: 10 }, (_, i) => store.get(`service:${i}`));
  expect(await Promise.all(calls)).toEqual(Array(10).fill(undefined));
});

describe("a library that crashes, and a helper that is none", () => {
  test.each([
    "process.kill(process.pid, 'SIGSEGV')",
    "process.exit(0)",
    "process.stdout.write('not JSON ' + value + '\\n')",
    "process.stdout.write('{}\\n')",
    'process.stdout.write(\'{"id":99,"value":null}\\n\')',
    "process.stdout.write('null\\n')",
    "for (;;) fs.writeSync(1, value.repeat(1000))",
  ])("by %s is an error without its words, and the next call starts anew", async (mischief) => {
    const set = `if (account === "service:a") { ${mischief}; await forever; }`;
    const libraries = fakeLibraries({ keytar: { set } });
    const store = openStore(libraries);
    const error = await store.set("service:a", SECRET).catch((e: unknown) => e);
    expect(OAuthError.isInstance(error, "Credential")).toBe(true);
    expect(error).toMatchObject({ reason: "helper_crash", retryable: false });
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toContain(SECRET);
    await store.set("service:b", "fine");
    expect(await store.get("service:b")).toBe("fine");
  });

  test("a script that is not there is an error too", async () => {
    const helperUrl = pathToFileURL(join(temporaryFolder(), "missing.js"));
    const store = openStore(fakeLibraries({}), { helperUrl });
    await expect(store.get("service:a")).rejects.toMatchObject({ reason: "helper_crash" });
    const [keytar] = await describeCredentialBackends({ helperUrl });
    expect(keytar).toMatchObject({ importable: false, state: "unavailable" });
  });
});

test("a process without files to spare gets an error, and the store when it has some again", () => {
  const libraries = fakeLibraries({ keytar: {} });
  libraries.write("keytar", { "service:a": "v" });
  const path = fileURLToPath(new URL("./children/ask-without-files.mjs", import.meta.url));
  const script = 'ulimit -n 64 && exec "$0" "$@"';
  const { stdout } = spawnSync("sh", ["-c", script, process.execPath, path, libraries.folder]);
  expect(String(stdout)).toBe("Credential helper_crash, v");
});

describe("what the helper gets", () => {
  test("no argument, no option of Node, and an environment of known names", async () => {
    const folder = temporaryFolder();
    const seen = join(folder, "seen.json");
    vi.stubEnv("PLANTED_SECRET", SECRET);
    vi.stubEnv("NODE_OPTIONS", "--no-warnings");
    vi.stubEnv("XDG_RUNTIME_DIR", "/run/user/1");
    const helperUrl = script(`
      import { writeFileSync } from "node:fs";
      const { argv, execArgv, env } = process;
      writeFileSync(${JSON.stringify(seen)}, JSON.stringify({ argv, execArgv, env }));`);
    const store = openStore(fakeLibraries({}), { helperUrl });
    await expect(store.set("service:a", SECRET)).rejects.toMatchObject({ reason: "helper_crash" });
    const { argv, execArgv, env } = JSON.parse(readFileSync(seen, "utf8"));
    expect(argv).toHaveLength(2);
    expect(execArgv).toEqual([]);
    expect(env).toMatchObject({ ELECTRON_RUN_AS_NODE: "1", XDG_RUNTIME_DIR: "/run/user/1" });
    expect(Object.keys(env)).not.toContain("NODE_OPTIONS");
    expect(JSON.stringify({ argv, env })).not.toContain(SECRET);
  });

  testUnless(HAS_PROC ? undefined : "no /proc")(
    "no secret that the list of processes would show",
    async () => {
      const set =
        'fs.writeFileSync(file + ".proc", fs.readFileSync("/proc/self/cmdline") + "" + fs.readFileSync("/proc/self/environ"));';
      const libraries = fakeLibraries({ keytar: { set } });
      await openStore(libraries).set("service:a", SECRET);
      const shown = readFileSync(join(libraries.folder, "keytar.json.proc"), "utf8");
      expect(shown).toContain("helper.js");
      expect(shown).not.toContain(SECRET);
    },
  );
});

describe("the end of the helper", () => {
  test("comes five seconds after the last answer, and the next call starts another", async () => {
    const libraries = fakeLibraries({ keytar: {} });
    const store = openStore(libraries);
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    await store.set("service:a", "v");
    const first = libraries.helperPid();
    vi.advanceTimersByTime(4_999);
    expect(isAlive(first)).toBe(true);
    vi.advanceTimersByTime(1);
    vi.useRealTimers();
    await expect.poll(() => isAlive(first)).toBe(false);
    expect(await store.get("service:a")).toBe("v");
    expect(libraries.helperPid()).not.toBe(first);
  });

  test("is waited for when the store is disposed, after what is under way", async () => {
    const libraries = fakeLibraries({ keytar: {} });
    const store = openStore(libraries);
    const writing = store.set("service:a", "v");
    await expect.poll(() => libraries.helperPid()).toBeDefined();
    await writing;
    await store[Symbol.asyncDispose]();
    expect(isAlive(libraries.helperPid())).toBe(false);
    expect(libraries.items("keytar")).toEqual({ "service:a": "v" });
  });

  test("does not hold up a process that has nothing else to do", async () => {
    const libraries = fakeLibraries({ keytar: {} });
    libraries.write("keytar", { "service:a": "v" });
    const child = startChild("ask-and-end.mjs", [libraries.folder]);
    expect(String(await child.firstOutput)).toBe("v\n");
    expect(await child.exitCode).toBe(0);
    await expect.poll(() => isAlive(libraries.helperPid())).toBe(false);
  });

  test("comes with the end of whoever asked, also while the library hangs", async () => {
    const libraries = fakeLibraries({ keytar: { get: "await forever" } });
    const child = startChild("ask-and-end.mjs", [libraries.folder]);
    await expect.poll(() => libraries.calls("keytar")).toHaveLength(1);
    expect(isAlive(libraries.helperPid())).toBe(true);
    await child.kill();
    await expect.poll(() => isAlive(libraries.helperPid())).toBe(false);
  });
});

function script(code: string): URL {
  const path = join(temporaryFolder(), "helper.mjs");
  writeFileSync(path, code);
  return pathToFileURL(path);
}
