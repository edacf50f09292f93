/** The services and the extensions that a flow is checked against. */

import { dirname } from "node:path";
import type { CatalogEntry, ServiceDefinition } from "@millrace/contracts";
import type { CliIo } from "../output/io.ts";
import {
  type ConfigFile,
  type ConfigOptions,
  projectFile,
  projectFolder,
  readConfig,
  userFile,
} from "./files.ts";
import { readExtensionList } from "./sections.ts";
import { readDescriptors, toServices } from "./services.ts";

/** Those of the user and of the project. They are data that nothing acts on here, so they need no trust. */
export async function describedServices(
  options: ConfigOptions,
  io: CliIo,
): Promise<readonly ServiceDefinition[]> {
  const project = await projectFolder(options, io);
  return toServices(
    await readDescriptors(dirname(userFile(options.home, io))),
    project === undefined ? [] : await readDescriptors(project),
  );
}

/** What the configuration of user and project names, which no extension can have, too; as data, without trust. */
export async function describedIds(
  options: ConfigOptions,
  io: CliIo,
): Promise<{ readonly providers: object; readonly services: readonly ServiceDefinition[] }> {
  const providers = providersOf(await configFiles(options, io));
  return {
    providers: Object.fromEntries(providers.map((id) => [id, true])),
    services: await describedServices(options, io),
  };
}

/** Providers that are there without configuration; a test holds them against `providers list`. */
const BUILT_IN = ["anthropic", "google", "local", "mock", "openai"];

/** Ids of the providers of models that a flow may name; undefined where an extension may bring others. */
export async function describedProviders(
  options: ConfigOptions,
  io: CliIo,
): Promise<readonly string[] | undefined> {
  const files = await configFiles(options, io);
  if (files.some((file) => readExtensionList(file?.values["extensions"]).list.length > 0)) {
    return undefined;
  }
  return [...new Set([...BUILT_IN, ...providersOf(files)])].sort();
}

function providersOf(files: readonly (ConfigFile | undefined)[]): string[] {
  return files.flatMap((file) => Object.keys(Object(file?.values["providers"])));
}

async function configFiles(
  options: ConfigOptions,
  io: CliIo,
): Promise<readonly (ConfigFile | undefined)[]> {
  return [await readConfig(userFile(options.home, io)), await projectFile(options, io)];
}

/** Entries of the project's extensions, from their catalogs: none of their code runs, so they need no trust either. */
export async function describedExtensions(
  options: ConfigOptions,
  io: CliIo,
  watch = false,
): Promise<readonly CatalogEntry[]> {
  const project = await projectFile(options, io);
  const { list } = readExtensionList(project?.values["extensions"]);
  if (project === undefined || list.length === 0) return [];
  const { extensionEntries } = await import("../ext/described.ts");
  return extensionEntries(dirname(project.path), list, watch);
}
