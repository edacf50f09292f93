/** Files that commands read and write: read whole up to a limit, written whole or not at all. */
import { readFileSync, statSync } from "node:fs";
import {
  chmod,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { dirname, join, relative, resolve, sep } from "node:path";
import { cannotWrite, reason, usage } from "./errors.ts";
import type { CliIo } from "./output/io.ts";

/** Most bytes of one thing that is read whole; a flow is text that people write. */
const MAX_READ_BYTES = 16 * 1024 * 1024;

const CHUNK_BYTES = 65_536; // as a stream reads

/** Bytes of a file or of stdin (`-`), at most 16 MiB. What cannot be read is a usage error that says why, and for what (`who`). */
export async function readInput(name: string, io: CliIo, who = ""): Promise<Uint8Array> {
  const shown = name === "-" ? "stdin" : name;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (name === "-" && io.isTTY.stdin) io.stderr.write("reads the keyboard; Ctrl-D ends it\n");
  try {
    for await (const chunk of name === "-" ? io.stdin : chunksOf(resolve(io.cwd, name))) {
      const part = typeof chunk === "string" ? Buffer.from(chunk) : (chunk as Uint8Array);
      bytes += part.length;
      if (bytes > MAX_READ_BYTES) break;
      chunks.push(part);
    }
  } catch (error) {
    throw usage(`${who}cannot read ${shown}: ${reason(error)}`);
  }
  if (bytes > MAX_READ_BYTES) throw usage(`${who}${shown} is longer than ${MAX_READ_BYTES} bytes`);
  return Buffer.concat(chunks);
}

/** The chunks of a file, as a stream would give them, without the cost of a stream. */
async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(CHUNK_BYTES));
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}

/** Folder of a file; the working directory for stdin. */
export function folderOf(name: string, io: CliIo): string {
  return name === "-" ? io.cwd : resolve(io.cwd, name, "..");
}

/** Files named by a person: a folder stands for every `.flow` file below it, in order of name. */
export async function expandFiles(names: readonly string[], io: CliIo): Promise<string[]> {
  if (names.filter((name) => name === "-").length > 1)
    throw usage("only one thing can read stdin", "name - once");
  const files: string[] = [];
  for (const name of names) {
    if (name === "-") {
      files.push(name);
      continue;
    }
    const path = resolve(io.cwd, name);
    const info = await stat(path).catch((error: unknown) => {
      throw usage(`cannot read ${name}: ${reason(error)}`);
    });
    if (!info.isDirectory()) files.push(name);
    else {
      const below = await flowFiles(path);
      if (below.length === 0) throw usage(`no .flow file below ${name}`);
      files.push(...below.map((file) => relative(io.cwd, file)));
    }
  }
  return files;
}

async function flowFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    (error: unknown) => {
      throw usage(`cannot read ${folder}: ${reason(error)}`);
    },
  );
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith(".flow"))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .filter((path) => !relative(folder, path).split(sep).includes("node_modules"))
    .sort();
}

/**
 * Bytes of a file that was found, not named by a person: a regular file of at most 16 MiB. Anything else is refused before it is
 * opened, with an error as the system gives it: a pipe waits for a writer, and a device may have no end.
 */
export function readFound(path: string): Uint8Array {
  const info = statSync(path);
  const isOdd = !info.isFile() && !info.isDirectory();
  const code = isOdd ? "ENODEV" : info.size > MAX_READ_BYTES ? "EFBIG" : undefined;
  if (code !== undefined) throw Object.assign(new Error(code), { code });
  return readFileSync(path);
}

/** The text of a file; undefined where there is none. Throws a usage error for one that cannot be read. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw usage(`cannot read ${file}: ${reason(error)}`);
  }
}

/** Access to a file: everybody, or the user alone. */
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
