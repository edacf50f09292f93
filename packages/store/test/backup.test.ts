/** Backups: one whole file without keys, or none. */
import fs, { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { openStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { appendAll, linesOf, logOf } from "@millrace/test-support/store";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { Reader } from "../src/sqlite/reader.ts";
import { newStore } from "./new-store.ts";

/** As on a file system without hard links. */
async function withoutHardLinks(work: () => Promise<void>): Promise<void> {
  const { linkSync } = fs;
  fs.linkSync = () => {
    throw Object.assign(new Error("operation not permitted"), { code: "EPERM" });
  };
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    fs.linkSync = linkSync;
    syncBuiltinESMExports();
  }
}

describe("a backup", () => {
  test("is one whole file without the key, and overwrites nothing", async () => {
    const dir = temporaryFolder();
    const store = await newStore({ dir });
    await appendAll(store.journal, logOf(1));
    const target = join(temporaryFolder(), "copy.db");
    await store.backup(target);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    await expect(store.backup(target)).rejects.toMatchObject({ code: "path_exists" });
    const unlinked = join(temporaryFolder(), "copy.db");
    await withoutHardLinks(() => store.backup(unlinked));
    expect(readFileSync(unlinked).equals(readFileSync(target))).toBe(true);
    const restored = temporaryFolder();
    writeFileSync(join(restored, "millrace.db"), readFileSync(target));
    const copy = await newStore({ dir: restored });
    expect(await linesOf(copy.journal, "r1")).toEqual(await linesOf(store.journal, "r1"));
  });

  test("to a name that another one takes meanwhile is refused, and leaves that one whole", async () => {
    const store = await newStore();
    await appendAll(store.journal, logOf(1));
    const folder = temporaryFolder();
    const target = join(folder, "millrace.db");
    const { once } = Reader.prototype;
    let other: Promise<void> | undefined;
    const vacuum = vi.spyOn(Reader.prototype, "once");
    onTestFinished(() => vacuum.mockRestore());
    vacuum.mockImplementationOnce(function (this: Reader, ...call) {
      other = store.backup(target); // runs to its end here, while the first one has not begun to write
      return once.apply(this, call);
    });
    await expect(store.backup(target)).rejects.toMatchObject({ code: "path_exists" });
    await other;
    expect(readdirSync(folder)).toEqual(["millrace.db"]);
    const copy = await newStore({ dir: folder });
    expect(await linesOf(copy.journal, "r1")).toEqual(await linesOf(store.journal, "r1"));
  });

  test("that cannot be finished leaves no file that looks like one", async () => {
    const dir = temporaryFolder();
    const store = await openStore({ dir });
    await appendAll(store.journal, logOf(1));
    await store.close();
    const path = join(dir, "millrace.db");
    writeFileSync(path, readFileSync(path).fill(0xa5, 8192 * 30, 8192 * 50));
    const damaged = await newStore({ dir, readonly: true });
    const folder = temporaryFolder();
    await expect(damaged.backup(join(folder, "copy.db"))).rejects.toMatchObject({
      code: "store_corrupt",
    });
    expect(readdirSync(folder)).toEqual([]);
    const nowhere = join(folder, "no", "copy.db");
    await expect(damaged.backup(nowhere)).rejects.toMatchObject({
      message: expect.stringContaining(`${nowhere} cannot be written`),
    });
  });
});
