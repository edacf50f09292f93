/**
 * Files as an extension may use them: the operator's folder, and of it only the folders that were granted. Each granted folder
 * is opened as a root of its own, so that no link leads out of it.
 */
import { type FilePort, NodeError } from "@millrace/contracts";
import type { FilePolicy, Host } from "../host.ts";
import type { Grants } from "../node-type.ts";

/** A granted folder: its place below the operator's root ("" is the root itself), and its files. */
interface Room {
  readonly prefix: string;
  readonly files: FilePort;
}

/** The files of `policy` as far as `grants` go. Throws what `openFiles` throws. */
export function grantedFiles(host: Host, policy: FilePolicy, { files }: Grants): FilePort {
  const rooms = (folders: readonly string[]): readonly Room[] =>
    folders.flatMap((folder) => {
      const prefix = below(slashes(policy.root), slashes(folder));
      if (prefix === undefined) return [];
      const root = prefix === "" ? policy.root : folder;
      const opened = host.openFiles?.({ ...policy, root });
      return opened === undefined ? [] : [{ prefix, files: opened }];
    });
  const readable = rooms(files.read);
  const writable = rooms(files.write);
  return {
    async read(path, options) {
      const { room, rest } = roomOf(readable, path, "read");
      return named(room, await room.files.read(rest, options));
    },
    async write(path, data, options) {
      const { room, rest } = roomOf(writable, path, "written");
      return named(room, await room.files.write(rest, data, options));
    },
    async list(path, options) {
      const { room, rest } = roomOf(readable, path, "listed");
      const { files: found, truncated } = await room.files.list(rest === "" ? "." : rest, options);
      return { files: found.map((file) => named(room, file)), truncated };
    },
  };
}

/** The innermost granted folder that holds a path, and the path in it. */
function roomOf(rooms: readonly Room[], path: string, how: string): { room: Room; rest: string } {
  const clean = path === "." ? "" : path.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");
  let best: { room: Room; rest: string } | undefined;
  for (const room of rooms) {
    const rest = below(room.prefix, clean);
    if (rest === undefined || (best !== undefined && best.room.prefix.length > room.prefix.length))
      continue;
    best = { room, rest };
  }
  if (best !== undefined) return best;
  const text = `"${path.slice(0, 128)}" cannot be ${how}: no folder that was granted holds it`;
  throw new NodeError("file_denied", text, { reason: "denied", sent: false });
}

function named<T extends { readonly path: string }>({ prefix }: Room, file: T): T {
  return prefix === "" ? file : { ...file, path: `${prefix}/${file.path}` };
}

/** What of `path` comes after `folder`; undefined when it is not in it. */
function below(folder: string, path: string): string | undefined {
  if (folder === "" || folder === path) return folder === path ? "" : path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}

function slashes(path: string): string {
  return path.replaceAll("\\", "/").replace(/\/$/, "");
}
