/** `millrace connections`: what is connected, and forgetting it. No token, or part of one, is ever shown. */

import { ClientError } from "@millrace/client";
import type { ConnectionStatus, ServiceInfo } from "@millrace/contracts";
import { type Api, itemsOf } from "../api/api.ts";
import { withApi } from "../api/command.ts";
import { toCliError } from "../api/errors.ts";
import { arg, serverCommand } from "../argv/flags.ts";
import type { ArgSpec, CliCommand, CommandIo, Input } from "../argv/spec.ts";
import { describedServices } from "../config/sources.ts";
import { CliError, usage } from "../errors.ts";
import { clean } from "../output/text.ts";

const CONNECTION: ArgSpec = arg("slug", "name of the connection", "connection");

const list = serverCommand("connections list", "list connections and how they stand", {
  examples: [["connections list --json", "never a token"]],
  run: (input, io) =>
    withConnections(input, io, undefined, async (api) => {
      const { services, undescribed } = await readConnections(api);
      const items = connectionsOf(services);
      const data = [...items.map(statusLine), ...undescribed.map(undescribedLine)];
      return {
        value: { items, ...(undescribed.length > 0 && { undescribed }) },
        data,
        said:
          data.length > 0 ? [] : ["nothing is connected; millrace connect SLUG connects a service"],
        mayBeQuiet: false,
      };
    }),
});

/** One connection. Ends with 6 where there is none. */
const show = serverCommand("connections show", "show one connection", {
  args: [CONNECTION],
  examples: [["connections show tracker", "scopes, expiry, store"]],
  async run(input, io) {
    const slug = readSlug(input.args[0]);
    return withConnections(input, io, undefined, async (api) => {
      const { services } = await readConnections(api);
      const value = connectionsOf(services).find((each) => each.slug === slug);
      if (value === undefined) throw nothing(slug);
      return { value, data: [statusLine(value)] };
    });
  },
});

/** Revokes a connection where the service can be told, and deletes it. Ends with 6 where there is none. */
const remove = serverCommand("connections remove", "revoke and delete a connection", {
  args: [CONNECTION],
  examples: [["connections remove tracker", "the grant ends"]],
  async run(input, io) {
    const slug = readSlug(input.args[0]);
    return withConnections(input, io, true, async (api) => {
      await api.invoke("disconnect_service", { slug }).catch((error: unknown) => {
        throw isNotFound(error) ? nothing(slug) : error;
      });
      return { value: null, said: [`${slug} is forgotten`], mayBeQuiet: false };
    });
  },
});

export const commands: readonly CliCommand[] = [list, show, remove];

/** Opens the API while `work` runs. Errors are not translated into words of the command line. */
export function withConnections<T>(
  input: Input,
  io: CommandIo,
  write: true | undefined,
  work: (api: Api) => Promise<T>,
): Promise<T> {
  return withApi(input, io, write, async (api) => {
    if (api.where === "embedded" && api.config.credentials.store === "memory") {
      await io.err.write(
        "warning: credentials.store is memory: what is stored ends with this command\n",
      );
    }
    return work(api).catch((error: unknown) => {
      throw toCliError(error);
    });
  });
}

/** Every service, sorted by slug, with its connections. */
export async function servicesOf(api: Api): Promise<readonly ServiceInfo[]> {
  const all: ServiceInfo[] = [];
  for await (const each of itemsOf((page) => api.invoke("list_services", page))) all.push(each);
  return all;
}

/** The connections of all services, in the order of the services. */
export function connectionsOf(services: readonly ServiceInfo[]): readonly ConnectionStatus[] {
  return services.flatMap(({ connections }) => connections);
}

/** A connection as far as it is known without the descriptor of its service. */
interface Undescribed {
  readonly slug: string;
  readonly service: string;
}

/** All services, and the connections of this installation whose service is not described here; a server shows those of its services alone. */
interface Connections {
  readonly services: readonly ServiceInfo[];
  readonly undescribed: readonly Undescribed[];
}

/** Reads them. Where nothing describes a service the records of the store are all there is, and no host is built. */
async function readConnections(api: Api): Promise<Connections> {
  if (api.where !== "embedded") return { services: await servicesOf(api), undescribed: [] };
  const { credentials, sources, extensions } = api.config;
  const { readStoredConnections } = await import("@millrace/server/stored");
  const records = await readStoredConnections(credentials.dir);
  const described = await describedServices(sources);
  const isBare = described.length === 0 && extensions.list.length === 0;
  const services = records !== undefined && isBare ? [] : await servicesOf(api);
  const known = new Set(services.map(({ slug }) => slug));
  const undescribed = (records ?? []).filter(({ service }) => !known.has(service));
  return { services, undescribed: undescribed.map(({ slug, service }) => ({ slug, service })) };
}

/** Whether a server or the embedded commands answered that there is no such thing. */
export function isNotFound(error: unknown): boolean {
  return ClientError.isInstance(error) && error.code === "not_found";
}

function nothing(slug: string): CliError {
  return new CliError("unavailable", `there is no connection "${slug}"`, {
    hint: `millrace connect ${slug} makes one`,
    problem: "not_found",
  });
}

const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export function readSlug(text = ""): string {
  if (SLUG.test(text)) return text;
  throw usage(
    `"${clean(text)}" is no name of a connection`,
    "it has up to 64 small letters, digits and dashes, such as payments-eu",
  );
}

/** `payments-eu  connected  service payments, scopes refunds:write, until 2026-01-01T00:00:00.000Z, in file`. */
export function statusLine(status: ConnectionStatus): string {
  const { slug, service, scopes, expires_at, refreshable, store, lastError } = status;
  const about = [
    `service ${service}`,
    scopes.length > 0 && `scopes ${scopes.join(" ")}`,
    expires_at !== undefined && `until ${expires_at}${refreshable ? ", renewed by itself" : ""}`,
    store !== undefined && `in ${store}`,
    lastError !== undefined && `last error ${lastError.code} at ${lastError.at}`,
  ];
  return clean(`${slug}  ${status.status}  ${about.filter(Boolean).join(", ")}`);
}

/** A connection whose service is described elsewhere, or no more. */
function undescribedLine({ slug, service }: Undescribed): string {
  return clean(
    `${slug}  not described here  service ${service}: no services/${service}.json counts in this folder`,
  );
}
