/** The file port of Node: everything below one folder, nothing else. Each operation is loaded by its first call. */
import { isAbsolute } from "node:path";
import type { AbortSignalLike, FilePort } from "@millrace/contracts";
import type { FilePolicy } from "../../host.ts";
import { denied, explained, tooLarge } from "./failures.ts";
import { partsOf } from "./flow-path.ts";
import { type Folder, openFolder } from "./folder.ts";

const DEFAULT_MAX_BYTES = 16_777_216;
const DEFAULT_LIST = 1_000;

/**
 * Files below `policy.root`. Refuses with `NodeError`: `file_denied file_not_found file_exists file_too_large disk_full`.
 * An aborted signal rejects with its reason. Throws `TypeError` for a root that is not absolute.
 */
export function openFiles(policy: FilePolicy): FilePort {
  const { root, readOnly = false, maxBytes = DEFAULT_MAX_BYTES } = policy;
  if (!isAbsolute(root)) {
    throw new TypeError(`files: the root ${JSON.stringify(root)} is not an absolute path`);
  }
  return {
    read: (path, { maxBytes: own = maxBytes, range, signal } = {}) =>
      answering(path, async () => {
        const check = checkOf(signal);
        const most = Math.min(own, maxBytes);
        return inFolder({ root, path, check }, async (folder, name, whole) => {
          const { readFileIn } = await import("./read.ts");
          const file = await readFileIn(folder, name, { path, maxBytes: most, range, check });
          return { path: whole, ...file };
        });
      }),
    write: (path, data, { mode = "create", signal } = {}) =>
      answering(path, async () => {
        if (readOnly) throw denied(path, "cannot be written: files are read-only here");
        if (data.length > maxBytes) throw tooLarge(path, data.length, maxBytes);
        const check = checkOf(signal);
        return inFolder({ root, path, check, create: true }, async (folder, name, whole) => {
          const { WRITERS } = await import("./write.ts");
          const { created } = await WRITERS[mode]({ folder, name, path, data, maxBytes });
          return { path: whole, bytes: data.length, created };
        });
      }),
    list: (path, { glob = "*", max = DEFAULT_LIST, signal } = {}) =>
      answering(path, async () => {
        const parts = partsOf(path.replace(/(?<=[^/])\/$/, ""));
        const { listFiles } = await import("./list.ts");
        return listFiles({ root, parts, path, glob, max, check: checkOf(signal) });
      }),
  };
}

/** Does something with a name in its open folder. `whole` is the path as results show it. */
async function inFolder<T>(
  at: { root: string; path: string; check: () => void; create?: boolean },
  act: (folder: Folder, name: string, whole: string) => Promise<T>,
): Promise<T> {
  const parts = partsOf(at.path);
  const name = parts.at(-1);
  if (name === undefined) throw denied(at.path, "is the root, not a file");
  at.check();
  const folder = await openFolder(at.root, parts.slice(0, -1), at);
  try {
    at.check();
    return await act(folder, name, parts.join("/"));
  } finally {
    await folder.close();
  }
}

async function answering<T>(path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw explained(error, path);
  }
}

function checkOf(signal: AbortSignalLike | undefined): () => void {
  return () => {
    if (signal?.aborted === true) throw signal.reason ?? new DOMException("aborted", "AbortError");
  };
}
