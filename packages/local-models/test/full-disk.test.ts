import { join } from "node:path";
import { testUnless } from "@millrace/test-support";
import { mountDisk, noMount } from "@millrace/test-support/disk";
import { temporaryFolder } from "@millrace/test-support/folder";
import { tinyGguf } from "@millrace/test-support/gguf";
import { expect, onTestFinished } from "vitest";
import { openFileServer } from "./file-server.ts";
import { openManager, sha256 } from "./opened.ts";

testUnless(noMount())(
  "a disk that fills keeps what it took, and the next install goes on",
  async () => {
    const disk = temporaryFolder();
    const { resize } = mountDisk(disk, 3);
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
    resize(32);
    expect((await opened.ended(opened.manager.install(args))).error).toBeNull();
    expect(server.asked.map(({ range }) => range)).toEqual([undefined, `bytes=${bytes}-`]);
    expect(opened.files()).toEqual(["files/m.gguf"]);
  },
);
