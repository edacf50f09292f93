/** Files of ours on the disk: written whole or not at all, in folders that are made where they are missing. */

import { chmod, mkdir, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { cannotWrite } from "./errors.ts";

/** Who may look: everybody, or nobody but the person. */
type Audience = "everybody" | "owner";

const MODES = {
  everybody: { folder: 0o777, file: 0o666 },
  owner: { folder: 0o700, file: 0o600 },
} as const;

/**
 * Replaces a file, so that nobody reads half of it. A link stays a link, and a file for everybody keeps its mode. Throws a usage
 * error that names it.
 */
export async function replaceFile(
  path: string,
  text: string,
  audience: Audience = "everybody",
): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const part = `${target}.${process.pid}.part`;
  try {
    await makeFolder(dirname(target), audience);
    const before = audience === "owner" ? undefined : await stat(target).catch(() => undefined);
    await writeFile(part, text, { mode: MODES[audience].file, flag: "wx", flush: true });
    if (before !== undefined) await chmod(part, before.mode & 0o7777);
    await rename(part, target);
  } catch (error) {
    await rm(part, { force: true }).catch(() => {});
    throw cannotWrite(path, error);
  }
}

/**
 * Makes a folder and those above it. Rejects with the error of the system. `mkdir` with `recursive` would not end below a
 * folder that denies having one although it is there itself, as /proc does.
 */
export async function makeFolder(path: string, audience: Audience = "everybody"): Promise<void> {
  const mode = MODES[audience].folder;
  const made = await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => error);
  if (made === undefined || made.code === "EEXIST") return;
  if (made.code !== "ENOENT" || dirname(path) === path) throw made;
  await makeFolder(dirname(path), audience);
  await mkdir(path, { mode }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
}
