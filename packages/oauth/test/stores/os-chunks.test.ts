import { credentialStoreCases } from "@millrace/oauth/testing";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeLibraries, type Mischief, openStore } from "./fake-libraries.ts";
import { onPlatform } from "./platform.ts";

/** As the Credential Manager of Windows: 2560 bytes for each item, whichever way characters are written. */
const CAP =
  'if (Math.max(2 * value.length, Buffer.byteLength(value)) > 2560) throw new Error("Stub received bad data");';

describe("on Windows, where an item holds 2560 bytes", () => {
  // No token is as long as 100 kB; what Windows does with one is tested below.
  const cases = credentialStoreCases(() => capped().store).filter(
    ({ name }) => !name.includes("100 kB"),
  );
  for (const { name, run } of cases) test(name, run);

  test.each([1, 1199, 1200])("a value of %i characters is one item, as it is", async (length) => {
    const { store, libraries } = capped();
    await store.set("service:a", "x".repeat(length));
    expect(libraries.items("keytar")).toEqual({ "service:a": "x".repeat(length) });
  });

  test.each([1201, 3000, 57_600])(
    "a value of %i characters is pieces and a head",
    async (length) => {
      const { store, libraries } = capped();
      const value = "x".repeat(length);
      await store.set("service:a", value);
      const items = libraries.items("keytar");
      const head = /^millrace-chunks:1:(\d+):([0-9a-f]{16}):[0-9a-f]{64}$/.exec(
        items["service:a"] ?? "",
      );
      const [, count, generation] = head ?? [];
      const pieces = Math.ceil(Math.ceil((length * 4) / 3) / 1200);
      expect(Number(count)).toBe(pieces);
      expect(Object.keys(items).sort()).toEqual(
        [
          "service:a",
          ...Array.from({ length: pieces }, (_, i) => `service:a#${generation}#${i}`),
        ].sort(),
      );
      expect(JSON.stringify(items)).not.toContain("xxx");
      expect(await store.get("service:a")).toBe(value);
    },
  );

  test("more than 64 pieces are too large, and leave the old value", async () => {
    const { store, libraries } = capped();
    await store.set("service:a", "old");
    await expect(store.set("service:a", "x".repeat(57_601))).rejects.toMatchObject({
      kind: "Credential",
      reason: "too_large",
    });
    expect(libraries.items("keytar")).toEqual({ "service:a": "old" });
  });

  test("an overwritten or deleted value leaves no piece", async () => {
    const { store, libraries } = capped();
    await store.set("service:a", "x".repeat(5000));
    await store.set("service:a", "y".repeat(3000));
    expect(Object.keys(libraries.items("keytar"))).toHaveLength(1 + 4);
    await store.set("service:a", "short");
    expect(libraries.items("keytar")).toEqual({ "service:a": "short" });
    await store.set("service:a", "z".repeat(3000));
    expect(await store.delete("service:a")).toBe(true);
    expect(libraries.items("keytar")).toEqual({});
  });

  test("a list hides the pieces, and only those", async () => {
    const { store } = capped();
    await store.set("service:a", "x".repeat(3000));
    await store.set("service:a#0", "an account of its own");
    expect(await store.list?.()).toEqual(["service:a", "service:a#0"]);
  });

  test("a value that looks like a head comes back as it was", async () => {
    const { store } = capped();
    const value = `millrace-chunks:1:1:${"0".repeat(16)}:${"0".repeat(64)}`;
    await store.set("service:a", value);
    expect(await store.get("service:a")).toBe(value);
  });

  test.each(["lost", "changed"])(
    "a piece that was %s is an error, not half of a value",
    async (what) => {
      const { store, libraries } = capped();
      await store.set("service:a", "x".repeat(3000));
      const items = libraries.items("keytar");
      const piece = Object.keys(items).find((name) => name.endsWith("#1")) as string;
      const { [piece]: _, ...others } = items;
      libraries.write("keytar", what === "lost" ? others : { ...items, [piece]: "eHh4" });
      await expect(store.get("service:a")).rejects.toMatchObject({
        kind: "Credential",
        reason: "decrypt",
      });
      const heads = libraries.calls("keytar").filter((call) => call === "get service:a");
      expect(heads).toHaveLength(1 + 2); // once by the write, twice by the read
    },
  );

  test("a value replaced between two pieces is read again", async () => {
    const get = `
      if (!account.endsWith("#1") || globalThis.isDone) return;
      globalThis.isDone = true;
      save({ "service:a": "the new one" });`;
    const { store } = capped({ get, set: CAP });
    await store.set("service:a", "x".repeat(3000));
    expect(await store.get("service:a")).toBe("the new one");
  });

  test("a write that fails in the middle leaves the old value", async () => {
    const set = `${CAP} if (account.endsWith("#2")) throw new Error("no");`;
    const { store } = capped({ set });
    const old = "o".repeat(1300);
    await store.set("service:a", old);
    await expect(store.set("service:a", "n".repeat(3000))).rejects.toMatchObject({
      reason: "unavailable",
    });
    expect(await store.get("service:a")).toBe(old);
  });

  test("every text comes back", async () => {
    const { store } = capped();
    const text = fc
      .string({ unit: "grapheme", minLength: 1, maxLength: 60 })
      .filter((part) => !part.includes("\0"));
    await fc.assert(
      fc.asyncProperty(text, fc.integer({ min: 1, max: 200 }), async (part, times) => {
        await store.set("service:a", part.repeat(times));
        expect(await store.get("service:a")).toBe(part.repeat(times));
      }),
      { numRuns: 25 },
    );
  });
});

test("elsewhere a long value is one item", async () => {
  const libraries = fakeLibraries({ keytar: {} });
  onPlatform("darwin");
  await openStore(libraries).set("service:a", "x".repeat(5000));
  expect(Object.keys(libraries.items("keytar"))).toEqual(["service:a"]);
});

function capped(mischief: Mischief = { set: CAP }) {
  const libraries = fakeLibraries({ keytar: mischief });
  onPlatform("win32");
  return { store: openStore(libraries), libraries };
}
