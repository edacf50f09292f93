/** The folders of the manager, and what lies in a folder of models. */
import { mkdirSync } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { SkipReason } from "./gguf/types.ts";
import { mapLimited } from "./map-limited.ts";

const STATS_AT_ONCE = 16; // more than threads that serve them
const MAX_DEPTH = 3; // maker, model, file: deeper trees are not collections of models

/** Permissions: the operator alone. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** The paths of everything below the folder of models; missing folders are made, for the owner alone. */
export function makeFolders(dir: string) {
  const folders = {
    files: join(dir, "files"),
    downloads: join(dir, "downloads"),
    runners: join(dir, "runners"),
  };
  for (const folder of Object.values(folders)) {
    mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
  }
  return { ...folders, registry: join(dir, "registry.json"), lock: join(dir, "manager.lock") };
}

/** Stamp of a file: equal stamps mean an unchanged file. */
export interface FileStamp {
  /** Absolute. */
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
  readonly ino: number;
}

/** A file of a folder, `name` relative to it with `/`. */
export interface FoundFile extends FileStamp {
  readonly name: string;
}

/** A file that is not taken, `file` relative to its folder. */
export interface Skipped {
  readonly file: string;
  readonly reason: SkipReason;
}

/** Content of a folder, in the order of names. */
export interface FolderListing {
  readonly files: readonly FoundFile[];
  readonly skipped: readonly Skipped[];
}

/** The stamp of a file; null when it is not there, or is not a file. */
export async function stampOf(path: string): Promise<FileStamp | null> {
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return null;
  return { path, bytes: found.size, mtimeMs: found.mtimeMs, ino: found.ino };
}

/** True if no file has changed since its stamp. */
export async function isUnchanged(stamps: readonly FileStamp[]): Promise<boolean> {
  const now = await Promise.all(stamps.map(({ path }) => stampOf(path)));
  return areUnchanged(stamps, now);
}

/** True if the stamps are those of the same files in the same order, none of them changed or gone. */
export function areUnchanged(
  stamps: readonly FileStamp[],
  others: readonly (FileStamp | null)[],
): boolean {
  return (
    stamps.length === others.length &&
    stamps.every(({ path, bytes, mtimeMs, ino }, i) => {
      const other = others[i];
      return (
        other?.path === path &&
        other.bytes === bytes &&
        other.mtimeMs === mtimeMs &&
        other.ino === ino
      );
    })
  );
}

/** All `*.gguf` of a folder, three levels deep, hidden ones left out. Links may not lead out of it. */
export async function listFolder(root: string): Promise<FolderListing> {
  const real = await realpath(root);
  const base = real.endsWith(sep) ? real : real + sep;
  const skipped: Skipped[] = [];
  const candidates: { readonly name: string; readonly isLink: boolean }[] = [];
  const visit = async (folder: string, depth: number): Promise<void> => {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(() => null);
    if (entries === null) return void skipped.push({ file: folder, reason: "unreadable" });
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const name = folder === "" ? entry.name : `${folder}/${entry.name}`;
      const isLink = entry.isSymbolicLink();
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH) await visit(name, depth + 1);
      } else if (isLink || isModel(name)) candidates.push({ name, isLink });
    }
  };
  await visit("", 1);
  const looked = await mapLimited(candidates, STATS_AT_ONCE, async ({ name, isLink }) => ({
    name,
    found: isLink ? await linked(root, base, name) : await stampOf(join(root, name)),
  }));
  const files: FoundFile[] = [];
  for (const { name, found } of looked) {
    if (found === "outside") skipped.push({ file: name, reason: "outside" });
    else if (found === null) skipped.push({ file: name, reason: "unreadable" });
    else if (found !== "ignored") files.push({ ...found, name });
  }
  return { files: files.sort((a, b) => (a.name < b.name ? -1 : 1)), skipped };
}

/** Target of a link. A folder that is linked from inside is visited at its own place. */
async function linked(
  root: string,
  base: string,
  name: string,
): Promise<FileStamp | null | "outside" | "ignored"> {
  const path = join(root, name);
  const target = await realpath(path).catch(() => null);
  if (target === null) return isModel(name) ? null : "ignored";
  const isFolder = (await stat(target).catch(() => null))?.isDirectory() === true;
  if (!isFolder && !isModel(name)) return "ignored";
  if (!target.startsWith(base)) return "outside";
  return isFolder ? "ignored" : stampOf(path);
}

function isModel(name: string): boolean {
  return name.toLowerCase().endsWith(".gguf");
}
