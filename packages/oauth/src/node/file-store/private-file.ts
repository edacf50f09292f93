/** A small file for its owner's eyes only: read whole, replaced whole. */
import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { link, lstat, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { credentialFailure } from "../credential-failure.ts";

/** Far more than any set of tokens; a file is decrypted whole. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;
/** Permissions: read and write for the owner alone. */
const OTHERS = 0o077;
const isWindows = process.platform === "win32"; // where access is not in the mode

/** The text, or undefined when there is no file. Refuses symbolic links, and files that others may read or write. */
export async function readPrivate(path: string): Promise<string | undefined> {
  return onDisk(path, "read", async () => {
    if (isWindows && (await lstat(path)).isSymbolicLink()) throw notAFile(path);
    // Not blocking: opening a named pipe would wait for a writer.
    const file = await open(path, constants.O_RDONLY | noFollow() | noWait());
    try {
      check(path, await file.stat());
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  });
}

/** The old text or the new one, after a crash too. Its folder is made when it is missing. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  const temporary = join(folder, `.${basename(path)}.${randomUUID()}.tmp`);
  await onDisk(path, "write", async () => {
    try {
      const file = await open(temporary, "wx", 0o600);
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
    await syncFolder(folder);
  });
}

/** The text of a file that is made by the first who asks for it. Its folder is made when it is missing. */
export async function readOrMake(path: string, make: () => string): Promise<string> {
  const found = await readPrivate(path);
  if (found !== undefined) return found;
  await makeFolder(path);
  const temporary = `${path}.${randomUUID()}.tmp`;
  await writePrivate(temporary, make());
  await onDisk(path, "write", async () => {
    try {
      await link(temporary, path); // not a rename: the file of who was quicker stays
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      await rm(temporary, { force: true });
    }
    await syncFolder(dirname(path));
  });
  return (await readPrivate(path)) ?? "";
}

/** Makes the folder of a file, for its owner only. */
export async function makeFolder(path: string): Promise<void> {
  await onDisk(path, "write", () => mkdir(dirname(path), { recursive: true, mode: 0o700 }));
}

function check(path: string, stat: Stats): void {
  const { mode, size } = stat;
  if (!stat.isFile()) throw notAFile(path);
  if (!isWindows && (mode & OTHERS) !== 0) {
    const text = (mode & 0o777).toString(8).padStart(4, "0");
    throw credentialFailure(
      `${path} is open to others (mode ${text})`,
      `See who read it, then: chmod 600 ${path}`,
      { reason: "unavailable" },
    );
  }
  if (size > MAX_FILE_BYTES) {
    throw credentialFailure(`${path} is longer than ${MAX_FILE_BYTES} bytes`, "Move it away.", {
      reason: "too_large",
    });
  }
}

function notAFile(path: string): Error {
  return credentialFailure(
    `${path} is no regular file`,
    "Name the file itself, not a link to it.",
    {
      reason: "unavailable",
    },
  );
}

async function onDisk<T>(
  path: string,
  what: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await work();
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "ENOENT" && what === "read") return undefined;
    if (code === "ELOOP") throw notAFile(path);
    if (code === undefined || code.startsWith("oauth_")) throw cause;
    throw credentialFailure(`cannot ${what} ${path} (${code})`, "See to the folder and its disk.", {
      reason: "unavailable",
      cause,
    });
  }
}

async function syncFolder(folder: string): Promise<void> {
  if (isWindows) return; // no handle on a folder there
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const noFollow = () => constants.O_NOFOLLOW ?? 0; // not on Windows
const noWait = () => constants.O_NONBLOCK ?? 0;
