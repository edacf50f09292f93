/**
 * Descriptors of services: the files `services/*.json` beside a configuration file, one service each. They are data; what they
 * say is checked when they are made into services.
 */

import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ServiceDefinition } from "@millrace/contracts";
import { reason, unusable } from "../errors.ts";
import { readFound } from "../files.ts";
import type { Surroundings } from "../output/io.ts";
import { clean } from "../output/text.ts";
import {
  type ConfigOptions,
  foldersUpward,
  malformed,
  PROJECT_FILE,
  projectFolder,
} from "./files.ts";

/** Folder of the descriptors, beside the configuration file. */
export const SERVICES_FOLDER = "services";

/** Mistakes of one descriptor that are named at once. */
const MAX_SHOWN = 5;

/** A file that describes a service, as its bytes are: nothing in it is checked yet. */
export interface DescriptorFile {
  readonly path: string;
  readonly bytes: Uint8Array;
}

/** Every descriptor beside a configuration file, sorted by name; none where there is no such folder. */
export async function readDescriptors(folder: string): Promise<readonly DescriptorFile[]> {
  const at = join(folder, SERVICES_FOLDER);
  const names = await readdir(at).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw unusable(at, `cannot read ${at}: ${reason(error)}`);
  });
  return names
    .filter((name) => name.endsWith(".json") && !name.startsWith("."))
    .sort()
    .map((name) => ({ path: join(at, name), bytes: readDescriptor(join(at, name)) }));
}

/**
 * Why the descriptors nearest to a folder do not count, and what to do, where there is no project file beside them; undefined:
 * there are none. `options` is where the search for a project starts.
 */
export async function strayServices(
  options: ConfigOptions,
  io: Surroundings,
): Promise<string | undefined> {
  if ((await projectFolder(options, io)) !== undefined) return undefined;
  for await (const at of foldersUpward(options.folder, io)) {
    const [first] = (await readDescriptors(at)).filter(looksLikeDescriptor);
    if (first === undefined) continue;
    return `${first.path} does not count: there is no ${PROJECT_FILE} beside ${SERVICES_FOLDER}/; write {} into ${join(at, PROJECT_FILE)}, then run millrace config trust`;
  }
  return undefined;
}

/** Other programs have folders of this name, too. */
function looksLikeDescriptor({ bytes }: DescriptorFile): boolean {
  return Buffer.from(bytes).includes('"serviceIntegration"');
}

/** The services of all files; of two with one slug the later list's counts. Throws a usage error that names the file and the place. */
export async function toServices(
  ...lists: readonly (readonly DescriptorFile[])[]
): Promise<readonly ServiceDefinition[]> {
  if (lists.every((files) => files.length === 0)) return [];
  // Loaded when there is one: most projects have none.
  const { checkService, defineService } = await import("@millrace/contracts");
  const all = new Map<string, ServiceDefinition>();
  for (const files of lists) {
    const seen = new Map<string, string>();
    for (const { path, bytes } of files) {
      const value = await parse(path, bytes);
      const wrong = checkService(value).map(({ pointer, message }) => `${pointer} ${message}`);
      if (wrong.length > 0) {
        const shown = wrong.slice(0, MAX_SHOWN).join("; ");
        const more = wrong.length > MAX_SHOWN ? `; and ${wrong.length - MAX_SHOWN} more` : "";
        throw unusable(path, clean(`${path} is no service: ${shown}${more}`));
      }
      const service = defineService(value as Parameters<typeof defineService>[0]);
      const other = seen.get(service.slug);
      if (other !== undefined) {
        const message = `${other} and ${path} both describe "${service.slug}"; remove one of the two`;
        throw unusable(path, message);
      }
      seen.set(service.slug, path);
      all.set(service.slug, service);
    }
  }
  return [...all.values()];
}

function readDescriptor(path: string): Uint8Array {
  try {
    return readFound(path);
  } catch (error) {
    throw unusable(path, `cannot read ${path}: ${reason(error)}`);
  }
}

async function parse(path: string, bytes: Uint8Array): Promise<unknown> {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw await malformed(path, bytes);
  }
}
