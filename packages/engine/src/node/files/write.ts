/** Writing one file: never a part of it in the place of the whole. */
import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rename, unlink } from "node:fs/promises";
import { denied, tooLarge } from "./failures.ts";
import { type Folder, temporaryName } from "./folder.ts";

const { O_WRONLY, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

const NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;
const MODE = 0o666; // as any program creates files; the process's mask takes from it

/** How a file is written. */
export interface Writing {
  readonly folder: Folder;
  readonly name: string;
  /** As the flow wrote it, for messages. */
  readonly path: string;
  readonly data: Uint8Array;
  readonly maxBytes: number;
}

/** How each mode writes. */
export const WRITERS: {
  readonly [mode in "create" | "replace" | "append"]: (
    writing: Writing,
  ) => Promise<{ created: boolean }>;
} = { create: createFile, replace: replaceFile, append: appendFile };

/** A new file. Throws `EEXIST` where one is. */
async function createFile({ folder, name, data }: Writing): Promise<{ created: boolean }> {
  const file = await open(folder.at(name), NEW, MODE);
  try {
    await folder.verify(file, name);
    await file.writeFile(data);
    await file.sync();
  } catch (error) {
    await unlink(folder.at(name)).catch(ignore);
    throw error;
  } finally {
    await file.close();
  }
  return { created: true };
}

/** The old content or the new one, after a crash too: a temporary file in the same folder, synced, then renamed. */
async function replaceFile({ folder, name, path, data }: Writing): Promise<{
  created: boolean;
}> {
  const old = await existing(folder, name);
  if (old !== null && !old.isFile()) throw denied(path, "is not a regular file");
  const temporary = temporaryName(randomBytes(8));
  const file = await open(folder.at(temporary), NEW, MODE);
  try {
    await folder.verify(file, temporary);
    if (old !== null) await file.chmod(old.mode & 0o777);
    await file.writeFile(data);
    await file.sync();
    await file.close();
    await rename(folder.at(temporary), folder.at(name));
  } catch (error) {
    await file.close().catch(ignore);
    await unlink(folder.at(temporary)).catch(ignore);
    throw error;
  }
  await folder.sync();
  return { created: old === null };
}

/** After the content there is, in one write of the system where it takes it whole. */
async function appendFile(writing: Writing): Promise<{ created: boolean }> {
  const { folder, name, path, data, maxBytes } = writing;
  const { file, created } = await openToAppend(folder, name);
  try {
    await folder.verify(file, name);
    const { size, ...stats } = await file.stat().then((found) => ({
      size: found.size,
      isFile: found.isFile(),
    }));
    if (!stats.isFile) throw denied(path, "is not a regular file");
    if (size + data.length > maxBytes) throw tooLarge(path, size + data.length, maxBytes);
    await file.writeFile(data);
    await file.sync();
  } finally {
    await file.close();
  }
  return { created };
}

async function openToAppend(
  folder: Folder,
  name: string,
): Promise<{ file: FileHandle; created: boolean }> {
  const flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK;
  try {
    const file = await open(folder.at(name), flags | O_CREAT | O_EXCL, MODE);
    return { file, created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return { file: await open(folder.at(name), flags), created: false };
  }
}

async function existing(folder: Folder, name: string): Promise<Stats | null> {
  try {
    return await lstat(folder.at(name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

function ignore(): void {}
