import { renameSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describeCredentialBackends, osCredentialStore } from "@millrace/oauth/store/os";
import { notLinux, testUnless } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { fakeBus, listen } from "./fake-bus.ts";
import { fakeLibraries, type Library, type Mischief } from "./fake-libraries.ts";

type Options = Partial<Parameters<typeof osCredentialStore>[0]>;

afterEach(() => vi.unstubAllEnvs());

/** A helper that cannot start: whoever asks it gets an error. */
const NO_HELPER: Options = { helperUrl: pathToFileURL("/nonexistent/helper.js") };

describe("what the secret service says before any library is asked", () => {
  test("absent is no entry, and starts no process", async () => {
    useBus(await fakeBus({ open: ["other"] }));
    const store = openStore(NO_HELPER);
    expect([await store.get("a"), await store.delete("a")]).toEqual([undefined, false]);
  });

  test("locked is an error, for reading and for deleting, and starts no process", async () => {
    useBus(await fakeBus({ locked: ["a"] }));
    const store = openStore(NO_HELPER);
    for (const call of [() => store.get("a"), () => store.delete("a")]) {
      const error = await call().catch((e: unknown) => e);
      expect(error).toMatchObject({ kind: "Credential", reason: "locked", retryable: false });
      expect(String(error)).toContain("the keyring is locked. Unlock it and try again; or choose");
    }
  });

  test("open is for the library to read and to delete", async () => {
    useBus(await fakeBus({ open: ["a"] }));
    const { store, libraries } = withLibraries({ keytar: {}, napi: {} });
    libraries.write("keytar", { a: "v" });
    expect(await store.get("a")).toBe("v");
    expect(await store.delete("a")).toBe(true);
    expect(libraries.items("keytar")).toEqual({});
  });

  test("a locked keyring is not written, and one that is missing neither", async () => {
    useBus(await fakeBus({ collection: "locked" }));
    await expect(openStore(NO_HELPER).set("a", "v")).rejects.toMatchObject({ reason: "locked" });
    useBus(await fakeBus({ collection: "none" }));
    const error = await openStore(NO_HELPER)
      .set("a", "v")
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ kind: "Credential", reason: "unavailable" });
    expect(String(error)).toContain("there is no keyring to write to. Log in to a desktop session");
  });

  test("an answer of another type than was asked for is an error of the store", async () => {
    useBus(await fakeBus({ open: ["a"], isConfused: true }));
    await expect(openStore(NO_HELPER).list?.()).rejects.toMatchObject({
      kind: "Credential",
      reason: "unavailable",
    });
  });

  test("an entry whose library is gone is an error, not absent", async () => {
    useBus(await fakeBus({ open: ["a"] }));
    const { store } = withLibraries({ napi: {} }, { backends: ["keytar", "napi"] });
    for (const call of [() => store.get("a"), () => store.delete("a")]) {
      const error = await call().catch((e: unknown) => e);
      expect(error).toMatchObject({ kind: "Credential", reason: "no_backend" });
      expect(String(error)).toContain("npm install keytar");
    }
  });

  test("a list is the names of the open items, and an error when some are locked", async () => {
    useBus(await fakeBus({ open: ["b", "a"] }));
    expect(await openStore(NO_HELPER).list?.()).toEqual(["a", "b"]);
    useBus(await fakeBus({ open: ["b"], locked: ["a"] }));
    await expect(openStore(NO_HELPER).list?.()).rejects.toMatchObject({ reason: "locked" });
  });

  test("an object that is away for a moment is asked for again", async () => {
    const errorName = "org.freedesktop.DBus.Error.UnknownMethod";
    useBus(await fakeBus({ collection: "locked", errorName, errorCount: 2 }));
    await expect(openStore(NO_HELPER).set("a", "v")).rejects.toMatchObject({ reason: "locked" });
    useBus(await fakeBus({ errorName }));
    await expect(openStore(NO_HELPER).get("a")).rejects.toMatchObject({ reason: "unavailable" });
  });

  test("messages of either byte order are understood", async () => {
    useBus(await fakeBus({ locked: ["a"], open: ["b"], isBigEndian: true }));
    const store = openStore(NO_HELPER);
    expect(await store.get("c")).toBeUndefined();
    await expect(store.get("a")).rejects.toMatchObject({ reason: "locked" });
  });
});

describe("with a prompt", () => {
  test("a locked entry is for the library, which makes the desktop ask", async () => {
    useBus(await fakeBus({ locked: ["a"], collection: "locked" }));
    const { store, libraries } = withLibraries({ keytar: {} }, { unlock: "prompt" });
    libraries.write("keytar", { a: "v" });
    expect(await store.get("a")).toBe("v");
    await store.set("a", "new");
    expect(libraries.items("keytar")).toEqual({ a: "new" });
    expect(await store.delete("a")).toBe(true);
  });

  test("that the user dismissed the entry stays locked, whatever the library says", async () => {
    useBus(await fakeBus({ locked: ["a"] }));
    const { store } = withLibraries({ keytar: {}, napi: {} }, { unlock: "prompt" });
    for (const call of [() => store.get("a"), () => store.delete("a")]) {
      await expect(call()).rejects.toMatchObject({ kind: "Credential", reason: "locked" });
    }
  });
});

describe("a bus that is of no use", () => {
  const calls = (store: ReturnType<typeof openStore>) => [
    () => store.get("a"),
    () => store.set("a", "v"),
    () => store.delete("a"),
    async () => store.list?.(),
  ];
  async function refuses(what: string): Promise<void> {
    const [backends, ...outcomes] = await Promise.allSettled([
      describeCredentialBackends(),
      ...calls(openStore(NO_HELPER)).map((call) => call()),
    ]);
    for (const outcome of outcomes) {
      const { reason: error } = outcome as PromiseRejectedResult;
      expect(error).toMatchObject({ kind: "Credential", reason: "unavailable", retryable: false });
      expect(String(error)).toContain(
        `credential store: ${what}. Install gnome-keyring or KWallet`,
      );
      expect(String(error)).toContain(
        "or choose the encrypted file store (@millrace/oauth/store/file)",
      );
      expect(String(error)).not.toContain("millrace config");
    }
    const unavailable = expect.objectContaining({ state: "unavailable" });
    expect(backends).toEqual({ status: "fulfilled", value: [unavailable, unavailable] });
  }

  test("because it is silent", async () => {
    useBus(await listen(() => {}));
    await refuses("the message bus of the session did not answer within 2 s");
  });

  test("because it stops in the middle", async () => {
    useBus(
      await listen((socket) => socket.once("data", () => socket.write(`OK ${"0".repeat(32)}\r\n`))),
    );
    const store = openStore(NO_HELPER);
    await expect(store.get("a")).rejects.toMatchObject({ reason: "unavailable" });
  });

  test("because nobody listens", async () => {
    useBus(join(temporaryFolder(), "nobody"));
    await refuses("cannot connect to the message bus of the session");
  });

  test("because there is none", async () => {
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", undefined);
    vi.stubEnv("XDG_RUNTIME_DIR", temporaryFolder());
    await refuses("this session has no message bus");
    vi.stubEnv("XDG_RUNTIME_DIR", undefined);
    await refuses("this session has no message bus");
  });

  test.each([
    ["the hang-up", () => ""],
    ["the rejection", () => "REJECTED EXTERNAL\r\n"],
    ["a line without an end", () => "x".repeat(2000)],
    ["what is no message", () => `OK x\r\n${"x".repeat(64)}`],
    ["a message without an end", () => `OK x\r\nl\x02\x00\x01\xff\xff\xff\x7f${"\0".repeat(8)}`],
  ])("because of %s", async (_, text) => {
    useBus(await listen((socket) => socket.once("data", () => socket.end(text(), "latin1"))));
    await refuses("the message bus of the session broke the connection off");
  });

  test.each([
    "org.freedesktop.DBus.Error.ServiceUnknown",
    "org.freedesktop.DBus.Error.NameHasNoOwner",
    "org.freedesktop.DBus.Error.Spawn.ChildExited",
  ])("because the answer is %s", async (errorName) => {
    useBus(await fakeBus({ errorName }));
    await refuses("no secret service runs in this session");
  });

  test("because the service refuses", async () => {
    useBus(await fakeBus({ errorName: "org.freedesktop.DBus.Error.AccessDenied" }));
    await refuses(`the secret service refused to answer (org.freedesktop.DBus.Error.AccessDenied)`);
  });
});

describe("the address of the bus", () => {
  test.each([
    ["unix:path=PATH"],
    ["unix:path=PATH,guid=0123"],
    ["unix:guid=0123,path=PATH"],
    ["tcp:host=127.0.0.1,port=1;unix:path=PATH"],
    ["unix:tmpdir=/tmp;unix:path=PATH"],
  ])("may be %s", async (address) => {
    const path = await fakeBus({ locked: ["a"] });
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", address.replace("PATH", path));
    await expect(openStore(NO_HELPER).get("a")).rejects.toMatchObject({ reason: "locked" });
  });

  test("may be escaped", async () => {
    const plain = await fakeBus({ locked: ["a"] });
    const odd = join(temporaryFolder(), "a b,c;d=ü");
    renameSync(plain, odd);
    const escaped = odd.replace(/[^\w/-]/gu, encodeURIComponent);
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", `unix:path=${escaped}`);
    await expect(openStore(NO_HELPER).get("a")).rejects.toMatchObject({ reason: "locked" });
  });

  testUnless(notLinux)("may be an abstract socket", async () => {
    const name = `millrace-test-${process.pid}`;
    await listen(() => {}, `\0${name}`);
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", `unix:abstract=${name},guid=0123`);
    const error = await openStore(NO_HELPER)
      .get("a")
      .catch((e: unknown) => e);
    expect(String(error)).toContain("did not answer within 2 s");
  });

  test("is the socket in XDG_RUNTIME_DIR when nothing else is said", async () => {
    const path = await fakeBus({ locked: ["a"] });
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", "");
    vi.stubEnv("XDG_RUNTIME_DIR", join(path, ".."));
    await expect(openStore(NO_HELPER).get("a")).rejects.toMatchObject({ reason: "locked" });
  });

  test.each([
    "autolaunch:",
    "unixexec:path=/bin/false",
    "tcp:host=127.0.0.1,port=1",
    "unix:path=%zz",
  ])("is left to the libraries when it is %s", async (address) => {
    vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", address);
    const { store, libraries } = withLibraries({ keytar: {} });
    libraries.write("keytar", { a: "v" });
    expect(await store.get("a")).toBe("v");
  });
});

test("each library that can be loaded is described with the state of the keyring", async () => {
  const { folder } = fakeLibraries({ keytar: {}, napi: {} });
  const states: unknown[] = [];
  for (const collection of ["open", "locked", "none"] as const) {
    useBus(await fakeBus({ collection }));
    states.push(...(await describeCredentialBackends({ resolveFrom: folder })));
  }
  const backend = (name: string, state: string, detail: string) => ({
    name,
    importable: true,
    state,
    detail,
  });
  expect(states).toEqual([
    backend("keytar", "ok", "the keyring is unlocked"),
    backend("napi", "ok", "the keyring is unlocked"),
    backend("keytar", "locked", "the keyring is locked"),
    backend("napi", "locked", "the keyring is locked"),
    backend("keytar", "unavailable", "there is no keyring; logging in to a desktop makes one"),
    backend("napi", "unavailable", "there is no keyring; logging in to a desktop makes one"),
  ]);
});

function useBus(path: string): void {
  vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", `unix:path=${path}`);
}

function openStore(options: Options) {
  const store = osCredentialStore({ service: "millrace", ...options });
  onTestFinished(() => store[Symbol.asyncDispose]());
  return store;
}

function withLibraries(which: Partial<Record<Library, Mischief>>, options: Options = {}) {
  const libraries = fakeLibraries(which);
  return { libraries, store: openStore({ resolveFrom: libraries.folder, ...options }) };
}
