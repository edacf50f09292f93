import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import { type CredentialStore, OAuthError } from "@millrace/oauth";
import { fileCredentialStore } from "@millrace/oauth/store/file";
import { temporaryFolder } from "@millrace/test-support/folder";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { startChild } from "./child.ts";

const SECRET = "SECRET-TOKEN-7fd1";
const bytes = randomBytes(32);

describe("the file", () => {
  test("is for its owner alone, and shows accounts but no value", async () => {
    const path = join(temporaryFolder(), "data", "credentials.json");
    const store = fileCredentialStore({ path, key: { bytes } });
    expect([await store.get("service:a"), await store.delete("service:a")]).toEqual([
      undefined,
      false,
    ]);
    expect(existsSync(path)).toBe(false);
    await store.set("service:a", SECRET);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain(SECRET);
    expect(JSON.parse(text)).toEqual({
      v: 1,
      kdf: { name: "none" },
      keyId: expect.stringMatching(/^[0-9a-f]{16}$/),
      entries: {
        "service:a": { iv: expect.any(String), tag: expect.any(String), data: expect.any(String) },
      },
    });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(path, ".."))).toEqual(["credentials.json"]);
  });

  test("has a fresh iv for each write", async () => {
    const path = newPath();
    const store = fileCredentialStore({ path, key: { bytes } });
    const ivs = new Set<string>();
    for (let i = 0; i < 5; i++) {
      await store.set("service:a", "same");
      ivs.add(JSON.parse(readFileSync(path, "utf8")).entries["service:a"].iv);
    }
    expect(ivs.size).toBe(5);
  });

  test("opened with a passphrase says how the key was derived, and opens with that passphrase only", async () => {
    const path = newPath();
    const key = { passphrase: "correct horse" };
    await fileCredentialStore({ path, key }).set("service:a", SECRET);
    expect(JSON.parse(readFileSync(path, "utf8")).kdf).toEqual({
      name: "scrypt",
      N: 131072,
      r: 8,
      p: 1,
      salt: expect.stringMatching(/^[\w+/]{22}==$/),
    });
    expect(await fileCredentialStore({ path, key }).get("service:a")).toBe(SECRET);
    for (const other of [{ passphrase: "wrong" }, { bytes }]) {
      await isUndecipherable(fileCredentialStore({ path, key: other }).get("service:a"));
    }
  });

  test("holds every account and every text", async () => {
    const store = fileCredentialStore({ path: newPath(), key: { bytes } });
    const text = fc.string({ unit: "grapheme" });
    const account = fc.oneof(
      fc.constantFrom("__proto__", "constructor", "toString"),
      text.map((name) => `service:${name.replaceAll("\0", "")}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.dictionary(account, text), async (entries) => {
        for (const [name, value] of Object.entries(entries)) await store.set(name, value);
        for (const [name, value] of Object.entries(entries)) {
          expect(await store.get(name)).toBe(value);
        }
        for (const name of Object.keys(entries)) expect(await store.delete(name)).toBe(true);
        expect(await store.list?.()).toEqual([]);
      }),
      { numRuns: 20 },
    );
  });
});

describe("a file that does not open", () => {
  const damages: Record<string, (file: FileShape) => unknown> = {
    "a changed byte of the data": (file) => void flip(file.entries["service:a"], "data"),
    "a changed byte of the tag": (file) => void flip(file.entries["service:a"], "tag"),
    "a changed byte of the iv": (file) => void flip(file.entries["service:a"], "iv"),
    "a shortened tag": (file) => void Object.assign(entry(file, "service:a"), { tag: "AAAA" }),
    "two exchanged entries": ({ entries }) => {
      const { "service:a": a, "service:b": b } = entries;
      Object.assign(entries, { "service:a": b, "service:b": a });
    },
    "a renamed entry": ({ entries }) => {
      Object.assign(entries, { "service:c": entries["service:a"] });
    },
    "an entry that is none": ({ entries }) => void Object.assign(entries, { "service:a": null }),
    "entries that are none": (file) => ({ ...file, entries: [] }),
    "a derivation that is none": (file) => ({ ...file, kdf: null }),
    "a derivation that costs more": (file) => ({
      ...file,
      kdf: { name: "scrypt", N: 2 ** 30, r: 8, p: 1, salt: "AAAAAAAAAAAAAAAAAAAAAA==" },
    }),
    "a later format": (file) => ({ ...file, v: 2 }),
    "another type": () => [],
    nothing: () => "",
    "half of the file": (file) => JSON.stringify(file).slice(0, -40),
  };

  test.each(Object.entries(damages))(
    "for %s is never absent and never overwritten",
    async (_, damage) => {
      const path = newPath();
      const store = fileCredentialStore({ path, key: { bytes } });
      await store.set("service:a", SECRET);
      await store.set("service:b", "other");
      const file = JSON.parse(readFileSync(path, "utf8")) as FileShape;
      const damaged = damage(file) ?? file;
      const text = typeof damaged === "string" ? damaged : JSON.stringify(damaged);
      writeFileSync(path, text);
      await refusesEverything(store, path, text);
    },
  );

  test("for another key is never absent and never overwritten", async () => {
    const path = newPath();
    await fileCredentialStore({ path, key: { bytes } }).set("service:a", SECRET);
    const other = fileCredentialStore({ path, key: { bytes: randomBytes(32) } });
    await refusesEverything(other, path, readFileSync(path, "utf8"));
  });

  async function refusesEverything(store: CredentialStore, path: string, text: string) {
    await isUndecipherable(store.get("service:a"));
    await isUndecipherable(store.get("service:never"));
    await isUndecipherable(store.set("service:a", "new"));
    await isUndecipherable(store.set("service:never", "new"));
    await isUndecipherable(store.delete("service:a"));
    await isUndecipherable(store.list?.() ?? Promise.resolve());
    expect(readFileSync(path, "utf8")).toBe(text);
    expect(readdirSync(join(path, ".."))).toEqual(["credentials.json"]);
  }
});

describe("what is not for this store's eyes", () => {
  test.each([0o644, 0o640, 0o602])("a file of mode %o is refused", async (mode) => {
    const path = newPath();
    const store = fileCredentialStore({ path, key: { bytes } });
    await store.set("service:a", SECRET);
    chmodSync(path, mode);
    const error = await store.get("service:a").catch((e: unknown) => e);
    expect(error).toMatchObject({ kind: "Credential", reason: "unavailable" });
    expect(String(error)).toContain(`mode 0${mode.toString(8)}`);
    expect(String(error)).toContain(`chmod 600 ${path}`);
    await expect(store.set("service:a", "new")).rejects.toMatchObject({ reason: "unavailable" });
  });

  test.each(["to a file", "to nothing"])("a symbolic link %s is refused", async (to) => {
    const path = newPath();
    const target = `${path}.real`;
    const real = fileCredentialStore({ path: target, key: { bytes } });
    if (to === "to a file") await real.set("service:a", SECRET);
    symlinkSync(target, path);
    const store = fileCredentialStore({ path, key: { bytes } });
    for (const call of [() => store.get("service:a"), () => store.set("service:a", "new")]) {
      await expect(call()).rejects.toMatchObject({ kind: "Credential", reason: "unavailable" });
    }
    expect(await real.get("service:a")).toBe(to === "to a file" ? SECRET : undefined);
  });

  test("a folder and a pipe are refused at once", async () => {
    const folder = newPath();
    mkdirSync(folder);
    const pipe = newPath();
    expect(spawnSync("mkfifo", ["-m", "600", pipe]).status).toBe(0);
    for (const path of [folder, pipe]) {
      await expect(
        fileCredentialStore({ path, key: { bytes } }).get("service:a"),
      ).rejects.toMatchObject({ kind: "Credential", reason: "unavailable" });
    }
  });

  test("a path that cannot be written is a Credential error", async () => {
    const file = newPath();
    writeFileSync(file, "");
    const store = fileCredentialStore({ path: join(file, "x"), key: { bytes } });
    await expect(store.set("service:a", "v")).rejects.toMatchObject({
      kind: "Credential",
      reason: "unavailable",
    });
  });
});

describe("what may be stored", () => {
  test("a value above 1 MiB is too large, and one of 1 MiB is not", async () => {
    const store = fileCredentialStore({ path: newPath(), key: { bytes } });
    await store.set("service:a", "x".repeat(2 ** 20));
    await expect(store.set("service:a", "x".repeat(2 ** 20 + 1))).rejects.toMatchObject({
      reason: "too_large",
    });
    expect((await store.get("service:a"))?.length).toBe(2 ** 20);
  });

  test.each(["", "a\0b", "\ud800"])("an account %j is refused", async (account) => {
    const store = fileCredentialStore({ path: newPath(), key: { bytes } });
    const calls = [() => store.get(account), () => store.set(account, "v")];
    for (const call of [...calls, () => store.delete(account)]) {
      await expect(call()).rejects.toMatchObject({ kind: "Credential" });
    }
  });

  test("half a character is refused: it would not come back", async () => {
    const store = fileCredentialStore({ path: newPath(), key: { bytes } });
    await expect(store.set("service:a", "\udc00")).rejects.toMatchObject({ kind: "Credential" });
  });

  test("a key of another length is a mistake of the caller", () => {
    const path = newPath();
    const make = (key: unknown) => () =>
      fileCredentialStore({ path, key: key as { bytes: Uint8Array } });
    expect(make({ bytes: randomBytes(31) })).toThrow(RangeError);
    expect(make({ bytes: "x".repeat(32) })).toThrow(TypeError);
    expect(make({ passphrase: "" })).toThrow(TypeError);
  });

  test("the key is copied: changing the bytes afterwards changes nothing", async () => {
    const path = newPath();
    const mine = Uint8Array.from(bytes);
    const store = fileCredentialStore({ path, key: { bytes: mine } });
    mine.fill(0);
    await store.set("service:a", "v");
    expect(await fileCredentialStore({ path, key: { bytes } }).get("service:a")).toBe("v");
  });
});

test("stores that share a file see each other's entries and lose none", async () => {
  const path = newPath();
  const stores = Array.from({ length: 3 }, () => fileCredentialStore({ path, key: { bytes } }));
  await Promise.all(
    stores.flatMap((store, s) =>
      Array.from({ length: 5 }, (_, i) => store.set(`service:${s}-${i}`, "v")),
    ),
  );
  const all = stores.flatMap((_, s) => Array.from({ length: 5 }, (_, i) => `service:${s}-${i}`));
  for (const store of stores) expect(await store.list?.()).toEqual(all);
});

test("four processes write into one file and lose no entry", async () => {
  const path = newPath();
  const names = ["a", "b", "c", "d"];
  const children = names.map((name) => startChild("write-entries.mjs", [path, name, "10"], bytes));
  expect(await Promise.all(children.map(({ exitCode }) => exitCode))).toEqual([0, 0, 0, 0]);
  const store = fileCredentialStore({ path, key: { bytes } });
  expect((await store.list?.())?.length).toBe(40);
  for (const name of names) expect(await store.get(`service:${name}-9`)).toBe(`${name} 9`);
});

interface FileShape {
  v: number;
  kdf: unknown;
  entries: Record<string, Record<string, string>>;
}

function newPath(): string {
  return join(temporaryFolder(), "credentials.json");
}

function entry(file: FileShape, account: string): Record<string, string> {
  return file.entries[account] as Record<string, string>;
}

function flip(sealed: Record<string, string> | undefined, field: string): void {
  const raw = Buffer.from(sealed?.[field] ?? "", "base64");
  raw.writeUInt8(raw.readUInt8(0) ^ 1, 0);
  Object.assign(sealed ?? {}, { [field]: raw.toString("base64") });
}

async function isUndecipherable(call: Promise<unknown>): Promise<void> {
  const error = await call.then(
    () => undefined,
    (e: unknown) => e,
  );
  expect(OAuthError.isInstance(error, "Credential")).toBe(true);
  expect(error).toMatchObject({ reason: "decrypt", retryable: false });
  expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
}
