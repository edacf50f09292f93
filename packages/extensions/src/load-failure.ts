/** Says where the import of an extension failed: `src/extension.js:12:1 SyntaxError: Unexpected token ';'`. */
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { isAbsolute, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";

const MAX_CHECKED = 64; // files that are searched for a syntax error; each costs the start of a process
const CHECK_MS = 10_000; // a limit for what hangs; reading one file takes milliseconds

/** A package and the file of it that was imported. */
export interface Imported {
  /** Real folder of the package. */
  readonly folder: string;
  readonly entry: string;
}

/**
 * Place, class and message of what an import threw. The message is withheld where `shown` is false, unless it is that of Node
 * itself: what code throws may hold anything.
 */
export async function loadFailure(error: unknown, at: Imported, shown: boolean): Promise<string> {
  if (!(error instanceof Error)) {
    return `it threw a value that is no error${shown ? `: ${String(error)}` : ""}`;
  }
  const { name, stack = "" } = error;
  const message = error.message.replace(/\s*\n\s*/g, " ");
  const unbuilt = unbuiltEntry(message, at);
  if (unbuilt !== undefined) return unbuilt;
  const frame = placeOfFrame(stack, at.folder);
  const isOfNode = frame === undefined && /\(node:internal\/modules\//.test(stack);
  const place =
    placeOfExcerpt(stack, at.folder) ??
    frame ??
    placeOfImporter(message, at.folder) ??
    (name === "SyntaxError" ? await placeOfSyntaxError(at) : undefined);
  const what =
    shown || isOfNode ? `${name}: ${message}` : `${name}; its message is shown with --verbose`;
  return place === undefined ? what : `${place} ${what}`;
}

/** What to do about an entry that is missing or TypeScript. */
function unbuiltEntry(message: string, { folder, entry }: Imported): string | undefined {
  const path = within(folder, entry) ?? entry;
  if (message.startsWith(`Cannot find module '${entry}'`)) {
    return `${path}, which package.json names as /millrace/entry, is missing: build it, or name another file`;
  }
  const isTyped = /\.[cm]?tsx?$/.test(entry) && message.endsWith(`for ${entry}`);
  return isTyped
    ? `${path} is TypeScript: compile it, and name the JavaScript as /millrace/entry of package.json`
    : undefined;
}

/** Of the excerpt that Node puts before a stack: `file:///x/a.js:3`, the line, and a caret below the column. */
function placeOfExcerpt(text: string, folder: string): string | undefined {
  const [, file, line, indent] = /^(.+):(\d+)\n.*\n([ \t]*)\^/m.exec(text) ?? [];
  if (file === undefined || indent === undefined) return undefined;
  return `${within(folder, file) ?? file}:${line}:${indent.length + 1}`;
}

/** Of the first line of a stack that is in the package. */
function placeOfFrame(stack: string, folder: string): string | undefined {
  for (const [, file = "", place] of stack.matchAll(/(file:\/\/[^\s()]+?):(\d+:\d+)\)?$/gm)) {
    const path = within(folder, file);
    if (path !== undefined) return `${path}:${place}`;
  }
  return undefined;
}

/** `Cannot find package 'x' imported from /a/b.js` has a file and no line. */
function placeOfImporter(message: string, folder: string): string | undefined {
  const [, file] = / imported from (.+)$/.exec(message) ?? [];
  return file === undefined ? undefined : within(folder, file);
}

/** A caught syntax error names no file. `node --check` reads a file without running it, and does. */
async function placeOfSyntaxError({ folder, entry }: Imported): Promise<string | undefined> {
  // With types, links are not followed: those of pnpm make a folder of dependencies endless.
  const all = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const paths = all.map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
  const code = paths.filter((path) => /\.[cm]?js$/.test(path) && !isInstalled(path)).sort();
  const files = [entry, ...code.map((path) => join(folder, path))];
  for (const file of [...new Set(files)].slice(0, MAX_CHECKED)) {
    const said = await new Promise<string>((resolve) => {
      const options = { timeout: CHECK_MS, windowsHide: true };
      execFile(process.execPath, ["--check", file], options, (_error, _out, err) => resolve(err));
    });
    const place = placeOfExcerpt(said, folder);
    if (place !== undefined) return place;
  }
  return undefined;
}

function isInstalled(path: string): boolean {
  return path.split(sep).includes("node_modules");
}

/** The path in the package, with slashes; undefined for a file outside of it. */
function within(folder: string, file: string): string | undefined {
  const path = relative(folder, file.startsWith("file:") ? fileURLToPath(file) : file);
  return path.startsWith("..") || isAbsolute(path) ? undefined : path.split(sep).join("/");
}
