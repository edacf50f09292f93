/** The files of configuration: where the user's file, the data and the nearest project file are; reading and editing them. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isObject } from "@millrace/contracts/kit";
import { type CommandIo, flagText, type Input } from "../argv/spec.ts";
import { CliError, reason, unusable } from "../errors.ts";
import { readFound, replaceFile } from "../files.ts";
import type { Surroundings } from "../output/io.ts";
import { withValue } from "./values.ts";

/** Where a search for configuration starts, and what was named on the command line instead. */
export interface ConfigOptions {
  readonly folder: string;
  readonly file: string | undefined;
  readonly home: string | undefined;
}

/** A file as it was read; whatever its keys hold is checked where it is used. */
export interface ConfigFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly values: Readonly<Record<string, unknown>>;
}

/** Name of the configuration file of a project, which marks its folder. */
export const PROJECT_FILE = "millrace.json";

/** The file that was named, else the nearest project file upward; the walk ends at a repository, the home directory or the root. */
export async function projectFile(
  { folder, file }: ConfigOptions,
  io: Surroundings,
): Promise<ConfigFile | undefined> {
  if (file !== undefined) return readConfig(resolve(io.cwd, file), true);
  for await (const at of foldersUpward(folder, io)) {
    const found = await readConfig(join(at, PROJECT_FILE));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Folders where a project may be, the nearest first. */
export async function* foldersUpward(folder: string, io: Surroundings): AsyncGenerator<string> {
  const home = io.env.HOME ?? homedir();
  for (let at = folder; ; at = dirname(at)) {
    yield at;
    if (existsSync(join(at, ".git")) || at === home || at === dirname(at)) return;
  }
}

/** Folder of the project file, trusted or not. */
export async function projectFolder(
  options: ConfigOptions,
  io: Surroundings,
): Promise<string | undefined> {
  const project = await projectFile(options, io);
  return project === undefined ? undefined : dirname(project.path);
}

/** Reads one file; undefined where there is none, unless it must exist. Throws a usage error with the place of what is no JSON. */
export async function readConfig(path: string, mustExist = false): Promise<ConfigFile | undefined> {
  let bytes: Uint8Array;
  try {
    // What a person names may be a pipe of the shell.
    bytes = mustExist ? await readFile(path) : readFound(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!mustExist && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    throw unusable(path, `cannot read ${path}: ${reason(error)}`);
  }
  let values: unknown;
  try {
    values = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw await malformed(path, bytes);
  }
  if (!isObject(values)) throw unusable(path, `${path} must be a JSON object`);
  return { path, bytes, values };
}

/** The error of a file that is no JSON; loaded for the one person whose file is broken. */
export async function malformed(path: string, bytes: Uint8Array): Promise<CliError> {
  const { describeMistake } = await import("./json-text.ts");
  const { message, frame, place } = describeMistake(path, bytes);
  return new CliError("usage", message, { frame, file: { path, ...place } });
}

/** The user's configuration file, whether or not it is there. `home` is the flag. */
export function userFile(home: string | undefined, { cwd, env }: Surroundings): string {
  const named = home ?? env.MILLRACE_HOME;
  if (named) return join(resolve(cwd, named), "config.json");
  const own = env.HOME ?? homedir();
  const folder =
    process.platform === "win32"
      ? (env.APPDATA ?? join(own, "AppData", "Roaming"))
      : env.XDG_CONFIG_HOME || join(own, ".config");
  return join(folder, "millrace", "config.json");
}

/**
 * The data folder: the store, locks, the encrypted credentials, what was trusted.
 * @see XDG Base Directory Specification; on Windows the local application data
 */
export function dataFolder(home: string | undefined, { cwd, env }: Surroundings): string {
  const named = home ?? env.MILLRACE_HOME;
  if (named) return resolve(cwd, named);
  const own = env.HOME ?? homedir();
  const base =
    process.platform === "win32"
      ? (env.LOCALAPPDATA ?? join(own, "AppData", "Local"))
      : env.XDG_DATA_HOME || join(own, ".local", "share");
  return join(base, "millrace");
}

/** The files that `--config` and `--home` name. */
export function configFlags(input: Input): Omit<ConfigOptions, "folder"> {
  return { file: flagText(input, "config"), home: flagText(input, "home") };
}

/** The same, with a search that begins in the working directory. */
export function configOptions(input: Input, io: Surroundings): ConfigOptions {
  return { folder: io.cwd, ...configFlags(input) };
}

/** Warnings of the configuration go to stderr. */
export function warnOn(io: CommandIo): (line: string) => void {
  return (line) => void io.err.write(`warning: ${line}\n`);
}

/** Sets a key of the file, which is made when there is none; undefined takes it out. */
export async function editConfig(path: string, key: string, value: unknown): Promise<void> {
  const file = await readConfig(path);
  const values = withValue(file?.values ?? {}, key, value);
  await replaceFile(path, `${JSON.stringify(values, null, 2)}\n`);
}
