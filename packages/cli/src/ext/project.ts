/** The two files of a project that say which extensions it has: `millrace.json` and the lock. */

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { readLock } from "@millrace/extensions";
import type { CommandIo, Input } from "../argv/spec.ts";
import { configOptions, editConfig, PROJECT_FILE, projectFile } from "../config/files.ts";
import { type ExtensionsChoice, readExtensionList } from "../config/sections.ts";
import { usage } from "../errors.ts";

/** A project as the commands on extensions see it. */
export interface ExtensionProject {
  readonly folder: string;
  readonly file: string;
  readonly choice: ExtensionsChoice;
  /** The key as it is written. */
  readonly written: readonly unknown[];
  readonly lock: Awaited<ReturnType<typeof readLock>>;
  /** Names of the packages that the project had without us; theirs are not taken away. */
  readonly dependencies: readonly string[];
}

/** The nearest project; the working directory where there is none. Throws a usage error for files that cannot be read. */
export async function findProject(input: Input, io: CommandIo): Promise<ExtensionProject> {
  const found = await projectFile(configOptions(input, io), io);
  const file = found?.path ?? join(io.cwd, PROJECT_FILE);
  const folder = join(file, "..");
  const value = found?.values["extensions"];
  const lock = await readLock(folder).catch((error: unknown) => {
    throw usage(error instanceof Error ? error.message : String(error));
  });
  const choice = readExtensionList(value);
  const dependencies = await dependenciesOf(folder);
  return { folder, file, choice, written: Array.isArray(value) ? value : [], lock, dependencies };
}

async function dependenciesOf(folder: string): Promise<readonly string[]> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => "{}");
  try {
    const file: { readonly [field: string]: unknown } = Object(JSON.parse(text));
    return ["dependencies", "devDependencies", "optionalDependencies"].flatMap((field) =>
      Object.keys(Object(file[field])),
    );
  } catch {
    return []; // the package manager says what is wrong with it
  }
}

/** Writes the list of a project. */
export async function writeList(
  { file, written }: ExtensionProject,
  change: { readonly add?: string; readonly remove?: string },
): Promise<void> {
  const { add, remove } = change;
  const kept = written.filter((each) => nameOf(each) !== remove);
  const isThere = kept.some((each) => nameOf(each) === add);
  const next = add === undefined || isThere ? kept : [...kept, add];
  await editConfig(file, "extensions", next.length === 0 ? undefined : next);
}

function nameOf(each: unknown): unknown {
  return typeof each === "object" && each !== null ? (each as { package?: unknown }).package : each;
}
