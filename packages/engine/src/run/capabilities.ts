/** Network, files, programs, secrets and connections as one attempt may use them: bound to the policies of the engine and the life of the attempt. */
import {
  type Connection,
  type FetchInit,
  type FetchLike,
  type FilePort,
  NodeError,
  type Secret,
  type SpawnPort,
} from "@millrace/contracts";
import { send } from "../connections/exchange.ts";
import {
  connectionNamed,
  type ServiceLink,
  type ServiceOf,
  serviceNamed,
} from "../connections/link.ts";
import { notConnected, offOrigin } from "../connections/refusals.ts";
import type { FilePolicy, Host } from "../host.ts";
import type { Grants, NodeType } from "../node-type.ts";
import type { TracePort } from "../options.ts";
import type { Attempt, RunCore } from "./state.ts";

/** The egress client as a type may use it. Throws `capability_denied` for an extension that was granted no host. */
export function typeFetch(attempt: Attempt, signal: AbortSignal, type: NodeType): FetchLike {
  if (type.grants?.net.length === 0) throw notGranted(type, "no host of the network");
  return guardedFetch(attempt, signal, attempt.run.engine.fetchOf(type));
}

/** The egress client; every request ends with the attempt. */
export function guardedFetch(
  attempt: Attempt,
  signal: AbortSignal,
  fetch: FetchLike | null = attempt.run.engine.fetch,
): FetchLike {
  if (fetch === null) throw unsupported("the network");
  const { trace } = attempt.run.engine.options;
  const guarded = endingFetch(attempt, signal, fetch);
  return trace === undefined ? guarded : tracedFetch(attempt, guarded, trace);
}

/** The same client; `trace` is called for its requests. */
function tracedFetch({ run, frame, node }: Attempt, fetch: FetchLike, trace: TracePort): FetchLike {
  const at = { runId: run.id, node: frame.path(node), attempt: frame.attempt(node) };
  return async (url, init = {}) => {
    const { headers, ended } = trace.request(at, { method: "GET", headers: {}, ...init, url });
    try {
      const answer = await fetch(url, { ...init, headers });
      ended({ status: answer.status });
      return answer;
    } catch (error) {
      ended({ code: NodeError.isInstance(error) ? error.code : "internal" });
      throw error;
    }
  };
}

function endingFetch(attempt: Attempt, signal: AbortSignal, fetch: FetchLike): FetchLike {
  return async (url, given = {}) => {
    refuseOver(attempt);
    const init = boundSecrets(attempt.run, given);
    const own = init.signal;
    if (own === undefined || own === signal) return fetch(url, { ...init, signal });
    const both = new AbortController();
    const abort = () => both.abort(signal.aborted ? signal.reason : own.reason);
    if (signal.aborted || own.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
    own.addEventListener("abort", abort, { once: true });
    // Both stay bound: the body is still to be read when the head has come.
    return fetch(url, { ...init, signal: both.signal });
  };
}

/** Headers with a secret of the flow in them go to the origin that the flow names, and to no other that it redirects to. */
function boundSecrets({ secretValues }: RunCore, init: FetchInit): FetchInit {
  if (secretValues.size === 0) return init;
  const secrets = [...secretValues.values()].filter((value) => typeof value === "string");
  const bound = Object.entries(init.headers ?? {}).flatMap(([name, value]) =>
    secrets.some((secret) => value.includes(secret)) ? [name] : [],
  );
  return { ...init, originHeaders: [...(init.originHeaders ?? []), ...bound] };
}

/** Files below the root that the operator allows, and for an extension the folders of it that were granted. */
export function guardedFiles(attempt: Attempt, signal: AbortSignal, type: NodeType): FilePort {
  const { engine } = attempt.run;
  const { grants } = type;
  const { files: policy } = engine.options;
  if (grants !== undefined && grants.files.read.length + grants.files.write.length === 0) {
    throw notGranted(type, "no folder");
  }
  if (policy === undefined) throw off("files are off; the operator must allow a folder");
  if (engine.files === null) throw unsupported("files");
  const files = grants === undefined ? engine.files : grantedFiles(engine.host, policy, grants);
  return {
    read: (path, more) => use(attempt, () => files.read(path, { signal, ...more })),
    write: (path, data, more) => use(attempt, () => files.write(path, data, { signal, ...more })),
    list: (path, more) => use(attempt, () => files.list(path, { signal, ...more })),
  };
}

/** Programs that the operator allows; each ends with the attempt. */
export function guardedShell(attempt: Attempt, signal: AbortSignal, type: NodeType): SpawnPort {
  const { shell, options } = attempt.run.engine;
  const granted = type.grants?.spawn;
  if (options.shell === undefined) throw off("programs are off; the operator must allow them");
  if (shell === null) throw unsupported("programs");
  return {
    async run(program, more) {
      if (granted?.includes(program) === false) {
        throw notGranted(type, `the program ${program.slice(0, 64)} not`);
      }
      return use(attempt, () => shell.run(program, { ...more, signal }));
    },
  };
}

function use<T>(attempt: Attempt, act: () => Promise<T>): Promise<T> {
  refuseOver(attempt);
  return act();
}

function refuseOver(attempt: Attempt): void {
  if (!attempt.over) return;
  throw new NodeError("attempt_over", "the attempt of this node has ended", { reason: "internal" });
}

function notGranted({ entry }: NodeType, what: string): NodeError {
  return off(`${entry.type} was granted ${what}; see millrace ext list`);
}

function off(message: string): NodeError {
  return new NodeError("capability_denied", message, { reason: "denied", sent: false });
}

function unsupported(what: string): NodeError {
  return new NodeError("host_unsupported", `this platform does not offer ${what}`, {
    reason: "denied",
    sent: false,
  });
}

/** A granted folder: its place below the operator's root ("" is the root itself), and its files. */
interface Room {
  readonly prefix: string;
  readonly files: FilePort;
}

/** The files of `policy` as far as `grants` go. Throws what `openFiles` throws. */
function grantedFiles(host: Host, policy: FilePolicy, { files }: Grants): FilePort {
  const rooms = (folders: readonly string[]): readonly Room[] =>
    folders.flatMap((folder) => {
      const prefix = below(slashes(policy.root), slashes(folder));
      if (prefix === undefined) return [];
      const root = prefix === "" ? policy.root : folder;
      const opened = host.openFiles?.({ ...policy, root });
      return opened === undefined ? [] : [{ prefix, files: opened }];
    });
  const readable = rooms(files.read);
  const writable = rooms(files.write);
  return {
    async read(path, options) {
      const { room, rest } = roomOf(readable, path, "read");
      return named(room, await room.files.read(rest, options));
    },
    async write(path, data, options) {
      const { room, rest } = roomOf(writable, path, "written");
      return named(room, await room.files.write(rest, data, options));
    },
    async list(path, options) {
      const { room, rest } = roomOf(readable, path, "listed");
      const { files: found, truncated } = await room.files.list(rest === "" ? "." : rest, options);
      return { files: found.map((file) => named(room, file)), truncated };
    },
  };
}

/** The innermost granted folder that holds a path, and the path in it. */
function roomOf(rooms: readonly Room[], path: string, how: string): { room: Room; rest: string } {
  const clean = path === "." ? "" : path.replace(/^(?:\.\/)+/, "").replace(/\/$/, "");
  let best: { room: Room; rest: string } | undefined;
  for (const room of rooms) {
    const rest = below(room.prefix, clean);
    if (rest === undefined || (best !== undefined && best.room.prefix.length > room.prefix.length))
      continue;
    best = { room, rest };
  }
  if (best !== undefined) return best;
  const text = `"${path.slice(0, 128)}" cannot be ${how}: no folder that was granted holds it`;
  throw new NodeError("file_denied", text, { reason: "denied", sent: false });
}

function named<T extends { readonly path: string }>({ prefix }: Room, file: T): T {
  return prefix === "" ? file : { ...file, path: `${prefix}/${file.path}` };
}

/** The part of `path` below `folder`; undefined when it is outside of it. */
function below(folder: string, path: string): string | undefined {
  if (folder === "" || folder === path) return folder === path ? "" : path;
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : undefined;
}

function slashes(path: string): string {
  return path.replaceAll("\\", "/").replace(/\/$/, "");
}

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

/** Reads the secrets that the flow reads, before its first node, and keeps them out of its log. Never rejects. */
export async function readSecrets(run: RunCore): Promise<void> {
  const { environment } = run.options;
  const before = environment === undefined ? "" : `${environment}/`;
  const values = new Map<string, string | NodeError>();
  run.secretValues = values;
  for (const name of run.parts.secrets) {
    try {
      const value = await run.engine.options.credentials?.secret(`secret:${before}${name}`);
      if (value !== undefined) run.learn(value);
      const missing = `the secret ${name} is not set; millrace secrets set ${name} sets it`;
      values.set(
        name,
        value ?? new NodeError("credentials_missing", missing, { reason: "auth", sent: false }),
      );
    } catch (error) {
      values.set(name, NodeError.isInstance(error) ? error : unread(name));
    }
  }
}

/** The error for a secret that could not be read; the store's own message may quote the secret, so it is dropped. */
function unread(name: string): NodeError {
  const text = `the secret ${name} could not be read`;
  return new NodeError("unavailable", text, {
    reason: "unavailable",
    retryable: true,
    sent: false,
  });
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
    const named = connectionNamed(attempt.frame.layout.connections, name);
    throw notConnected(`the connection ${named.slug} is not set up`, named);
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
