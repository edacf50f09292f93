/**
 * Whether a project file may grant power. What it says counts only after the person trusted these very bytes, with
 * `millrace config trust` or, where nobody sits, with MILLRACE_TRUST_PROJECT.
 */

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject } from "@millrace/contracts/kit";
import { usage } from "../errors.ts";
import { replaceFile } from "../files.ts";
import type { CliIo } from "../output/io.ts";
import { type ConfigFile, dataFolder } from "./files.ts";
import { POWER_KEYS } from "./keys.ts";
import { type DescriptorFile, readDescriptors, SERVICES_FOLDER } from "./services.ts";

const LOCK_FILE = "millrace.lock.json";
const TRUST_FILE = "trust.json";

/** How a project stands. `changed`: other bytes of this file were trusted. */
export interface Trust {
  readonly state: "powerless" | "trusted" | "changed" | "untrusted";
  /** Permissions that the file grants. */
  readonly powers: readonly string[];
  readonly digest: string;
}

/** A project file and the descriptors of services beside it, which say where a stored credential is sent. */
export interface Project {
  readonly file: ConfigFile;
  readonly descriptors: readonly DescriptorFile[];
}

export async function trustOf(
  project: Project,
  home: string | undefined,
  io: CliIo,
): Promise<Trust> {
  const powers = POWER_KEYS.filter((key) => Object.hasOwn(project.file.values, key));
  if (project.descriptors.length > 0) powers.push(SERVICES_FOLDER);
  const digest = await trustDigest(project);
  const given = io.env.MILLRACE_TRUST_PROJECT;
  const state = async (): Promise<Trust["state"]> => {
    if (powers.length === 0) return "powerless";
    if (given === "1" || given === digest) return "trusted";
    const stored = (await readTrusted(home, io)).get(project.file.path);
    return stored === digest ? "trusted" : stored === undefined ? "untrusted" : "changed";
  };
  return { state: await state(), powers, digest };
}

/** Throws a usage error for a project that grants power and is not trusted. */
export async function checkTrust(
  project: Project,
  home: string | undefined,
  io: CliIo,
): Promise<void> {
  const { state, powers, digest } = await trustOf(project, home, io);
  if (state === "powerless" || state === "trusted") return;
  const changed = state === "changed" ? ": it has changed since" : "";
  const them = project.descriptors.length > 0 ? "them" : "it";
  throw usage(
    `${project.file.path} is not trusted${changed}, and it sets ${powers.join(", ")}`,
    `read ${them}, then run millrace config trust, or set MILLRACE_TRUST_PROJECT=${digest}`,
  );
}

/** Remembers that the person trusts the project as it is now. */
export async function storeTrust(
  project: Project,
  home: string | undefined,
  io: CliIo,
): Promise<void> {
  const trusted = await readTrusted(home, io);
  trusted.set(project.file.path, await trustDigest(project));
  const rows = [...trusted].map(([file, sha256]) => ({ path: file, sha256 }));
  const path = join(dataFolder(home, io), TRUST_FILE);
  await replaceFile(path, `${JSON.stringify(rows, null, 2)}\n`, "owner");
}

/** Digest by path of the project file. A file of ours that cannot be read is no trust. */
async function readTrusted(home: string | undefined, io: CliIo): Promise<Map<string, string>> {
  const text = await readFile(join(dataFolder(home, io), TRUST_FILE), "utf8").catch(() => "[]");
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch {
    rows = [];
  }
  return new Map(
    (Array.isArray(rows) ? rows : []).flatMap((row: unknown) => {
      const { path, sha256 } = (isObject(row) ? row : {}) as { path?: unknown; sha256?: unknown };
      return typeof path === "string" && typeof sha256 === "string"
        ? [[path, sha256] as const]
        : [];
    }),
  );
}

/** `sha256:…` over the project file and, where they exist, its lock file and descriptors of services. */
async function trustDigest({ file, descriptors }: Project): Promise<string> {
  const hash = createHash("sha256").update(file.bytes);
  const lock = await readFile(join(dirname(file.path), LOCK_FILE)).catch(() => undefined);
  if (lock !== undefined) hash.update(lock);
  for (const each of descriptors) {
    // Digests, so that no byte can move from one file into the next.
    hash.update(createHash("sha256").update(each.bytes).digest());
  }
  return `sha256:${hash.digest("hex")}`;
}

/** The command that lets a changed project count again; undefined where it counts as it is. Read after the change. */
export async function nextTrust(
  file: ConfigFile | undefined,
  home: string | undefined,
  io: CliIo,
): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const descriptors = await readDescriptors(dirname(file.path));
  const { state } = await trustOf({ file, descriptors }, home, io);
  return state === "untrusted" || state === "changed" ? "millrace config trust" : undefined;
}
