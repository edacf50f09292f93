import { cpSync, existsSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStore, type Store } from "@millrace/store";
import { testUnless } from "@millrace/test-support";
import { mountDisk, noMount } from "@millrace/test-support/disk";
import { temporaryFolder } from "@millrace/test-support/folder";
import { linesOf, logOf, startRun } from "@millrace/test-support/store";
import { expect, onTestFinished } from "vitest";

/** A disk that can be filled is one of its own. */
const withDisk = testUnless(noMount());

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((next) => setTimeout(next, 20));
}

async function opened(dir: string): Promise<Store> {
  const store = await openStore({ dir });
  onTestFinished(() => store.close());
  return store;
}

withDisk("on a full disk appends wait, nothing is lost, and space makes them go on", async () => {
  const dir = temporaryFolder();
  const disk = mountDisk(dir, 16);
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
  await until(() => !existsSync(join(dir, "reserve.bin")));
  expect(await linesOf(store.journal, "r1")).toHaveLength(2);
  expect(isStored).toBe(false);
  disk.resize(96);
  rmSync(filler);
  await value;
  await append;
  expect(store.condition).toBe("ok");
  expect(await linesOf(store.journal, "r1")).toHaveLength(log.length);
  await until(() => existsSync(join(dir, "reserve.bin")));
});

withDisk("closing on a full disk gives up what waits, and says so", async () => {
  const dir = temporaryFolder();
  mountDisk(dir, 16);
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

withDisk(
  "a full disk is opened with the room of the reserve, and is full until there is more",
  async () => {
    const dir = temporaryFolder();
    mountDisk(dir, 16);
    const first = await openStore({ dir });
    const { epoch } = await first.journal.create(startRun(1));
    await first.close();
    const filler = join(dir, "filler");
    const fill = () => {
      const { bavail, bsize } = statfsSync(dir);
      writeFileSync(filler, Buffer.alloc(bavail * bsize), { flag: "a" });
    };
    fill();
    const store = await openStore({ dir, serves: true });
    expect([store.condition, existsSync(join(dir, "reserve.bin"))]).toEqual(["store_full", false]);
    const log = logOf(1);
    await store.journal.append("r1", 0, log.slice(0, 2), { epoch, sync: true });
    expect(await linesOf(store.journal, "r1")).toHaveLength(2);
    await store.close();
    fill();
    await expect(openStore({ dir })).rejects.toMatchObject({
      code: "store_full",
      message: `the disk of ${dir} is full; make room, and start again`,
    });
    rmSync(filler);
    expect((await opened(dir)).condition).toBe("ok");
    expect(existsSync(join(dir, "reserve.bin"))).toBe(true);
  },
);

withDisk("a file system that is read-only is refused with store_read_only", async () => {
  const made = temporaryFolder();
  await (await openStore({ dir: made })).close();
  const dir = temporaryFolder();
  const disk = mountDisk(dir, 32);
  cpSync(made, dir, { recursive: true }); // no handle of this process is open on that disk
  disk.makeReadOnly();
  await expect(openStore({ dir })).rejects.toMatchObject({
    code: "store_read_only",
    message: expect.stringContaining(dir),
  });
});
