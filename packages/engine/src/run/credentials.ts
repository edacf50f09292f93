/** Secrets and connections as one attempt may use them. A credential never leaves by a value that a flow can read. */
import { type Connection, NodeError, type Secret } from "@millrace/contracts";
import { send } from "../connections/exchange.ts";
import {
  connectionNamed,
  type ServiceLink,
  type ServiceOf,
  serviceNamed,
} from "../connections/link.ts";
import { notConnected, offOrigin } from "../connections/refusals.ts";
import type { NodeType } from "../node-type.ts";
import { guardedFetch } from "./capabilities.ts";
import type { Attempt } from "./state.ts";

/** A secret that the type declares. Throws `capability_denied`, `credentials_missing`. */
export async function secretOf(
  attempt: Attempt,
  name: string,
  type: NodeType = attempt.type,
): Promise<Secret> {
  const { run } = attempt;
  const { entry, grants } = type;
  const isGranted = grants === undefined || grants.secrets.includes(name);
  if (!entry.requires.secrets.includes(name) || !isGranted) {
    const why = isGranted ? "does not declare" : "was not granted";
    const text = `${entry.type} ${why} the secret ${name}`;
    throw new NodeError("capability_denied", text, { reason: "denied" });
  }
  const value = await run.engine.options.credentials?.secret(name);
  if (value === undefined) {
    const text = `the secret ${name} is not set`;
    throw new NodeError("credentials_missing", text, { reason: "auth" });
  }
  run.learn(value);
  const hidden = (): "[secret]" => "[secret]";
  return { reveal: () => value, toString: hidden, toJSON: hidden };
}

/** The services behind the connections of the flow that the attempt belongs to. */
export function serviceOf({ run, frame }: Attempt): ServiceOf {
  return (name) => serviceNamed(run.engine.options.services, frame.layout.connections, name);
}

/** A connection by the name that the flow gives it, or by its slug. Throws `operation_unknown` for an unknown service. */
export function linkOf(attempt: Attempt, name: string): ServiceLink {
  const { run, frame } = attempt;
  const { engine } = run;
  const { slug, service, scopes } = connectionNamed(frame.layout.connections, name);
  const integration = engine.options.services?.get(service)?.serviceIntegration;
  if (integration === undefined) {
    const text = `the service "${service.slice(0, 64)}" is not known to this engine`;
    throw new NodeError("operation_unknown", text, { reason: "input", sent: false });
  }
  return {
    slug,
    integration,
    scopes,
    send: (request, options) =>
      send(
        {
          slug,
          service,
          auth: integration.auth,
          port: engine.options.credentials,
          renewals: engine.renewals,
          fetch: guardedFetch(attempt, options.signal),
          signal: options.signal,
          learn: (secret) => run.learn(secret),
        },
        request,
        options.scopes,
      ),
  };
}

/** The same for bodies of extensions and for `http.request`: requests on the origin of the service. */
export async function connectionOf(
  attempt: Attempt,
  name: string,
  signal: AbortSignal,
): Promise<Connection> {
  if (serviceOf(attempt)(name) === undefined) {
    const { slug } = connectionNamed(attempt.frame.layout.connections, name);
    throw notConnected(`the connection ${slug} is not set up`, slug);
  }
  const { slug, integration, scopes, send } = linkOf(attempt, name);
  const { baseUrl } = integration;
  return {
    slug,
    baseUrl,
    fetch: async (path, init = {}) => {
      const { headers = {}, ...rest } = init;
      const url = sameOrigin(baseUrl, path);
      return send({ url: url.href, headers, init: rest }, { scopes, signal });
    },
  };
}

/** The URL of a path below a base; `egress_denied` for any other origin. */
function sameOrigin(baseUrl: string, path: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:/i.test(path) ? path : baseUrl.replace(/\/$/, "") + path;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.origin === new URL(baseUrl).origin) return url as URL;
  throw offOrigin("a connection stays on its own origin");
}
