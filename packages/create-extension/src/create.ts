/**
 * Writes the files of a new extension.
 *   C1  A file that is there stays as it is; then nothing at all is written.
 *   C2  The tests of a new scaffold pass offline, unchanged.
 *   C3  Sources in `template/` are JavaScript that is strict TypeScript too: a scaffold in JavaScript has the same text.
 */
import { access, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import {
  ignoredBy,
  type Kind,
  manifestOf,
  type Scaffold,
  type Template,
  wordsOf,
} from "./scaffold.ts";

/** Options of `createExtension`. */
export interface CreateOptions {
  readonly kind: Kind;
  /** Default `js`. */
  readonly template?: Template;
  /** Name of the package: `@acme/millrace-weather` or `weather`. Its last part, without `millrace-` and `extension-`, is the id of the extension. */
  readonly name: string;
  /** Folder to write to; made when it is not there. */
  readonly folder: string;
}

const PACKAGE_NAME = /^(?:@[a-z0-9][a-z0-9._-]*\/)?[a-z][a-z0-9]*(?:[_-][a-z0-9]+)*$/;
const MAX_NAME = 64; // as ids of extensions

const TEMPLATE = fileURLToPath(new URL("../template/", import.meta.url));
/** The id that the files of `template/` have. */
const TEMPLATE_ID = "your-extension";

/** Writes the files and returns their paths relative to the folder. Throws `Error` for a bad name and for existing files. */
export async function createExtension(options: CreateOptions): Promise<readonly string[]> {
  const { kind, name, folder, template = "js" } = options;
  if (!PACKAGE_NAME.test(name) || name.length > MAX_NAME) {
    throw new Error(
      `"${name}" is no name: lower case, digits and dashes, such as @acme/millrace-weather`,
    );
  }
  const files = await filesOf({ kind, template, name, id: idOf(name) });
  const paths = Object.keys(files).sort();
  const taken: string[] = [];
  for (const path of paths) if (await exists(join(folder, path))) taken.push(path);
  if (taken.length > 0) throw new Error(`${taken.join(", ")} exist already; nothing was written`);
  for (const path of paths) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    // `wx`: a file created meanwhile is not overwritten.
    await writeFile(join(folder, path), files[path] ?? "", { flag: "wx" });
  }
  return paths;
}

/** The text of each file by its path. */
async function filesOf(scaffold: Scaffold): Promise<{ readonly [path: string]: string }> {
  const { kind, template, id } = scaffold;
  const files: { [path: string]: string } = {
    "package.json": manifestOf(scaffold),
    ".gitignore": ignoredBy(scaffold),
  };
  const words = wordsOf(scaffold);
  for (const part of ["every", kind, ...(template === "ts" ? ["typescript"] : [])]) {
    const root = join(TEMPLATE, part);
    for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name);
      const path = relative(root, file).split(sep).join("/").replace(/\.ts$/, `.${template}`);
      const text = await readFile(file, "utf8");
      files[path] = text
        .replaceAll(TEMPLATE_ID, id)
        .replace(/\{\{(\w+)\}\}/g, (all, word) => words.get(word) ?? all);
    }
  }
  return files;
}

/** `@acme/millrace-weather` and `@acme/extension-weather` add `weather`. */
function idOf(name: string): string {
  return name.replace(/^@[^/]*\//, "").replace(/^(?:millrace-)?(?:extension-)?/, "");
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
