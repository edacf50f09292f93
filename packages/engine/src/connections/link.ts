/** A connection as the body of a node uses it. */
import type {
  FetchInit,
  FlowConnection,
  ResponseLike,
  ServiceDefinition,
  ServiceIntegration,
} from "@millrace/contracts";
import type { Authorizable } from "./authorize.ts";

/** The service behind a connection as the flow names it. */
export type ServiceOf = (connection: string) => ServiceDefinition | undefined;

/** Operations of a core body on a connection; the credential is not among them. */
export interface ServiceLink {
  readonly slug: string;
  readonly integration: ServiceIntegration;
  /** Scopes that the flow asks for. */
  readonly scopes: readonly string[];
  /** Sends with the credential; see `send` of `exchange.ts` for what it throws. */
  send(
    request: Authorizable & { readonly init: FetchInit },
    options: { readonly scopes: readonly string[]; readonly signal: AbortSignal },
  ): Promise<ResponseLike>;
}

/** A connection that a node names. */
export interface NamedConnection {
  /** Of the stored credential. */
  readonly slug: string;
  /** Of the service's definition. */
  readonly service: string;
  readonly scopes: readonly string[];
}

/** The connection that a flow calls `name`; a name that the flow does not declare is a slug. */
export function connectionNamed(
  connections: readonly FlowConnection[],
  name: string,
): NamedConnection {
  const declared = connections.find((connection) => connection.name === name);
  const slug = declared?.slug ?? name;
  return { slug, service: declared?.service ?? slug, scopes: declared?.scopes ?? [] };
}

/** The service behind `name`, where the engine knows it. */
export function serviceNamed(
  services: { get(slug: string): ServiceDefinition | undefined } | undefined,
  connections: readonly FlowConnection[],
  name: string,
): ServiceDefinition | undefined {
  return services?.get(connectionNamed(connections, name).service);
}
