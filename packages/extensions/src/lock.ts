/** `millrace.lock.json`: what was reviewed and granted, so that nothing else is ever loaded. */
import { realpath, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isObject } from "@millrace/contracts/kit";
import {
  type Infer,
  object,
  oneOf,
  optional,
  problemsOf,
  record,
  text,
} from "@millrace/contracts/shape";
import { hostsShape, permissionsShape } from "./manifest.ts";
import { readText } from "./read-text.ts";

/** File beside `millrace.json`. */
export const LOCK_FILE = "millrace.lock.json";
const LOCK_VERSION = 1;
/** An entry is well below a kilobyte. */
const LOCK_BYTES = 10_485_760;

const LOCKED = object({
  version: text("a version"),
  /** Of the tarball, as package managers write it; "" for a folder. */
  integrity: text("an integrity", { min: 0 }),
  manifestDigest: text("a digest"),
  treeDigest: text("a digest"),
  source: oneOf("npm", "tarball", "path"),
  mode: oneOf("child", "inProcess"),
  granted: permissionsShape,
  /** Those of `granted.net` that a person named beside what the package asks for. */
  hosts: optional(hostsShape),
  /** The project depended on the package before: removing the extension leaves the package installed. */
  dependency: optional(oneOf(true)),
});

/** One extension as it was reviewed. */
export interface LockedExtension extends Infer<typeof LOCKED> {}

/** Where a package came from. */
export type ExtensionSource = LockedExtension["source"];

/** The lock by the name of the list: a package, or a folder that begins with `./`. */
export type ExtensionLock = ReadonlyMap<string, LockedExtension>;

/** Reads the lock of a project; empty where there is none. Throws `TypeError` that names the file for one that cannot be read. */
export async function readLock(folder: string): Promise<ExtensionLock> {
  const path = join(folder, LOCK_FILE);
  let content: string;
  try {
    content = await readText(await realpath(path), LOCK_BYTES);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return new Map();
    throw new TypeError(`${path} cannot be read`, { cause: error });
  }
  let value: unknown;
  try {
    value = JSON.parse(content);
  } catch {
    throw new TypeError(`${path} is not JSON`);
  }
  if (!isObject(value) || value["lockVersion"] !== LOCK_VERSION) {
    throw new TypeError(`${path} is not of lockVersion ${LOCK_VERSION}`);
  }
  const { extensions } = value;
  const problem = problemsOf(extensions, record(LOCKED))[0];
  if (problem !== undefined) {
    throw new TypeError(`${path}: /extensions${problem.pointer} ${problem.message}`);
  }
  return new Map(Object.entries(extensions as { [name: string]: LockedExtension }));
}

/** Writes the lock in one step, sorted by name. */
export async function writeLock(folder: string, lock: ExtensionLock): Promise<void> {
  const sorted = [...lock].sort(([a], [b]) => (a < b ? -1 : 1));
  const file = { lockVersion: LOCK_VERSION, extensions: Object.fromEntries(sorted) };
  const path = join(folder, LOCK_FILE);
  await writeFile(`${path}.tmp`, `${JSON.stringify(file, null, 2)}\n`);
  await rename(`${path}.tmp`, path);
}
