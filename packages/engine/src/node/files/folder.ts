/**
 * Folders below the root, held open. What is done in a folder is done through its descriptor where the system can
 * (Linux), so that its path cannot be replaced by a link between the check and the use.
 *   D1  The real path of an open folder lies in the real path of the root.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readlink, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import { denied, notFound } from "./failures.ts";

const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;

/** An open folder. `at(name)` is the path by which to reach what is in it. */
export interface Folder {
  at(name: string): string;
  /** Throws `file_denied` unless the open file lies in this very folder under this name. */
  verify(file: FileHandle, name: string): Promise<void>;
  /** Makes renames and new names in it last. */
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Opens a folder by the parts of its path; `create` makes the parts that are missing. Throws `file_denied`, `file_not_found`. */
export async function openFolder(
  root: string,
  parts: readonly string[],
  options: { path: string; create?: boolean },
): Promise<Folder> {
  const { path, create = false } = options;
  const top = await realpath(root).catch(() => {
    throw notFound(".");
  });
  if (create) await makeFolders(top, parts, path);
  const real = await realpath(join(top, ...parts));
  if (!isWithin(top, real)) throw denied(path, "leads out of the root by a link");
  if (process.platform !== "linux") return plainFolder(real, path);
  const handle = await open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    const opened = await readlink(`/proc/self/fd/${handle.fd}`);
    if (!isWithin(top, opened)) throw denied(path, "leads out of the root by a link");
    return linuxFolder(handle, path);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function linuxFolder(handle: FileHandle, path: string): Folder {
  const base = `/proc/self/fd/${handle.fd}`;
  return {
    at: (name) => `${base}/${name}`,
    async verify(file, name) {
      const [real, folder] = await Promise.all([
        readlink(`/proc/self/fd/${file.fd}`),
        readlink(base),
      ]);
      if (real !== join(folder, name)) throw denied(path, "was moved while it was opened");
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  };
}

/** Without descriptors as paths the real path is compared once more after the opening. */
function plainFolder(real: string, path: string): Folder {
  return {
    at: (name) => join(real, name),
    async verify(_file, name) {
      const now = await realpath(join(real, name));
      if (now !== join(real, name)) throw denied(path, "is a link");
    },
    sync: async () => {},
    close: async () => {},
  };
}

/** One part at a time, so that a link in the middle cannot have folders made outside. */
async function makeFolders(top: string, parts: readonly string[], path: string): Promise<void> {
  let current = top;
  for (const part of parts) {
    const next = join(current, part);
    await mkdir(next).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    current = await realpath(next);
    if (!isWithin(top, current)) throw denied(path, "leads out of the root by a link");
    if (!(await stat(current)).isDirectory())
      throw denied(path, "has a file where a folder must be");
  }
}

function isWithin(top: string, real: string): boolean {
  return real === top || real.startsWith(top.endsWith(sep) ? top : top + sep);
}

/** A name that no flow writes by chance. */
export function temporaryName(random: Uint8Array): string {
  return `.millrace-${Buffer.from(random).toString("hex")}.tmp`;
}

/** Left behind by a crash at worst; lists leave them out. */
export function isTemporary(name: string): boolean {
  return /^\.millrace-[0-9a-f]{16}\.tmp$/.test(name);
}
