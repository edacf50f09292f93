import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tinyGguf } from "@millrace/test-support/gguf";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { platformOf } from "../src/engine/engines.ts";
import type { EngineLock } from "../src/engine/lock.ts";
import { ENGINE_LOCK } from "../src/engine/lock.ts";
import { type FileServer, openFileServer } from "./file-server.ts";
import { codeOf, eagerClock, filesBelow, type Opened, openManager, sha256 } from "./opened.ts";
import { integrityOf, type TarMember, tarball } from "./tarball.ts";

const PLATFORM = "test-x64";
const OLD = { version: "0.9.0", engine: "llama-cpp/0.9.0" };

let server: FileServer;
beforeAll(async () => {
  server = await openFileServer();
});
afterAll(() => server.close());

const manifest = {
  scripts: { preinstall: "touch RAN", install: "touch RAN", postinstall: "touch RAN" },
};
const MAIN = tarball([
  { path: "package/package.json", body: JSON.stringify(manifest) },
  { path: "package/dist", type: "5" },
  { path: "package/dist/index.js", body: "export {};\n" },
  { path: "package/bin/run.sh", body: "#!/bin/sh\n", mode: 0o777 },
  { path: "file.js", prefix: `package/${"long/".repeat(12)}folder`, body: "far down" },
]);
const NATIVE = tarball([
  { path: "package/bins/llama.node", body: Buffer.alloc(200_000, 7), mode: 0o600 },
]);

let registries = 0;
/** A registry with an engine of two packages; `changed` replaces what it sends. */
function registry(
  tarballs: { main?: Buffer; native?: Buffer } = {},
  faults: Parameters<FileServer["serve"]>[2] = [],
  sends: Buffer = tarballs.main ?? MAIN,
) {
  const base = `/registry${++registries}`;
  const { main = MAIN, native = NATIVE } = tarballs;
  server.serve(`${base}/node-llama-cpp/-/node-llama-cpp-1.0.0.tgz`, { body: sends }, faults);
  server.serve(`${base}/@native/${PLATFORM}/-/${PLATFORM}-1.0.0.tgz`, { body: native });
  const entry = (name: string, body: Buffer) => ({
    name,
    version: "1.0.0",
    integrity: integrityOf(body),
    bytes: body.length,
    path: `node_modules/${name}`,
  });
  const lock: EngineLock = {
    version: "1.0.0",
    packages: [entry("node-llama-cpp", main)],
    platforms: { [PLATFORM]: entry(`@native/${PLATFORM}`, native) },
  };
  return {
    settings: { registryUrl: `${server.origin}${base}/` },
    parts: { engineLock: lock, platform: PLATFORM },
    total: main.length + native.length,
    asked: () => server.asked.filter(({ path }) => path.startsWith(`${base}/`)),
  };
}

const left = ({ enginesDir }: Opened): readonly string[] =>
  existsSync(enginesDir) ? filesBelow(enginesDir) : [];

test("an engine is fetched, checked and unpacked, and no script of it runs", async () => {
  const { total, asked, ...options } = registry();
  const opened = openManager(options);
  expect(opened.manager.engines()).toEqual([
    { id: "llama-cpp", version: null, platform: PLATFORM, state: "absent", source: null },
  ]);
  expect(await codeOf(() => opened.manager.fetchEngine("other"))).toBe("not_found");
  const job = opened.manager.fetchEngine("llama-cpp");
  expect(job).toMatchObject({ kind: "engine", stage: "resolve" });
  expect(opened.manager.fetchEngine("llama-cpp").id).toBe(job.id);
  expect(opened.manager.engines()[0]?.state).toBe("fetching");
  expect((await opened.ended(job)).error).toBeNull();
  const steps = opened.steps("llama-cpp");
  expect(steps.every(({ message }) => message === "llama-cpp")).toBe(true);
  for (const [stage, most] of [
    ["resolve", 0],
    ["download", total],
    ["verify", total],
    ["register", 1],
    ["done", 1],
  ] as const) {
    const of = steps.filter((step) => step.stage === stage);
    expect([of.at(-1)?.current, of.at(-1)?.total]).toEqual([most, most]);
  }
  expect([...new Set(steps.map(({ stage }) => stage))]).toEqual([
    "resolve",
    "download",
    "verify",
    "register",
    "done",
  ]);
  const folder = `llama-cpp/1.0.0/${PLATFORM}`;
  expect(left(opened)).toEqual(
    [
      "engine.json",
      `node_modules/@native/${PLATFORM}/bins/llama.node`,
      "node_modules/node-llama-cpp/bin/run.sh",
      "node_modules/node-llama-cpp/dist/index.js",
      `node_modules/node-llama-cpp/${"long/".repeat(12)}folder/file.js`,
      "node_modules/node-llama-cpp/package.json",
    ]
      .map((name) => `${folder}/${name}`)
      .sort(),
  );
  const mode = (name: string) =>
    statSync(join(opened.enginesDir, folder, "node_modules", name)).mode & 0o777;
  expect([mode("node-llama-cpp/bin/run.sh"), mode(`@native/${PLATFORM}/bins/llama.node`)]).toEqual([
    0o755, 0o644,
  ]);
  expect(
    JSON.parse(readFileSync(join(opened.enginesDir, folder, "engine.json"), "utf8")),
  ).toMatchObject({ version: "1.0.0", platform: PLATFORM });
  expect(opened.manager.engines()).toEqual([
    { id: "llama-cpp", version: "1.0.0", platform: PLATFORM, state: "ready", source: "fetched" },
  ]);
  const again = await opened.ended(opened.manager.fetchEngine("llama-cpp"));
  expect(again.stage).toBe("done");
  expect(asked()).toHaveLength(2);
});

/** What a package may hold, with the right digest, and is refused all the same. */
const HOSTILE: { readonly [what: string]: Buffer } = {
  "a symbolic link": tarball([{ path: "package/a", type: "2", link: "/etc/passwd" }]),
  "a hard link": tarball([{ path: "package/a", type: "1", link: "package/b" }]),
  "a device": tarball([{ path: "package/a", type: "3" }]),
  "a pipe": tarball([{ path: "package/a", type: "6" }]),
  "a header of another format": tarball([{ path: "package/a", type: "x", body: "12 path=../x\n" }]),
  "an absolute path": tarball([{ path: "/tmp/millrace-evil", body: "x" }]),
  "a way up": tarball([{ path: "package/../../evil", body: "x" }]),
  "a way up by its prefix": tarball([{ path: "evil", prefix: "package/..", body: "x" }]),
  "another root": tarball([{ path: "other/evil", body: "x" }]),
  "a root that only begins alike": tarball([{ path: "packages/evil", body: "x" }]),
  "a backslash": tarball([{ path: "package/..\\evil", body: "x" }]),
  "a drive": tarball([{ path: "package/c:evil", body: "x" }]),
  "the same file twice": tarball([
    { path: "package/a", body: "1" },
    { path: "package/a", body: "2" },
  ]),
  "a wrong checksum": tarball([{ path: "package/a", body: "x", badChecksum: true }]),
  "a number that is none": tarball([{ path: "package/a", size: Number.NaN }]),
  "less than it says": tarball([{ path: "package/a", body: "x", size: 5_000 }], false),
  "more than an engine has": tarball([{ path: "package/a", size: 2 ** 30 + 1 }]),
  "no gzip": Buffer.from("this is not gzip, it only has the right digest"),
  "half a gzip": MAIN.subarray(0, MAIN.length - 20),
  "more entries than an engine has": tarball(
    Array.from({ length: 20_001 }, (): TarMember => ({ path: "", type: "g" })),
  ),
};

test.each(Object.entries(HOSTILE))(
  "a package with %s is refused, and nothing of the job is left",
  async (_, main) => {
    const opened = openManager(registry({ main }));
    const job = await opened.ended(opened.manager.fetchEngine("llama-cpp"));
    expect(job.error?.code).toBe("download_failed");
    expect(job.error?.message).not.toContain(opened.enginesDir);
    expect(left(opened)).toEqual([]);
    expect(existsSync(join(opened.enginesDir, "../evil")) || existsSync("/tmp/millrace-evil")).toBe(
      false,
    );
  },
);

describe("a registry", () => {
  test.each([
    ["another file", MAIN.subarray(1)],
    ["a longer file", Buffer.concat([MAIN, Buffer.alloc(1)])],
    ["a shorter file", MAIN.subarray(0, 100)],
    ["a file of the same length", Buffer.alloc(MAIN.length)],
  ])("that gives %s is not believed", async (_, sends) => {
    const opened = openManager(registry({}, [], sends));
    const job = await opened.ended(opened.manager.fetchEngine("llama-cpp"));
    expect(job.error?.code).toBe("engine_digest_mismatch");
    expect(left(opened)).toEqual([]);
    expect(opened.manager.engines()[0]?.state).toBe("absent");
  });

  test.each([
    [404, "download_not_found"],
    [403, "download_denied"],
    [500, "engine_offline"],
  ])("that answers %i ends it with %s", async (status, code) => {
    const opened = openManager(registry({}, [{ status }]));
    const job = await opened.ended(opened.manager.fetchEngine("llama-cpp"));
    expect(job.error?.code).toBe(code);
    expect(left(opened)).toEqual([]);
  });

  test("that breaks off, or is not there, ends it with engine_offline", async () => {
    const cut = openManager(registry({}, [{ cutAt: 100 }]));
    expect((await cut.ended(cut.manager.fetchEngine("llama-cpp"))).error?.code).toBe(
      "engine_offline",
    );
    const none = openManager({ ...registry(), settings: { registryUrl: "http://127.0.0.1:1" } });
    expect((await none.ended(none.manager.fetchEngine("llama-cpp"))).error?.code).toBe(
      "engine_offline",
    );
    expect([...left(cut), ...left(none)]).toEqual([]);
  });

  test("that is slow can be cancelled, and nothing is left", async () => {
    const opened = openManager(registry({}, [{ stallAt: 100 }]));
    const job = opened.manager.fetchEngine("llama-cpp");
    await opened.seen(({ payload }) => (payload as { stage: string }).stage === "download");
    opened.manager.cancelJob(job.id);
    expect((await opened.ended(job)).stage).toBe("cancelled");
    expect(left(opened)).toEqual([]);
  });
});

test("without an engine for the platform it says so, and without any a model is not loaded", async () => {
  const { parts, settings } = registry();
  const opened = openManager({ settings, parts: { ...parts, platform: "linux-x64-musl" } });
  const job = await opened.ended(opened.manager.fetchEngine("llama-cpp"));
  expect(job.error?.code).toBe("engine_unsupported");
  const url = server.serve("/m/e.gguf", { body: tinyGguf() });
  await opened.ended(opened.manager.install({ source: url, allowUnverified: true }));
  expect(await codeOf(() => opened.manager.load("e"))).toBe("engine_missing");
});

test("an install fetches the engine first where none is, and only then", async () => {
  const { total, asked, ...options } = registry();
  const opened = openManager({ ...options, clock: eagerClock() });
  const body = tinyGguf();
  const url = server.serve("/m/with-engine.gguf", { body });
  const args = { source: url, sha256: sha256(body), fetchEngine: true };
  expect((await opened.ended(opened.manager.install(args))).stage).toBe("done");
  const steps = opened.steps("with-engine");
  expect([...new Set(steps.map(({ stage }) => stage))]).toEqual([
    "resolve",
    "engine",
    "download",
    "verify",
    "register",
    "done",
  ]);
  expect(steps.filter(({ stage }) => stage === "engine").at(-1)).toMatchObject({
    current: total,
    total,
    message: "with-engine",
  });
  await opened.ended(opened.manager.install({ ...args, id: "second" }));
  expect(opened.steps("second").some(({ stage }) => stage === "engine")).toBe(false);
  expect(asked()).toHaveLength(2);
});

test("what fetches left behind goes at the start, versions of old go with the last model", async () => {
  const first = openManager(registry());
  await first.manager.close();
  const put = (name: string): void => {
    mkdirSync(join(first.enginesDir, name), { recursive: true });
    writeFileSync(join(first.enginesDir, name, "engine.json"), "{}");
  };
  put(".tmp-0123");
  put(`${OLD.engine}/${PLATFORM}`);
  const opened = openManager({ ...registry(), dir: first.dir, enginesDir: first.enginesDir });
  await opened.manager.scanned;
  expect(left(opened)).toEqual([`${OLD.engine}/${PLATFORM}/engine.json`]);
  const url = server.serve("/m/last.gguf", { body: tinyGguf() });
  await opened.ended(opened.manager.install({ source: url, allowUnverified: true }));
  await opened.manager.remove("last");
  expect(left(opened)).toEqual([]);
});

test("the lock of this release names every package by SHA-512 and a place below node_modules", () => {
  const all = [...ENGINE_LOCK.packages, ...Object.values(ENGINE_LOCK.platforms)];
  expect(ENGINE_LOCK.packages.length).toBeGreaterThan(100);
  expect(Object.keys(ENGINE_LOCK.platforms)).toEqual(
    expect.arrayContaining(["linux-x64", "linux-arm64"]),
  );
  for (const { name, integrity, path, bytes } of all) {
    expect(integrity).toMatch(/^sha512-[A-Za-z0-9+/]{86}==$/);
    expect(path.startsWith("node_modules/") && path.endsWith(`node_modules/${name}`)).toBe(true);
    expect(path.includes("..") || bytes <= 0 || bytes > 200 * 1_048_576).toBe(false);
  }
  expect(new Set(all.map(({ path }) => path)).size).toBe(all.length);
});

test("the C library of this process is looked up once, without the names of its peers", () => {
  platformOf();
  const getReport = vi.spyOn(process.report, "getReport");
  const first = platformOf();
  expect(platformOf()).toBe(first);
  expect(getReport).not.toHaveBeenCalled();
  expect(Object(process.report)).toMatchObject({ excludeNetwork: false });
});

test("platforms are called as the engine's packages are", () => {
  const name = (platform: string, arch: string, musl = false) =>
    platformOf({ platform, arch, musl });
  expect([
    name("linux", "x64"),
    name("linux", "x64", true),
    name("darwin", "arm64"),
    name("darwin", "x64"),
    name("win32", "arm64"),
  ]).toEqual(["linux-x64", "linux-x64-musl", "mac-arm64-metal", "mac-x64", "win-arm64"]);
});
