/**
 * What a run of a flow would be refused for beyond its language: flows that it calls and that are not there, limits, the
 * checks of core's types. No code of extensions runs, so nothing here needs trust.
 */
import { dirname, resolve } from "node:path";
import type { CatalogEntry, Diagnostic } from "@millrace/contracts";
import { mergeDiagnostics } from "@millrace/dsl";
import { compileFlow, EngineError, type Registry, type TypeSource } from "@millrace/engine";
import { createStandardRegistry } from "@millrace/server/registry";
import { describedExtensions, describedServices } from "./config/described.ts";
import { type ConfigOptions, projectFile, readConfig } from "./config/files.ts";
import { dataFolder, userFile } from "./config/folders.ts";
import { usage } from "./errors.ts";
import type { FlowSource } from "./flow-source.ts";
import type { CliIo } from "./io.ts";
import { clean } from "./render/text.ts";
import { subflowsOf } from "./subflows.ts";

/** The findings of a flow that has no error so far, with those of compiling it. */
export async function withCompileProblems(
  source: FlowSource,
  options: Omit<ConfigOptions, "folder">,
  io: CliIo,
): Promise<readonly Diagnostic[]> {
  const { folder, graph, document } = source;
  const where = { folder, ...options };
  const services = await describedServices(where, io);
  const extensions = await describedExtensions(where, io);
  const { diagnostics } = await compileFlow(graph, {
    registry: registryOf([...services, ...extensions.map(toType)]),
    subflows: subflowsOf([folder, await flowsFolder(where, io)], dataFolder(options.home, io)),
    withoutCode: true,
    ...(document && { document }),
  });
  return mergeDiagnostics(source.diagnostics, diagnostics);
}

/** Core and what is added. A descriptor may have a schema that cannot be checked: a usage error says so. */
export function registryOf(types: readonly TypeSource[]): Registry {
  try {
    return createStandardRegistry(types);
  } catch (error) {
    if (EngineError.isInstance(error)) throw usage(clean(error.message));
    throw error;
  }
}

/** An entry of an extension as a type that is never run. */
function toType(entry: CatalogEntry): TypeSource {
  const { serviceIntegration } = entry;
  if (serviceIntegration !== undefined) return { ...entry, serviceIntegration };
  return { entry, foreign: true, run: () => ({}) };
}

/** The folder of a project's flows, as a run finds it. */
async function flowsFolder(options: ConfigOptions, io: CliIo): Promise<string | undefined> {
  const project = await projectFile(options, io);
  if (project === undefined) return undefined;
  const user = await readConfig(userFile(options.home, io));
  const flows = project.values["flows"] ?? user?.values["flows"];
  return resolve(dirname(project.path), typeof flows === "string" ? flows : "flows");
}
