/**
 * What is known of the project around a flow: node types of core, of its services and extensions, and the flows that it may call.
 * `validate`, `run` and the language server read the same. Files are read, nothing in them is run.
 */

import { existsSync, readdirSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { CatalogEntry, ServiceDefinition } from "@millrace/contracts";
import { type CatalogFlow, type FlowCatalog, parseFlow } from "@millrace/dsl";
import type { Project } from "@millrace/dsl/editor";
import { strayServices } from "../config/services.ts";
import { type ConfigSources, describedProviders } from "../config/sources.ts";
import { readFound } from "../files.ts";
import type { Surroundings } from "../output/io.ts";
import { coreEntries } from "./core-catalog.ts";

/**
 * The catalog for a flow in the folder of these sources, with the services and entries of extensions that were read for it. Throws
 * a usage error for a configuration that cannot be used.
 */
export async function projectCatalog(
  sources: ConfigSources,
  services: readonly ServiceDefinition[],
  extensions: readonly CatalogEntry[],
  io: Surroundings,
): Promise<Project> {
  return {
    ...(await catalogOf(services, extensions, describedProviders(sources))),
    servicesHint: await servicesHint(sources, services, io),
    ...flowsIn([sources.options.folder, flowsFolder(sources)]),
  };
}

/** How the service that a connection names may get known. */
async function servicesHint(
  { options, project }: ConfigSources,
  services: readonly ServiceDefinition[],
  io: Surroundings,
): Promise<string | undefined> {
  const stray = project === undefined ? await strayServices(options, io) : undefined;
  return stray ?? (services.length > 0 ? undefined : "millrace services import describes one");
}

/** The folder of a project's flows. */
export function flowsFolder({ project, user }: ConfigSources): string | undefined {
  if (project === undefined) return undefined;
  const flows = project.values["flows"] ?? user?.values["flows"];
  return resolve(dirname(project.path), typeof flows === "string" ? flows : "flows");
}

/** Core's entries and those of extensions, the newest version of a type last, and the operations of services. */
async function catalogOf(
  services: readonly ServiceDefinition[],
  extensions: readonly CatalogEntry[],
  providers: readonly string[] | undefined,
): Promise<FlowCatalog> {
  const entries = [...coreEntries(), ...extensions].sort((a, b) => a.version - b.version);
  const ofServices = await entriesOf(services);
  const ofExtensions = extensions.filter((each) => each.serviceIntegration !== undefined);
  return {
    types: () => new Set(entries.map(({ type }) => type)),
    entry: (type, version) =>
      entries.findLast(
        (each) => each.type === type && (version === undefined || each.version === version),
      ) ?? ofServices.get(type),
    services: [
      ...services.map(({ slug }) => slug),
      ...ofExtensions.map(({ type }) => type.replace(/^service\./, "")),
    ],
    ...(providers !== undefined && { providers }),
  };
}

async function entriesOf(
  services: readonly ServiceDefinition[],
): Promise<ReadonlyMap<string, CatalogEntry>> {
  if (services.length === 0) return new Map();
  const { catalogEntryOf } = await import("@millrace/contracts");
  return new Map(services.map((service) => [`service.${service.slug}`, catalogEntryOf(service)]));
}

const ENDING = ".flow";

/** The flows in some folders, each looked at when it is asked for. */
function flowsIn(
  folders: readonly (string | undefined)[],
): Required<Pick<Project, "flow" | "flows" | "flowUri">> {
  const slugsIn = (folder: string): readonly string[] => {
    try {
      return readdirSync(folder)
        .filter((name) => name.endsWith(ENDING))
        .map((name) => name.slice(0, -ENDING.length));
    } catch {
      return []; // there is no such folder
    }
  };
  const known = folders.filter((folder) => folder !== undefined);
  const fileOf = (slug: string): string | undefined => {
    const folder = known.find((each) => slugsIn(each).includes(slug));
    return folder === undefined ? undefined : join(folder, slug + ENDING);
  };
  return {
    flows: () => [...new Set(known.flatMap(slugsIn))].sort(),
    flowUri(slug) {
      const file = fileOf(slug);
      return file === undefined ? undefined : pathToFileURL(file).href;
    },
    flow(slug) {
      const file = fileOf(slug);
      try {
        return file === undefined ? undefined : callable(readFound(file));
      } catch {
        return undefined; // a folder or a device of such a name, or a file that is gone or not ours to read
      }
    },
  };
}

/** A flow as others call it. Of a text with errors not all outputs are known, so none is. */
function callable(text: string | Uint8Array): CatalogFlow {
  const { graph, ok } = parseFlow(text);
  const called = graph.nodes.map(({ type, fields }) =>
    type === "subflow" ? fields["flow"] : undefined,
  );
  const flows = called.filter((name) => typeof name === "string");
  return { inputs: graph.inputs, outputs: ok ? graph.outputs : [], flows };
}

/**
 * The catalog with the flows that the data folder keeps, too. Where there is a store that cannot be read here, nothing is known of
 * flows.
 */
export async function withStoredFlows(catalog: Project, dir: string): Promise<Project> {
  const { flow, ...rest } = catalog;
  let stored: Stored;
  try {
    stored = await readStored(dir);
  } catch {
    return rest;
  }
  const { flows, vars } = stored;
  return {
    ...rest,
    vars: () => vars,
    flows: () => [...new Set([...(catalog.flows?.() ?? []), ...flows.keys()])].sort(),
    flow(slug) {
      const text = flows.get(slug);
      return flow?.(slug) ?? (text === undefined ? undefined : callable(text));
    },
  };
}

/** Texts of templates by slug, and the names of variables. */
interface Stored {
  readonly flows: ReadonlyMap<string, string>;
  readonly vars: ReadonlySet<string>;
}

const NOTHING: Stored = { flows: new Map(), vars: new Set() };

/** The content of a data folder; empty where nothing was ever stored. */
async function readStored(dir: string): Promise<Stored> {
  if (!existsSync(dir)) return NOTHING;
  const { openStore, StoreError } = await import("@millrace/store");
  try {
    const store = await openStore({ dir, readonly: true });
    try {
      const texts = new Map<string, string>();
      for (const { slug } of await store.templates.list()) {
        texts.set(slug, (await store.templates.get(slug))?.dsl ?? "");
      }
      return { flows: texts, vars: new Set((await store.vars.list()).map(({ name }) => name)) };
    } finally {
      await store.close();
    }
  } catch (error) {
    if (StoreError.isInstance(error) && error.code === "store_unavailable") return NOTHING;
    throw error;
  }
}
