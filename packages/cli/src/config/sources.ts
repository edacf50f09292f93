/**
 * What lies on the disk for a folder: the user's configuration file, the nearest project file, and the descriptors of services
 * beside each. Read once for a command; what counts of it is decided by `loadConfig`, what is only described needs no trust.
 */
import { dirname } from "node:path";
import type { CatalogEntry, ServiceDefinition } from "@millrace/contracts";
import type { Surroundings } from "../output/io.ts";
import { type ConfigFile, type ConfigOptions, projectFile, readConfig, userFile } from "./files.ts";
import { readExtensionList } from "./sections.ts";
import { type DescriptorFile, readDescriptors, toServices } from "./services.ts";

/** Files as they were read. */
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

/** Entries of the project's extensions, from their catalogs: none of their code runs. `watch`: changed folders count as they are. */
export async function describedExtensions(
  { project }: ConfigSources,
  watch = false,
): Promise<readonly CatalogEntry[]> {
  const { list } = readExtensionList(project?.values["extensions"]);
  if (project === undefined || list.length === 0) return [];
  const { extensionEntries } = await import("./extension-entries.ts");
  return extensionEntries(dirname(project.path), list, watch);
}

function namedProviders({ user, project }: ConfigSources): string[] {
  return [user, project].flatMap((file) => Object.keys(Object(file?.values["providers"])));
}
