/** Data of the server about other flows, types and services: read when a flow is opened, and sent to the worker. */
import type {
  CatalogEntry,
  ConnectionStatus,
  ProviderInfo,
  ServiceInfo,
} from "@millrace/contracts";
import { backend } from "../backend.ts";
import { everyItem } from "../state/every-item.ts";
import { isWired } from "../state/meta.ts";
import { tellProject } from "./worker.ts";

/** The server as a flow sees it. */
export interface FlowProject {
  /** Node types by their names, the newest version of each. */
  readonly types: ReadonlyMap<string, CatalogEntry>;
  readonly services: readonly ServiceInfo[];
  readonly connections: readonly ConnectionStatus[];
  /** Absent: the server does not say. */
  readonly providers: readonly ProviderInfo[] | undefined;
  /** Slugs of stored flows. */
  readonly flows: readonly string[];
}

/** Reads the project and tells the worker; what is asked about texts waits for the first time. */
export async function loadProject(): Promise<FlowProject> {
  const [entries, services, templates, providers, vars] = await Promise.all([
    everyItem((page) => backend.invoke("list_nodes", page)),
    everyItem((page) => backend.invoke("list_services", page)),
    everyItem((page) => backend.invoke("list_templates", page)),
    isWired("list_providers") ? backend.invoke("list_providers", {}) : undefined,
    // Names alone are wanted, and only for completion: who may not read them writes without.
    isWired("list_vars") ? backend.invoke("list_vars", {}).catch(() => undefined) : undefined,
  ]);
  const connections = services.flatMap((service) => service.connections);
  const flows = templates.map(({ slug }) => slug);
  tellProject({
    entries,
    flows,
    connections: connections.map(({ slug, service }) => ({ name: slug, service })),
    services: services.map(({ slug }) => slug),
    ...(vars !== undefined && { vars: [...new Set(vars.items.map(({ name }) => name))] }),
    ...(providers !== undefined && { providers: ["local", ...providers.map(({ name }) => name)] }),
  });
  const types = new Map(entries.map((entry) => [entry.type, entry]));
  return { types, services, connections, providers, flows };
}
