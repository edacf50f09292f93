/**
 * Writes the files of a new extension.
 *   C1  A file that is there stays as it is; then nothing at all is written.
 *   C2  What is written tests green as it is, offline.
 *   C3  Sources are JavaScript that is strict TypeScript too: the templates differ in what is around them.
 */
import { access, mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { packageFiles, type Template } from "./templates/package.ts";
import { type Kind, SOURCES } from "./templates/sources.ts";

/** Options of `createExtension`. */
export interface CreateOptions {
  readonly kind: Kind;
  /** Default `js`. */
  readonly template?: Template;
  /** Name of the package: `@acme/millrace-weather` or `weather`. Its last part, without `millrace-`, names what it adds. */
  readonly name: string;
  /** Folder to write to; made when it is not there. */
  readonly folder: string;
}

const PACKAGE_NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;
const MAX_NAME = 64; // as ids of extensions

/** Writes the files and answers their paths below the folder. Throws `Error` with one sentence for what cannot be done. */
export async function createExtension(options: CreateOptions): Promise<readonly string[]> {
  const { kind, name, folder, template = "js" } = options;
  if (!PACKAGE_NAME.test(name) || name.length > MAX_NAME) {
    throw new Error(
      `"${name}" is no name: lower case, digits and dashes, such as @acme/millrace-weather`,
    );
  }
  const id = idOf(name);
  const { source, test } = SOURCES[kind](id);
  const files = {
    ...packageFiles({ kind, template, name, id }),
    [`src/extension.${template}`]: source,
    [`test/extension.test.${template}`]: test,
  };
  const paths = Object.keys(files).sort();
  const taken: string[] = [];
  for (const path of paths) if (await exists(join(folder, path))) taken.push(path);
  if (taken.length > 0) throw new Error(`${taken.join(", ")} exist already; nothing was written`);
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // `wx`: who wrote it meanwhile keeps it.
    await writeFile(join(folder, path), files[path] ?? "", { flag: "wx" });
  }
  return paths;
}

/** `@acme/millrace-weather` adds `weather`. */
function idOf(name: string): string {
  return name.replace(/^@[^/]*\//, "").replace(/^millrace-/, "");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
