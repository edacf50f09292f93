/**
 * `millrace connect`: a person lets this installation, or a server, act for them at a service.
 *   C1  The port is bound before the URL is shown, and free when the command ends, however it ends.
 *   C2  The URL is on stderr before a browser opens. No secret comes in by a word or goes out by a stream.
 */

import { spawn } from "node:child_process";
import type {
  ConnectionStatus,
  OAuthClientArgs,
  ServiceAuth,
  ServiceInfo,
} from "@millrace/contracts";
import { OAuthError } from "@millrace/oauth";
import { acceptOAuthCode, bindLoopback, type LoopbackListener } from "@millrace/oauth/loopback";
import { arg, option, serverCommand } from "../argv/flags.ts";
import {
  type CliCommand,
  type CommandIo,
  flagList,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { parseDuration } from "../argv/values.ts";
import { askSecret, readSecret, secretFromStdin } from "../ask.ts";
import { configOptions } from "../config/files.ts";
import { strayServices } from "../config/services.ts";
import { type ConnectionsApi, openConnectionsApi } from "../connections/api.ts";
import { readSlug, statusLine } from "../connections/show.ts";
import { CliError, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";

export const commands: readonly CliCommand[] = [
  serverCommand("connect", "connect a service: ask a person for consent, keep the credential", {
    args: [arg("slug", "name of the connection", "connection")],
    flags: [
      option(
        "service",
        "<slug>",
        "what it connects to (default: what it is of, else its own name)",
      ),
      option("client-id", "<id>", "store this OAuth client of the service"),
      { long: "secret-stdin", summary: "read the secret from stdin instead of a hidden prompt" },
      option("scope", "<scope>", "ask for this scope", { multiple: true }),
      option("port", "<port>", "port that receives the redirect"),
      { long: "no-browser", summary: "only print the address to open" },
      option("timeout", "<duration>", "how long to wait (default and most 5m)"),
    ],
    examples: [
      [
        "connect tracker --client-id my-app",
        "asks for the client's secret, then for consent in a browser",
      ],
      ["connect tracker --no-browser", "on a machine without a screen"],
    ],
    run,
  }),
];

/** How long a consent may take; whoever keeps it gives up then, too. */
const MAX_WAIT = "5m";

type OAuth2 = Extract<ServiceAuth, { scheme: "oauth2" }>;

/** A connection to be made. */
interface ConnectRequest {
  readonly slug: string;
  readonly service: string;
  /** How long a consent may take. */
  readonly timeoutMs: number;
  /** Where the redirect comes; absent: where the service says. */
  readonly port: number | undefined;
  readonly connectionsApi: ConnectionsApi;
  readonly input: Input;
  readonly io: CommandIo;
}

/** Connects, and prints how the connection stands. */
async function run(input: Input, io: CommandIo): Promise<number> {
  const slug = readSlug(input.args[0]);
  const timeoutMs = readWait(flagText(input, "timeout") ?? MAX_WAIT);
  const port = readPort(flagText(input, "port"));
  const connectionsApi = await openConnectionsApi(input, io, { write: true });
  try {
    const service =
      flagText(input, "service") ?? (await recordedService(connectionsApi, slug)) ?? slug;
    const auth = await connectionsApi.auth(service);
    if (auth === undefined) {
      throw await unknownService(
        service,
        connectionsApi,
        await strayServices(configOptions(input, io), io),
      );
    }
    const request: ConnectRequest = { slug, service, timeoutMs, port, connectionsApi, input, io };
    const status =
      auth.scheme === "oauth2" ? await consent(request, auth) : await enter(request, auth);
    if (auth.scheme === "oauth2" && !status.refreshable) {
      await io.err.write(
        `warning: the service gave no refresh token: connect again ${status.expires_at === undefined ? "when it refuses the credential" : `after ${status.expires_at}`}\n`,
      );
    }
    if (io.json === undefined) await io.out.write(`${statusLine(status)}\n`);
    else await io.json.result(status);
    return 0;
  } finally {
    await connectionsApi.close();
  }
}

/** Schemes without a consent: the person has the secret. */
async function enter(
  { slug, service, connectionsApi, input, io }: ConnectRequest,
  { scheme }: ServiceAuth,
) {
  if (scheme === "none") throw usage(`service "${service}" takes no credential: call it as it is`);
  const what = scheme === "basic" ? `user:password of ${slug}` : `secret of ${slug}`;
  const value = isOn(input, "secret-stdin")
    ? await secretFromStdin(io, what)
    : await readSecret(io, what);
  return connectionsApi.setSecret({ slug, service, value });
}

async function consent(request: ConnectRequest, auth: OAuth2): Promise<ConnectionStatus> {
  const client = await readClient(request, auth);
  const listener = await ended(bindLoopback(request.port ?? auth.redirect?.port ?? 0));
  try {
    return await receive(request, auth, client, listener);
  } finally {
    await listener.close();
  }
}

async function receive(
  request: ConnectRequest,
  auth: OAuth2,
  client: OAuthClientArgs | undefined,
  listener: LoopbackListener,
): Promise<ConnectionStatus> {
  const { slug, service, timeoutMs, connectionsApi, input, io } = request;
  const scopes = flagList(input, "scope");
  const path = auth.redirect?.path ?? "/callback";
  const started = await connectionsApi
    .connect({
      slug,
      service,
      redirectUri: listener.redirectUri(path),
      ...(scopes.length > 0 && { scopes }),
      ...(client !== undefined && { client }),
    })
    .catch((error: unknown) => {
      throw error instanceof CliError && error.problem === "not_found" ? noClient(service) : error;
    });
  try {
    const { authorizeUrl, connectId } = started;
    const state = new URL(authorizeUrl).searchParams.get("state") ?? "";
    await show(authorizeUrl, listener.port, request);
    const code = await ended(
      acceptOAuthCode(listener, {
        state,
        timeoutMs,
        signal: io.signal,
        path,
        ...(auth.issuer !== undefined && { expectedIssuer: auth.issuer }),
      }),
    );
    return await connectionsApi.complete({ connectId, code, state });
  } catch (error) {
    // What the server still waits for ends by itself; that it is told is a courtesy.
    await connectionsApi.cancel(started.connectId).catch(() => {});
    throw isClientRefused(error) ? refusedClient(error as CliError, slug) : error;
  }
}

async function show(url: string, port: number, { slug, input, io }: ConnectRequest): Promise<void> {
  await io.err.write(`open this address to connect ${slug}:\n${clean(url)}\n`);
  if (isOn(input, "no-browser")) {
    await io.err.write(
      `from another machine: ssh -L ${port}:127.0.0.1:${port} this-machine, then open it there\n`,
    );
  } else if (!(await openBrowser(url, io))) {
    await io.err.write("no browser could be opened here: open the address yourself\n");
  }
}

/** The OAuth client that the words name. A secret comes from stdin or the prompt; a public client has none. */
async function readClient(
  { input, io }: ConnectRequest,
  auth: OAuth2,
): Promise<OAuthClientArgs | undefined> {
  const clientId = flagText(input, "client-id");
  const fromStdin = isOn(input, "secret-stdin");
  if (clientId === undefined) {
    if (fromStdin) throw usage("--secret-stdin is the secret of a client", "give --client-id too");
    return undefined;
  }
  const isPublic = auth.clientAuth === "none" && !fromStdin;
  if (!isPublic && !fromStdin && !io.interactive) {
    throw usage("nobody can be asked for the client's secret here", "give --secret-stdin");
  }
  const what = `secret of client ${clientId}`;
  const secret = fromStdin
    ? await secretFromStdin(io, what)
    : isPublic
      ? undefined
      : await askSecret(io, what);
  return { client_id: clientId, ...(secret !== undefined && { client_secret: secret }) };
}

async function recordedService(
  connectionsApi: ConnectionsApi,
  slug: string,
): Promise<string | undefined> {
  const services: readonly ServiceInfo[] = await connectionsApi.services();
  return services
    .flatMap(({ connections }) => connections)
    .find((connection) => connection.slug === slug)?.service;
}

async function unknownService(
  service: string,
  connectionsApi: ConnectionsApi,
  stray: string | undefined,
): Promise<CliError> {
  const known = (await connectionsApi.services()).map((each) => each.slug);
  return usage(
    `no service "${clean(service)}" is described here`,
    stray ??
      (known.length === 0
        ? "put its descriptor into services/ beside millrace.json; millrace services import makes one of an OpenAPI document"
        : `there are ${known.join(", ")}; name one with --service`),
  );
}

function noClient(service: string): CliError {
  return usage(
    `no OAuth client of service "${service}" is stored`,
    "register one there, then give --client-id, and its secret with --secret-stdin or at the prompt",
  );
}

function isClientRefused(error: unknown): boolean {
  return (
    error instanceof CliError && /\((?:invalid_client|unauthorized_client)\)/.test(error.message)
  );
}

function refusedClient({ code, message, problem }: CliError, slug: string): CliError {
  return new CliError(code, message, {
    problem,
    hint: `the id or the secret of the client is not right, and nothing was changed: millrace connect ${slug} --client-id ID --secret-stdin`,
  });
}

/** The receiver's errors as ends of the command. */
async function ended<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!OAuthError.isInstance(error)) throw error;
    if (error.reason === "redirect_timeout") throw new CliError("timeout", error.message);
    if (error.kind === "Token") throw new CliError("credentials_missing", error.message);
    throw new CliError("unavailable", error.message, {
      ...(error.reason === "bind" && { hint: "choose another with --port", problem: "in_use" }),
    });
  }
}

function readWait(text: string): number {
  const ms = parseDuration(text, "--timeout");
  if (ms > 0 && ms <= parseDuration(MAX_WAIT, "--timeout")) return ms;
  throw usage(`--timeout takes up to ${MAX_WAIT}, found "${text}"`);
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw usage(`--port takes 0 to 65535, found "${text}"`);
}

/** The program that opens a URL, and the words before it. No shell: it would split a URL at `&`. */
function opener(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  return ["xdg-open"];
}

/** Opens an http or https URL; resolves to whether a program took it. Nothing of ours is in its environment. */
export function openBrowser(url: string, io: CliIo): Promise<boolean> {
  if (!/^https?:\/\//i.test(url)) return Promise.resolve(false);
  const [program, ...words] = opener(process.platform);
  const env = Object.fromEntries(
    Object.entries(io.env).filter(([name]) => !name.startsWith("MILLRACE_")),
  );
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url], { stdio: "ignore", detached: true, env });
    child.once("error", () => resolve(false));
    child.once("spawn", () => resolve(true));
    child.unref();
  });
}
