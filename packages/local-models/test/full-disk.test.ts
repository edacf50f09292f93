import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openFileServer } from "./file-server.ts";
import { openManager, scratchFolder, sha256 } from "./opened.ts";
import { tinyGguf } from "./tiny-gguf.ts";

const mount = (...args: readonly string[]): void => {
  execFileSync("mount", args, { stdio: "ignore" });
};
const unmount = (dir: string): void => {
  execFileSync("umount", ["-l", dir], { stdio: "ignore" });
};

/** Mount rights are needed for a disk that can be filled; without them the test is skipped, and says so in its name. */
function mayMount(): boolean {
  if (process.platform !== "linux" || process.getuid?.() !== 0 || !existsSync("/mnt")) return false;
  try {
    mount("-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt");
    unmount("/mnt");
    return true;
  } catch {
    return false;
  }
}

const MAY = mayMount();
const NOTE = MAY ? "" : "SKIPPED, NO MOUNT RIGHTS HERE: ";

test.skipIf(!MAY)(
  `${NOTE}a disk that fills keeps what it took, and the next install goes on`,
  async () => {
    const disk = scratchFolder();
    mount("-t", "tmpfs", "-o", "size=3m", "tmpfs", disk);
    onTestFinished(() => unmount(disk));
    const server = await openFileServer();
    onTestFinished(() => server.close());
    const body = tinyGguf({ ballast: 6_000_000 });
    const url = server.serve("/m.gguf", { body });
    const opened = openManager({ dir: join(disk, "models") });
    const args = { source: url, id: "m", sha256: sha256(body) };
    const full = await opened.ended(opened.manager.install(args));
    expect(full.error).toMatchObject({
      code: "disk_full",
      message: expect.not.stringContaining(disk),
    });
    const { bytes, state } = opened.manager.get("m");
    expect(state).toBe("installing");
    expect(bytes).toBeGreaterThan(1_000_000);
    mount("-o", "remount,size=32m", disk);
    expect((await opened.ended(opened.manager.install(args))).error).toBeNull();
    expect(server.asked.map(({ range }) => range)).toEqual([undefined, `bytes=${bytes}-`]);
    expect(opened.files()).toEqual(["files/m.gguf"]);
  },
);
