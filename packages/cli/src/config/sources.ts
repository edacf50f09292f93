/**
 * What lies on the disk for a folder: the user's configuration file, the nearest project file, and the descriptors of services
 * beside each. Read once for a command; what counts of it is decided by `loadConfig`, what is only described needs no trust.
 */
import { dirname, join } from "node:path";
import type { CatalogEntry, ServiceDefinition } from "@millrace/contracts";
import type { ListedExtension } from "@millrace/extensions";
import { unusable } from "../errors.ts";
import type { Surroundings } from "../output/io.ts";
import { type ConfigFile, type ConfigOptions, projectFile, readConfig, userFile } from "./files.ts";
import { readExtensionList } from "./sections.ts";
import { type DescriptorFile, readDescriptors, toServices } from "./services.ts";

export interface ConfigSources {
  readonly options: ConfigOptions;
  readonly userPath: string;
  readonly user: ConfigFile | undefined;
  readonly project: ConfigFile | undefined;
  /** Of the project; those of the user are read where services are wanted. */
  readonly descriptors: readonly DescriptorFile[];
}

/** Reads all files. Throws a usage error for one that cannot be read or is no JSON. */
export async function readSources(
  options: ConfigOptions,
  io: Surroundings,
): Promise<ConfigSources> {
  const userPath = userFile(options.home, io);
  const user = await readConfig(userPath);
  const project = await projectFile(options, io);
  const descriptors = project === undefined ? [] : await readDescriptors(dirname(project.path));
  return { options, userPath, user, project, descriptors };
}

/** Services of the user and of the project, which wins. Throws a usage error that names the file and the place. */
export async function describedServices({
  userPath,
  descriptors,
}: ConfigSources): Promise<readonly ServiceDefinition[]> {
  return toServices(await readDescriptors(dirname(userPath)), descriptors);
}

/** Ids that the configuration of user and project names, which no extension can have, too. */
export async function describedIds(
  sources: ConfigSources,
): Promise<{ readonly providers: object; readonly services: readonly ServiceDefinition[] }> {
  return {
    providers: Object.fromEntries(namedProviders(sources).map((id) => [id, true])),
    services: await describedServices(sources),
  };
}

/** Providers that are there without configuration; a test holds them against `providers list`. */
const BUILT_IN = ["anthropic", "google", "local", "mock", "openai"];

/** Ids of the providers of models that a flow may name; undefined where an extension may bring others. */
export function describedProviders(sources: ConfigSources): readonly string[] | undefined {
  const { user, project } = sources;
  const isOpen = [user, project].some(
    (file) => readExtensionList(file?.values["extensions"]).list.length > 0,
  );
  return isOpen ? undefined : [...new Set([...BUILT_IN, ...namedProviders(sources)])].sort();
}

/** Entries of the project's extensions, failed ones too. `watch`: changed folders count as they are. */
export async function describedExtensions(
  sources: ConfigSources,
  watch = false,
): Promise<readonly CatalogEntry[]> {
  return (await listedExtensions(sources, watch)).flatMap(({ entries }) => entries);
}

/**
 * The project's extensions as their catalogs say, which are data, so they need no trust: none of their code runs. Throws a usage
 * error for a lock that cannot be read.
 */
export async function listedExtensions(
  { project }: ConfigSources,
  watch = false,
): Promise<readonly ListedExtension[]> {
  const { list } = readExtensionList(project?.values["extensions"]);
  if (project === undefined || list.length === 0) return [];
  const folder = dirname(project.path);
  const [{ LOCK_FILE, readExtensions }, { coreEntries }] = await Promise.all([
    import("@millrace/extensions"),
    import("../run/core-catalog.ts"),
  ]);
  const types = coreEntries().map(({ type }) => type);
  try {
    return await readExtensions({ project: folder, list, watch, taken: { types } });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw unusable(join(folder, LOCK_FILE), error.message);
  }
}

function namedProviders({ user, project }: ConfigSources): string[] {
  return [user, project].flatMap((file) => Object.keys(Object(file?.values["providers"])));
}
