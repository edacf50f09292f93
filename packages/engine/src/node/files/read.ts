/** Reading one file. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { denied, tooLarge } from "./failures.ts";
import type { Folder } from "./folder.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

const CHUNK = 65_536;

/** The whole content of a regular file of at most `maxBytes`. */
export async function readFileIn(
  folder: Folder,
  name: string,
  { path, maxBytes, check }: { path: string; maxBytes: number; check: () => void },
): Promise<{ data: Uint8Array; modifiedAt: string }> {
  // Non-blocking, because opening a FIFO waits for a writer.
  const file = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    await folder.verify(file, name);
    const stats = await file.stat();
    if (!stats.isFile()) throw denied(path, "is not a regular file");
    if (stats.size > maxBytes) throw tooLarge(path, stats.size, maxBytes);
    const data = await readAll(file, { path, maxBytes, check, size: stats.size });
    return { data, modifiedAt: stats.mtime.toISOString() };
  } finally {
    await file.close();
  }
}

/** To the end, which may be further than the size was: a file may grow while it is read. */
async function readAll(
  file: FileHandle,
  options: { path: string; maxBytes: number; check: () => void; size: number },
): Promise<Uint8Array> {
  const { path, maxBytes, check } = options;
  let data = new Uint8Array(options.size + 1);
  let length = 0;
  for (;;) {
    check();
    const { bytesRead } = await file.read(data, length, data.length - length, length);
    if (bytesRead === 0) return data.slice(0, length);
    length += bytesRead;
    if (length > maxBytes) throw tooLarge(path, length, maxBytes);
    if (length === data.length) {
      const larger = new Uint8Array(length * 2 + CHUNK);
      larger.set(data);
      data = larger;
    }
  }
}
