/** Where packages are: found by name or by folder, without any of their code and without the resolver of Node. */
import { lstat, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isObject } from "@millrace/contracts/kit";
import { MANIFEST_BYTES, readText } from "./read-text.ts";

/** A name of the list that is a folder of the project, not a package. */
export function isFolderName(name: string): boolean {
  return name.startsWith("./") || name.startsWith("../") || isAbsolute(name);
}

/** Real folder of an extension of a project; undefined when it is not there. */
export async function locate(project: string, name: string): Promise<string | undefined> {
  if (isFolderName(name)) return existing(resolve(project, name));
  const link = await linkOf(project, name);
  return link === undefined ? undefined : existing(link);
}

/** `node_modules/<name>` of a folder or of one above it, as it stands there: mostly a link, or the package itself. */
async function linkOf(from: string, name: string): Promise<string | undefined> {
  for (let at = from; ; at = dirname(at)) {
    const path = join(at, "node_modules", name);
    if (await lstat(path).catch(() => undefined)) return path;
    if (at === dirname(at)) return undefined;
  }
}

async function existing(path: string): Promise<string | undefined> {
  return realpath(path).catch(() => undefined);
}

const MAX_PACKAGES = 2_000; // of one extension; more is a mistake that would end in thousands of flags

/** The real folders of a package and of all that it depends on, and the links that lead to them. */
export async function foldersOf(root: string): Promise<readonly string[]> {
  const folders = new Set<string>([root]);
  const found = new Set<string>();
  const open = [root];
  for (let at = open.pop(); at !== undefined && folders.size < MAX_PACKAGES; at = open.pop()) {
    for (const name of await dependenciesOf(at)) {
      const link = await linkOf(at, name);
      const real = link === undefined ? undefined : await existing(link);
      if (link === undefined || real === undefined) continue;
      folders.add(link);
      folders.add(real);
      if (found.has(real)) continue;
      found.add(real);
      open.push(real);
    }
  }
  return [...folders];
}

/** Names alone: a dependency `../../..` would make any folder one of the package. */
async function dependenciesOf(folder: string): Promise<readonly string[]> {
  const text = await readText(join(folder, "package.json"), MANIFEST_BYTES).catch(() => "{}");
  let file: unknown;
  try {
    file = JSON.parse(text);
  } catch {
    return [];
  }
  if (!isObject(file)) return [];
  return ["dependencies", "peerDependencies", "optionalDependencies"].flatMap((field) =>
    Object.keys(Object(file[field])).filter((name) => DEPENDENCY.test(name)),
  );
}

/** Old packages have capitals in their names. */
const DEPENDENCY = /^(?:@[\w~-][\w.~-]*\/)?[A-Za-z0-9~-][\w.~-]*$/;
