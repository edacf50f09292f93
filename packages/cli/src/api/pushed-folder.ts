/**
 * A folder of flows as `push` and `pull` know it: a flow is a template with the name of its file.
 *   P1  `.millrace-pulled.json` says which text of each flow was pulled last, so that a push tells what it has seen.
 */

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { basename, dirname, join, resolve } from "node:path";
import type { Digest } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { formatFlow } from "@millrace/dsl";
import type { CommandIo, Input } from "../argv/spec.ts";
import { configOptions, warnOn } from "../config/files.ts";
import { type Config, loadConfig } from "../config/load.ts";
import { usage } from "../errors.ts";
import { expandFiles, readIfThere, readInput, replaceFile } from "../files.ts";
import { clean } from "../output/text.ts";

const PULLED = ".millrace-pulled.json";
const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;
const DEFAULT = "flows";

/** Whether a word is the name of a template, and so of a file. */
export function isSlug(word: string): boolean {
  return SLUG.test(word);
}

export interface FlowFile {
  readonly slug: string;
  /** As a person names it. */
  readonly file: string;
  readonly text: string;
}

/** The folder of the first argument, else that of the project. */
export async function folderOfFlows(
  input: Input,
  io: CommandIo,
): Promise<{ readonly folder: string; readonly config: Config }> {
  const config = await loadConfig(configOptions(input, io), io, warnOn(io));
  const [word] = input.args;
  return { folder: word ?? config.flows ?? DEFAULT, config };
}

/** The flows below a folder. Throws a usage error for names that are no slugs, or that two files have. */
export async function readFlows(folder: string, io: CommandIo): Promise<FlowFile[]> {
  const files: FlowFile[] = [];
  const bySlug = new Map<string, string>();
  for (const file of await expandFiles([folder], io)) {
    const slug = basename(file, ".flow");
    if (!isSlug(slug)) {
      throw usage(
        `${clean(file)}: the name is no slug`,
        "rename it: a template has the name of its file, small letters, digits and -",
      );
    }
    const other = bySlug.get(slug);
    if (other !== undefined) {
      throw usage(
        `${clean(file)} and ${clean(other)} are the same template, ${slug}`,
        "rename one",
      );
    }
    bySlug.set(slug, file);
    const bytes = await readInput(file, io);
    if (!isUtf8(bytes)) throw usage(`${clean(file)} is not UTF-8 text`);
    files.push({ slug, file, text: Buffer.from(bytes).toString("utf8") });
  }
  return files;
}

/** The name under which a folder pushes: its own, and that of the folder around one that is called `flows`. */
export function nameOfFolder(folder: string, io: CommandIo): string {
  const path = resolve(io.cwd, folder);
  const plain = basename(path) === DEFAULT ? basename(dirname(path)) : basename(path);
  const name = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  if (isSlug(name)) return name;
  throw usage("the folder has no name to push under", "give one with --as");
}

/** Digest of a text in its canonical form; one that cannot be read is taken as it is. */
export function digestOfFlow(text: string): Digest {
  const hash = createHash("sha256").update(formatFlow(text).text).digest("hex");
  return `sha256:${hash}`;
}

/** Digests of the texts that were pulled, by slug. */
export async function readPulled(folder: string, io: CommandIo): Promise<Map<string, Digest>> {
  const text = await readIfThere(join(resolve(io.cwd, folder), PULLED));
  if (text === undefined) return new Map();
  try {
    const values: unknown = JSON.parse(text);
    if (isObject(values)) return new Map(Object.entries(values) as [string, Digest][]);
  } catch {
    // said below
  }
  throw usage(`${clean(join(folder, PULLED))} cannot be read`, "delete it, and pull again");
}

/** Notes which texts were pulled. */
export async function writePulled(
  folder: string,
  pulled: ReadonlyMap<string, Digest>,
  io: CommandIo,
): Promise<void> {
  const sorted = Object.fromEntries([...pulled].sort(([a], [b]) => (a < b ? -1 : 1)));
  await replaceFile(join(resolve(io.cwd, folder), PULLED), `${JSON.stringify(sorted, null, 2)}\n`);
}
