/** Digests of what is installed: of all files of a package, and of its manifest. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ProblemFound } from "./problem.ts";

export function sha256(data: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}

const MAX_FILES = 20_000; // a larger package cannot be reviewed by a person
const MAX_BYTES = 256 * 1_048_576; // as much as a tarball may unpack to

/** Folders at the top of a package that are no part of what it is. */
export const LEFT_OUT: ReadonlySet<string> = new Set(["node_modules", ".git"]);

export interface TreeOptions {
  /** It was added by its folder, in which somebody works; default it is installed, and all of it counts. */
  readonly isWorkedIn?: boolean;
}

/**
 * `sha256:` over the sorted list of path and digest of every file of a package, without its `node_modules`. Where somebody works
 * in it, hidden folders at its top are left out too: tools keep logs and caches there (`.turbo`). Throws `ProblemFound` for a
 * link, as its target could be exchanged unseen, and for files that are not reviewed.
 */
export async function treeDigest(
  folder: string,
  { isWorkedIn = false }: TreeOptions = {},
): Promise<string> {
  const files: { readonly path: string; readonly digest: string }[] = [];
  const open = [folder];
  let bytes = 0;
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      const isOfTools = isWorkedIn && entry.isDirectory() && entry.name.startsWith(".");
      if (at === folder && (LEFT_OUT.has(entry.name) || isOfTools)) continue;
      const path = join(at, entry.name);
      const name = relative(folder, path).split(sep).join("/");
      if (entry.isDirectory()) {
        open.push(path);
        continue;
      }
      if (!entry.isFile()) throw refused(`${name} is a link, or no file`);
      if (name.includes("\n")) throw refused("the name of a file holds a line break");
      bytes += (await stat(path)).size;
      if (bytes > MAX_BYTES || files.length === MAX_FILES) {
        throw refused(`it has more than ${MAX_FILES} files or ${MAX_BYTES} bytes`);
      }
      files.push({ path: name, digest: sha256(await readFile(path)) });
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return sha256(files.map(({ path, digest }) => `${path}\n${digest}\n`).join(""));
}

function refused(text: string): ProblemFound {
  return new ProblemFound("extension_manifest_invalid", text);
}
