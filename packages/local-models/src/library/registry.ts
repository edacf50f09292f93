/**
 * `registry.json`: the models of the last process, so that the next one need not read headers again. The scan decides.
 *   F1  A file that cannot be used is put aside, never an error.
 */
import { readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { modelSchema } from "@millrace/contracts/schemas";
import { type Entry, nameIn, toModel } from "./entry.ts";

const VERSION = 1;
const KEPT_BAD = 3; // enough to see what happened

export interface RegistryPlaces {
  readonly registry: string;
  /** Folder of managed files; their paths are kept relative to it. */
  readonly files: string;
  readonly folders: readonly string[];
}

/** The entries of the file, none when there is no file. For one that cannot be used `refuse` is called with the reason. */
export function loadRegistry(
  places: RegistryPlaces,
  refuse: (reason: string) => void,
): readonly Entry[] {
  let text: string;
  try {
    text = readFileSync(places.registry, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") refuse("unreadable");
    return [];
  }
  try {
    const { version, models } = JSON.parse(text) as { version?: unknown; models?: unknown };
    if (version === VERSION && Array.isArray(models)) {
      return models.flatMap((model) => entryOf(model, places) ?? []);
    }
  } catch {
    // refused below
  }
  refuse("broken or newer");
  return [];
}

export function registryText({ files }: RegistryPlaces, entries: readonly Entry[]): string {
  const models = entries.map(({ folder, origin, files: stamps, ...entry }) => ({
    ...entry,
    files: stamps.map((stamp) => ({
      ...stamp,
      path: origin === "managed" ? nameIn(files, stamp.path) : stamp.path,
    })),
  }));
  return `${JSON.stringify({ version: VERSION, models }, null, 1)}\n`;
}

/** Undefined for a file of a folder that is no longer the operator's. Throws for an invalid entry. */
function entryOf(value: Entry, { files, folders }: RegistryPlaces): Entry | undefined {
  const stamps = value.files.map((stamp) => ({ ...stamp, path: resolve(files, stamp.path) }));
  if (stamps.length === 0) throw new TypeError("a model without files");
  // Removing a model deletes these paths, so none of them may be outside.
  const folder = [files, ...folders].find((one) =>
    stamps.every(({ path }) => path.startsWith(join(one, "/"))),
  );
  if (folder === undefined) return undefined;
  const origin = folder === files ? "managed" : "folder";
  const entry: Entry = { ...value, files: stamps, origin, folder };
  // The wire's own schema decides what an entry may hold; the rest comes from the files or is only a hint.
  modelSchema.parse(toModel(entry, { state: "ready", runtime: null, error: null }));
  const { layers, kvHeads, headDim } = entry.gguf;
  if (![layers, kvHeads, headDim].every(Number.isSafeInteger)) throw new TypeError("no geometry");
  return entry;
}

/** Renames a registry that cannot be used; of such files the last three are kept. */
export function putAside(path: string, now: number): void {
  try {
    renameSync(path, `${path}.bad-${now}`);
    const prefix = `${basename(path)}.bad-`;
    const bad = readdirSync(dirname(path)).filter((name) => name.startsWith(prefix));
    for (const name of bad.sort().slice(0, -KEPT_BAD)) rmSync(join(dirname(path), name));
  } catch {
    // a folder that cannot be written: the next save says so
  }
}
