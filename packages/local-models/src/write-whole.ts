/** Writes a small file so that readers see the old one or the new one, whole, also after a loss of power. */
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { FILE_MODE } from "./folders.ts";

/** Replaces the file at `path`. One writer at a time: the name of the temporary file is fixed, so that none is left behind twice. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    const file = await open(temporary, "w", FILE_MODE);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a rename in a folder last. Where folders cannot be opened, the system does it by itself. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => undefined);
  try {
    await folder?.sync();
  } catch {
    // some file systems refuse; the rename is there, only later
  } finally {
    await folder?.close();
  }
}
