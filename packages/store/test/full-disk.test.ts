import { execFileSync } from "node:child_process";
import { cpSync, existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store } from "@millrace/store";
import { expect, onTestFinished, test } from "vitest";
import { newFolder } from "./folder.ts";
import { linesOf, logOf, startRun } from "./logs.ts";

function mount(dir: string, megabytes: number): void {
  execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", dir], {
    stdio: "ignore",
  });
}

function unmount(dir: string): void {
  execFileSync("umount", ["-l", dir], { stdio: "ignore" });
}

/** Mount rights are needed for a disk that can be filled; without them the tests are skipped, and say so in their names. */
function mayMount(): boolean {
  const dir = "/mnt";
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync(dir)) return false;
  try {
    mount(dir, 1);
    unmount(dir);
    return true;
  } catch {
    return false;
  }
}

const MAY = mayMount();
const NOTE = MAY ? "" : "SKIPPED, NO MOUNT RIGHTS HERE: ";

function newDisk(megabytes: number): string {
  const dir = newFolder();
  mount(dir, megabytes);
  onTestFinished(() => unmount(dir));
  return dir;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((next) => setTimeout(next, 20));
}

async function opened(dir: string): Promise<Store> {
  const store = await openStore({ dir });
  onTestFinished(() => store.close());
  return store;
}

test.skipIf(!MAY)(
  `${NOTE}on a full disk appends wait, nothing is lost, and space makes them go on`,
  async () => {
    const dir = newDisk(16);
    const store = await opened(dir);
    const { epoch } = await store.journal.create(startRun(1));
    const log = logOf(1);
    await store.journal.append("r1", 0, log.slice(0, 2), { epoch, sync: true });
    const filler = join(dir, "filler");
    const { bavail, bsize } = statfsSync(dir);
    writeFileSync(filler, Buffer.alloc(bavail * bsize));
    const value = store.journal.putValue("r1", "big", "x".repeat(12_000_000));
    await until(() => store.condition === "store_full");
    let isStored = false;
    const append = store.journal.append("r1", 2, log.slice(2), { epoch, sync: true }).then(() => {
      isStored = true;
    });
    expect(existsSync(join(dir, "reserve.bin"))).toBe(false);
    expect(await linesOf(store.journal, "r1")).toHaveLength(2);
    expect(isStored).toBe(false);
    execFileSync("mount", ["-o", "remount,size=96m", dir]);
    rmSync(filler);
    await value;
    await append;
    expect(store.condition).toBe("ok");
    expect(await linesOf(store.journal, "r1")).toHaveLength(log.length);
    await until(() => existsSync(join(dir, "reserve.bin")));
  },
);

test.skipIf(!MAY)(`${NOTE}closing on a full disk gives up what waits, and says so`, async () => {
  const dir = newDisk(16);
  const store = await openStore({ dir });
  await store.journal.create(startRun(1));
  const { bavail, bsize } = statfsSync(dir);
  writeFileSync(join(dir, "filler"), Buffer.alloc(bavail * bsize));
  const value = store.journal.putValue("r1", "big", "x".repeat(12_000_000));
  const refused = expect(value).rejects.toMatchObject({ code: "store_full", retryable: true });
  await until(() => store.condition === "store_full");
  await store.close();
  await refused;
  const again = await opened(dir);
  expect((await again.journal.load("r1"))?.steps).toEqual({});
});

test.skipIf(!MAY)(
  `${NOTE}a file system that is read-only is refused with store_read_only`,
  async () => {
    const made = newFolder();
    await (await openStore({ dir: made })).close();
    const dir = newDisk(32);
    cpSync(made, dir, { recursive: true }); // no handle of this process is open on that disk
    execFileSync("mount", ["-o", "remount,ro", dir]);
    await expect(openStore({ dir })).rejects.toMatchObject({
      code: "store_read_only",
      message: expect.stringContaining(dir),
    });
  },
);
