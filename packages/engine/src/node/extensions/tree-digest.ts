/** Digests of what is installed: of all files of a package, and of its manifest. */
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { ProblemFound } from "./problem.ts";

/** `sha256:` of some bytes. */
export function sha256(data: Uint8Array | string): string {
  return `sha256:${createHash("sha256").update(data).digest("hex")}`;
}

/** Folders that are no part of what a package is. */
const LEFT_OUT: ReadonlySet<string> = new Set(["node_modules", ".git"]);

/**
 * `sha256:` over the sorted list of path and digest of every file of a package, without its `node_modules`. Throws
 * `ProblemFound` for a link: what it leads to could be exchanged unseen.
 */
export async function treeDigest(folder: string): Promise<string> {
  const files: { readonly path: string; readonly digest: string }[] = [];
  const open = [folder];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    for (const entry of await readdir(at, { withFileTypes: true })) {
      if (LEFT_OUT.has(entry.name)) continue;
      const path = join(at, entry.name);
      const name = relative(folder, path).split(sep).join("/");
      if (entry.isDirectory()) open.push(path);
      else if (entry.isFile()) files.push({ path: name, digest: sha256(await readFile(path)) });
      else throw new ProblemFound("extension_manifest_invalid", `${name} is a link, or no file`);
    }
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return sha256(files.map(({ path, digest }) => `${path}\n${digest}\n`).join(""));
}
