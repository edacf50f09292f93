/** How much of a download a crash may cost, on a disk that is slow. */
import { readFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished, test, vi } from "vitest";
import { PartFile } from "../src/install/part-file.ts";

const MIB = 1_048_576;

/** Holds every sync of a file until the answer is called. */
async function slowDisk(folder: string): Promise<() => void> {
  const probe = await open(join(folder, "probe"), "w");
  const proto = Object.getPrototypeOf(probe) as typeof probe;
  await probe.close();
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const spy = vi.spyOn(proto, "datasync").mockImplementation(() => released);
  onTestFinished(() => spy.mockRestore());
  return release;
}

test("bytes that came while a slow sync was under way are vouched for, though no more follow", async () => {
  const folder = temporaryFolder();
  const release = await slowDisk(folder);
  const part = await PartFile.open(folder, "k", { id: "m", url: "http://x/", sha256: null });
  for (let at = 0; at < 50; at += 1) await part.write(Buffer.alloc(MIB));
  release();
  const vouched = (): number => JSON.parse(readFileSync(join(folder, "k.json"), "utf8")).bytes;
  await vi.waitUntil(
    () => {
      try {
        return vouched() >= 48 * MIB;
      } catch {
        return false; // it is being replaced, or is not there yet
      }
    },
    { timeout: 20_000 },
  );
  await part.remove();
});
