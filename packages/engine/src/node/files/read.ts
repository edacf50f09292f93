/** Reading one file. */
import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { FileRange } from "@millrace/contracts";
import { denied, tooLarge } from "./failures.ts";
import type { Folder } from "./folder.ts";

const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

const CHUNK = 65_536;

/** The part of a file to read. */
interface Reading {
  readonly path: string;
  readonly maxBytes: number;
  readonly range: FileRange | undefined;
  readonly check: () => void;
}

/** The content of a regular file, or of a range of it; at most `maxBytes`. */
export async function readFileIn(
  folder: Folder,
  name: string,
  { path, maxBytes, range, check }: Reading,
): Promise<{ data: Uint8Array; modifiedAt: string }> {
  // Non-blocking, because opening a FIFO waits for a writer.
  const file = await open(folder.at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    await folder.verify(file, name);
    const stats = await file.stat();
    if (!stats.isFile()) throw denied(path, "is not a regular file");
    const size = range === undefined ? stats.size : range.length;
    if (size > maxBytes) throw tooLarge(path, size, maxBytes);
    const data =
      range === undefined
        ? await readAll(file, { path, maxBytes, check, size })
        : await readPart(file, range, check);
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

async function readPart(
  file: FileHandle,
  { offset, length }: FileRange,
  check: () => void,
): Promise<Uint8Array> {
  const data = new Uint8Array(length);
  let filled = 0;
  while (filled < length) {
    check();
    const { bytesRead } = await file.read(data, filled, length - filled, offset + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return data.subarray(0, filled);
}
