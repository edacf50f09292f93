/** Secrets and connections as one attempt may use them. A credential never leaves by a value that a flow can read. */
import {
  type Connection,
  type FetchInit,
  NodeError,
  type ResponseLike,
  type Secret,
  type ServiceAuth,
  type ServiceCredential,
} from "@millrace/contracts";
import type { Attempt } from "./attempt.ts";
import { guardedFetch } from "./capabilities.ts";
import { Redactor } from "./redact.ts";
import type { RunCore } from "./run-core.ts";

/** A secret that the type declares. Throws `capability_denied`, `credentials_missing`. */
export async function secretOf(attempt: Attempt, name: string): Promise<Secret> {
  const { run, type } = attempt;
  if (!type.entry.requires.secrets.includes(name)) {
    const text = `${type.entry.type} does not declare the secret ${name}`;
    throw new NodeError("capability_denied", text, { reason: "denied" });
  }
  const value = await run.engine.options.credentials?.secret(name);
  if (value === undefined) throw missing(`the secret ${name} is not set`);
  learn(run, value);
  const hidden = (): "[secret]" => "[secret]";
  return { reveal: () => value, toString: hidden, toJSON: hidden };
}

/** A connection by the name that the flow gives it, or by its slug. */
export async function connectionOf(
  attempt: Attempt,
  name: string,
  signal: AbortSignal,
): Promise<Connection> {
  const { run } = attempt;
  const declared = run.parts.graph.connections.find((connection) => connection.name === name);
  const slug = declared?.slug ?? name;
  const service = run.engine.options.services?.get(declared?.service ?? slug);
  const { credentials } = run.engine.options;
  if (service === undefined || credentials === undefined) {
    throw missing(`the connection ${slug} is not set up`);
  }
  const { baseUrl, auth } = service.serviceIntegration;
  let credential = await credentials.resolve(slug, { signal });
  const send = (url: URL, init: FetchInit): Promise<ResponseLike> => {
    const authorized = authorize(run, { url, auth, credential, init });
    return guardedFetch(attempt, signal)(authorized.url, authorized.init);
  };
  return {
    slug,
    baseUrl,
    async fetch(path, init = {}) {
      const url = sameOrigin(baseUrl, path);
      const first = await send(url, init);
      if (first.status !== 401 || auth.scheme === "none") return first;
      await first.body?.[Symbol.asyncIterator]().return?.(); // nobody will read it
      credential = await credentials.renew(slug, credential, { signal });
      return send(url, init);
    },
  };
}

/** The URL of a path below a base; `egress_denied` for any other origin. */
function sameOrigin(baseUrl: string, path: string): URL {
  const base = new URL(baseUrl);
  const url = new URL(/^[a-z][a-z0-9+.-]*:/i.test(path) ? path : baseUrl.replace(/\/$/, "") + path);
  if (url.origin === base.origin) return url;
  throw new NodeError("egress_denied", "connection-origin: a connection stays on its own origin", {
    reason: "denied",
  });
}

/** Adds the credential the way the service wants it. */
function authorize(
  run: RunCore,
  call: { url: URL; auth: ServiceAuth; credential: ServiceCredential; init: FetchInit },
): { url: string; init: FetchInit } {
  const { auth, init } = call;
  const url = new URL(call.url);
  if (auth.scheme === "none") return { url: url.href, init };
  const value = call.credential.reveal();
  learn(run, value);
  if (auth.scheme === "apiKey" && auth.in === "query") {
    url.searchParams.set(auth.name, value);
    return { url: url.href, init };
  }
  const [name, text] =
    auth.scheme === "apiKey"
      ? [auth.name, `${auth.prefix ?? ""}${value}`]
      : ["authorization", auth.scheme === "basic" ? `Basic ${base64(value)}` : `Bearer ${value}`];
  if (!/^[\t\x20-\x7e]+$/.test(text)) {
    throw new NodeError("credentials_expired", "the stored credential is not a header value", {
      reason: "auth",
    });
  }
  const headers = { ...init.headers, [name]: text };
  const originHeaders = [...(init.originHeaders ?? []), name];
  return { url: url.href, init: { ...init, headers, originHeaders } };
}

function base64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

function learn(run: RunCore, secret: string): void {
  run.redactor ??= new Redactor();
  run.redactor.add(secret);
}

function missing(text: string): NodeError {
  return new NodeError("credentials_missing", text, { reason: "auth" });
}
