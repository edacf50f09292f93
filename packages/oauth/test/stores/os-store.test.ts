import { OAuthError } from "@millrace/oauth";
import { describeCredentialBackends, osCredentialStore } from "@millrace/oauth/store/os";
import { credentialStoreCases } from "@millrace/oauth/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { fakeLibraries, type Library, openStore } from "./fake-libraries.ts";
import { onPlatform } from "./platform.ts";

// An address that is left to the libraries: what they say is what there is.
beforeEach(() => vi.stubEnv("DBUS_SESSION_BUS_ADDRESS", "tcp:host=127.0.0.1,port=1"));
afterEach(() => vi.unstubAllEnvs());

describe("over stand-ins for both libraries", () => {
  const open = () => openStore(fakeLibraries({ keytar: {}, napi: {} }));
  for (const { name, run } of credentialStoreCases(open)) test(name, run);
});

describe("two libraries that do not see each other's entries", () => {
  test("the first that loads is written, and the entry of the other is deleted", async () => {
    const libraries = fakeLibraries({ keytar: {}, napi: {} });
    libraries.write("napi", { "service:a": "old" });
    await openStore(libraries).set("service:a", "new");
    expect(libraries.items("keytar")).toEqual({ "service:a": "new" });
    expect(libraries.items("napi")).toEqual({});
  });

  test("an entry of the other one is found, and moves", async () => {
    const libraries = fakeLibraries({ keytar: {}, napi: {} });
    libraries.write("napi", { "service:a": "value", "service:b": "stays" });
    const store = openStore(libraries);
    expect(await store.get("service:a")).toBe("value");
    expect(libraries.items("keytar")).toEqual({ "service:a": "value" });
    expect(libraries.items("napi")).toEqual({ "service:b": "stays" });
    expect(await store.get("service:a")).toBe("value");
  });

  test("an entry that cannot move is read all the same", async () => {
    const libraries = fakeLibraries({ keytar: { set: 'throw new Error("full")' }, napi: {} });
    libraries.write("napi", { "service:a": "value" });
    expect(await openStore(libraries).get("service:a")).toBe("value");
    expect(libraries.items("napi")).toEqual({ "service:a": "value" });
  });

  test("what was written in the meantime is newer than what would move", async () => {
    // The other library's answer takes so long that somebody else stores a value in the preferred one.
    const get = `const f = file.replace("napi", "keytar"); fs.writeFileSync(f, '{"service:a":"newer"}');`;
    const libraries = fakeLibraries({ keytar: {}, napi: { get } });
    libraries.write("napi", { "service:a": "older" });
    expect(await openStore(libraries).get("service:a")).toBe("newer");
    expect(libraries.items("keytar")).toEqual({ "service:a": "newer" });
  });

  test("a deletion deletes both, and is true for either", async () => {
    const libraries = fakeLibraries({ keytar: {}, napi: {} });
    libraries.write("keytar", { "service:a": "1" });
    libraries.write("napi", { "service:a": "2", "service:b": "3" });
    const store = openStore(libraries);
    expect(await store.delete("service:a")).toBe(true);
    expect(await store.delete("service:b")).toBe(true);
    expect(await store.delete("service:b")).toBe(false);
    expect([libraries.items("keytar"), libraries.items("napi")]).toEqual([{}, {}]);
  });

  test("a list holds the names of both once, sorted", async () => {
    const libraries = fakeLibraries({ keytar: {}, napi: {} });
    libraries.write("keytar", { "service:b": "1", "service:a": "1" });
    libraries.write("napi", { "service:b": "2", "ai:x": "2" });
    expect(await openStore(libraries).list?.()).toEqual(["ai:x", "service:a", "service:b"]);
  });

  test.each<[Library[], Library]>([
    [["keytar"], "keytar"],
    [["napi"], "napi"],
    [["napi", "keytar"], "napi"],
  ])("with backends %j entries are written to %s", async (backends, expected) => {
    const libraries = fakeLibraries({ keytar: {}, napi: {} });
    await openStore(libraries, { backends }).set("service:a", "v");
    expect(libraries.items(expected)).toEqual({ "service:a": "v" });
    expect(libraries.items(expected === "napi" ? "keytar" : "napi")).toEqual({});
  });

  test("a library that does not load is passed over", async () => {
    const libraries = fakeLibraries({ napi: {} });
    await openStore(libraries).set("service:a", "v");
    expect(libraries.items("napi")).toEqual({ "service:a": "v" });
  });

  test("without any library every call is an error, and none says absent", async () => {
    const store = openStore(fakeLibraries({}));
    const calls = [() => store.get("a"), () => store.set("a", "v"), () => store.delete("a")];
    for (const call of [...calls, async () => store.list?.()]) {
      const error = await call().catch((e: unknown) => e);
      expect(error).toMatchObject({ kind: "Credential", reason: "no_backend", retryable: false });
      expect(String(error)).toContain("npm install keytar");
      expect(String(error)).toContain(
        "or choose the encrypted file store (@millrace/oauth/store/file)",
      );
      expect(String(error)).not.toContain("millrace config");
    }
  });

  test("on macOS, where both write the same item, nothing is deleted after a write", async () => {
    onPlatform("darwin");
    const libraries = fakeLibraries({ keytar: {}, napi: {} });
    await openStore(libraries).set("service:a", "v");
    expect(libraries.calls("napi")).toEqual([]);
    expect(libraries.items("keytar")).toEqual({ "service:a": "v" });
  });
});

describe("what the libraries cannot store", () => {
  test.each(["", "a\0b", "\0", "\ud800"])(
    "the value %j is refused before anything is asked",
    async (value) => {
      const libraries = fakeLibraries({ keytar: {} });
      await expect(openStore(libraries).set("service:a", value)).rejects.toMatchObject({
        kind: "Credential",
        retryable: false,
      });
      expect(libraries.helperPid()).toBeUndefined();
    },
  );

  test("a value above 1 MiB is too large, counted in bytes", async () => {
    const libraries = fakeLibraries({ keytar: {} });
    const store = openStore(libraries);
    const value = "ä".repeat(2 ** 19);
    await store.set("service:a", value);
    expect(await store.get("service:a")).toBe(value);
    await expect(store.set("service:a", `${value}x`)).rejects.toMatchObject({
      reason: "too_large",
    });
  });

  test.each(["", "a\0b", "\udc00"])("the account %j is refused", async (account) => {
    const store = openStore(fakeLibraries({ keytar: {} }));
    const calls = [() => store.get(account), () => store.set(account, "v")];
    for (const call of [...calls, () => store.delete(account)]) {
      await expect(call()).rejects.toMatchObject({ kind: "Credential" });
    }
  });
});

describe("what a library says", () => {
  test.each([
    "Cannot create an item in a locked collection",
    "Couldn't access platform storage: Secret Service: unlock prompt was dismissed",
    "User interaction is not allowed.",
  ])("%j means locked", async (message) => {
    const get = `throw new Error(${JSON.stringify(message)})`;
    const error = await openStore(fakeLibraries({ keytar: { get } }))
      .get("service:a")
      .catch((e: unknown) => e);
    expect(error).toMatchObject({ kind: "Credential", reason: "locked", retryable: false });
    expect(String(error)).toContain("Unlock it and try again");
  });

  test("anything else means unavailable, and its words and the value stay out of the error", async () => {
    const set = 'throw new Error("cannot write " + value + " anywhere")';
    const error = await openStore(fakeLibraries({ keytar: { set } }))
      .set("service:a", "SECRET-1")
      .catch((e: unknown) => e);
    expect(OAuthError.isInstance(error, "Credential") && error.reason).toBe("unavailable");
    expect(String(error)).not.toContain("cannot write");
    expect(String((error as OAuthError).cause)).toContain("cannot write [redacted] anywhere");
  });
});

describe("options", () => {
  const make = (options: object) => () => osCredentialStore({ service: "millrace", ...options });

  test("that make no sense are mistakes of the caller", () => {
    expect(make({ service: "" })).toThrow(TypeError);
    expect(make({ backends: [] })).toThrow(TypeError);
    expect(make({ backends: ["gnome"] })).toThrow(TypeError);
    expect(make({ unlock: "always" })).toThrow(TypeError);
    expect(make({ timeoutMs: Number.NaN })).toThrow(RangeError);
    expect(make({ timeoutMs: 0 })).toThrow(RangeError);
  });

  test("a store that was disposed answers nothing any more", async () => {
    const store = openStore(fakeLibraries({ keytar: {} }));
    await store.set("service:a", "v");
    await store[Symbol.asyncDispose]();
    await expect(store.get("service:a")).rejects.toMatchObject({ reason: "unavailable" });
    await store[Symbol.asyncDispose]();
  });
});

test("the libraries are described: which can be loaded, and why not", async () => {
  const { folder } = fakeLibraries({ napi: {} });
  expect(await describeCredentialBackends({ resolveFrom: folder })).toEqual([
    {
      name: "keytar",
      importable: false,
      state: "unavailable",
      detail: "installed, but its native part does not load",
    },
    {
      name: "napi",
      importable: true,
      state: "ok",
      detail: "the address of the session bus was not understood, nor tried",
    },
  ]);
});

test("on systems without a session bus a library that loads is taken at its word", async () => {
  onPlatform("darwin");
  const { folder } = fakeLibraries({ keytar: {} });
  expect((await describeCredentialBackends({ resolveFrom: folder }))[0]).toEqual({
    name: "keytar",
    importable: true,
    state: "ok",
    detail: "can be used",
  });
});
