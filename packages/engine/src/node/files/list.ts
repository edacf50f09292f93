/** Listing the files below a folder, in the order of their paths by code point. */
import { lstat, readdir } from "node:fs/promises";
import type { FileEntry } from "@millrace/contracts";
import { isPart } from "./flow-path.ts";
import { isTemporary, openFolder } from "./folder.ts";
import { compileGlob } from "./glob.ts";

const MAX_VISITED = 100_000; // entries looked at; a tree of that size wants a narrower path

/** Options of a listing. */
export interface Listing {
  readonly root: string;
  /** Where it begins. */
  readonly parts: readonly string[];
  readonly path: string;
  readonly glob: string;
  readonly max: number;
  readonly check: () => void;
}

/** Regular files only: links are neither listed nor followed. `truncated`: there are more than `max`. */
export async function listFiles(
  listing: Listing,
): Promise<{ files: FileEntry[]; truncated: boolean }> {
  const glob = compileGlob(listing.glob);
  const files: FileEntry[] = [];
  let visited = 0;

  // False: there is more than may be listed.
  const visit = async (below: readonly string[]): Promise<boolean> => {
    listing.check();
    const prefix = below.map((part) => `${part}/`).join("");
    const entries = await readFolder(listing, below, (name) => glob.fits(prefix + name));
    for (const { name, file } of entries) {
      visited += 1;
      if (visited > MAX_VISITED) return false;
      if (file !== null) {
        if (files.length === listing.max) return false;
        files.push({ path: [...listing.parts, ...below, name].join("/"), name, ...file });
      } else if (below.length < glob.depth && !(await visit([...below, name]))) return false;
    }
    return true;
  };

  const whole = await visit([]);
  return { files, truncated: !whole };
}

/** A folder, or a file with what is known of it. */
interface Entry {
  readonly name: string;
  readonly file: { readonly bytes: number; readonly modifiedAt: string } | null;
}

/** Folders, and files that `wants`; what no flow can name is left out. */
async function readFolder(
  { root, parts, path }: Listing,
  below: readonly string[],
  wants: (name: string) => boolean,
): Promise<Entry[]> {
  const folder = await openFolder(root, [...parts, ...below], { path });
  try {
    const found: Entry[] = [];
    for (const entry of await readdir(folder.at("."), { withFileTypes: true })) {
      const { name } = entry;
      if (!isPart(name) || isTemporary(name)) continue;
      if (entry.isDirectory()) found.push({ name, file: null });
      if (!entry.isFile() || !wants(name)) continue;
      const stats = await lstat(folder.at(name)).catch(() => null); // gone since it was listed
      if (stats?.isFile() !== true) continue;
      found.push({ name, file: { bytes: stats.size, modifiedAt: stats.mtime.toISOString() } });
    }
    return found.sort(byPath);
  } catch (error) {
    if (below.length > 0 && (error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  } finally {
    await folder.close();
  }
}

/** In the order of whole paths: what is in a folder comes where `name/` would. UTF-8 sorts by code point. */
function byPath(a: Entry, b: Entry): number {
  const text = (entry: Entry) => Buffer.from(entry.file === null ? `${entry.name}/` : entry.name);
  return Buffer.compare(text(a), text(b));
}
