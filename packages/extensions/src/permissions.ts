/** Permissions: what is asked against what was granted, what that means on this machine, and who enforces it. */
import { mkdir, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExtensionRuntime, Permissions } from "@millrace/contracts";
import type { Grants } from "@millrace/engine";
import type { ExtensionMode } from "./manifest.ts";

/** Flag that switches the permission model of Node on, by what this Node knows; undefined: it has none. */
export function permissionFlag(): string | undefined {
  const flags = process.allowedNodeEnvironmentFlags;
  return ["--permission", "--experimental-permission"].find((flag) => flags.has(flag));
}

/** Whether this Node denies the network to a process that was not allowed it. */
export function deniesNetwork(): boolean {
  return process.allowedNodeEnvironmentFlags.has("--allow-net");
}

/** Who keeps code that runs like this to its permissions. The network of a process is open for code that was granted sockets. */
export function runtimeOf(mode: ExtensionMode, granted: Permissions = {}): ExtensionRuntime {
  if (mode === "inProcess") {
    const none = { net: "none", fs: "none", env: "none", spawn: "none", native: "none" } as const;
    return { mode, enforcement: none };
  }
  const net = deniesNetwork() && !hasSockets(granted) ? "runtime" : "tripwire";
  const by = { fs: "runtime", env: "runtime", spawn: "runtime", native: "runtime" } as const;
  return { mode, enforcement: { net, ...by } };
}

/** Whether code may open sockets. */
export function hasSockets({ sockets = [] }: Permissions): boolean {
  return sockets.length > 0;
}

/** One line for each permission, such as `net api.example:443`. */
export function permissionLines(permissions: Permissions): readonly string[] {
  const {
    net = [],
    sockets = [],
    fs = {},
    env = [],
    secrets = [],
    spawn = [],
    native = false,
  } = permissions;
  const lines = (what: string, list: readonly string[] = []) => list.map((one) => `${what} ${one}`);
  return [
    ...lines("net", net),
    ...lines("socket", sockets),
    ...lines("fs read", fs.read),
    ...lines("fs write", fs.write),
    ...lines("env", env),
    ...lines("secret", secrets),
    ...lines("spawn", spawn),
    ...(native ? ["native code"] : []),
  ];
}

/** Permissions that are asked for and were not granted. */
export function missingGrants(asked: Permissions, granted: Permissions): readonly string[] {
  const has = new Set(permissionLines(granted));
  return permissionLines(asked).filter((line) => !has.has(line));
}

/** Folders of `$project`, `$data` and `$temp`; the last two belong to one extension alone. */
export interface Places {
  readonly project: string;
  /** Data folder of the installation. */
  readonly data: string;
}

/** The grants of an extension on this machine: folders are real paths, and those of the extension's own are made. */
export async function resolveGrants(
  name: string,
  granted: Permissions,
  { project, data }: Places,
): Promise<Grants> {
  const own = name.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^\.+/, "_");
  const roots: { readonly [variable: string]: string } = {
    $project: project,
    $data: join(data, "extensions", own),
    $temp: join(tmpdir(), `millrace-${process.getuid?.() ?? 0}-${own}`),
  };
  const folders = async (list: readonly string[] = []): Promise<readonly string[]> => {
    const found = await Promise.all(
      list.map(async (entry) => {
        const [variable = "", ...rest] = entry.split("/");
        const root = roots[variable] as string;
        if (variable !== "$project") await mkdir(root, { recursive: true, mode: 0o700 });
        return realpath(join(root, ...rest)).catch(() => undefined);
      }),
    );
    return found.filter((folder) => folder !== undefined);
  };
  return Object.freeze({
    net: granted.net ?? [],
    files: { read: await folders(granted.fs?.read), write: await folders(granted.fs?.write) },
    spawn: granted.spawn ?? [],
    secrets: granted.secrets ?? [],
  });
}
