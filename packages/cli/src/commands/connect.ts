/**
 * `millrace connect`: a person lets this installation, or a server, act for them at a service.
 *   C1  The port is bound before the URL is shown, and free when the command ends, however it ends.
 *   C2  The URL is on stderr before a browser opens. No secret comes in by a word or goes out by a stream.
 */

import type { ConnectionStatus, OAuthClientArgs, ServiceAuth } from "@millrace/contracts";
import { OAuthError } from "@millrace/oauth";
import { acceptOAuthCode, bindLoopback } from "@millrace/oauth/loopback";
import type { Api } from "../api/api.ts";
import type { CommandContext } from "../api/command.ts";
import { toCliError } from "../api/errors.ts";
import { arg, option, serverCommand } from "../argv/flags.ts";
import {
  type Answer,
  type CliCommand,
  type CommandIo,
  flagList,
  flagText,
  type Input,
  isOn,
} from "../argv/spec.ts";
import { parseDuration, readPort } from "../argv/values.ts";
import { askSecret, readSecret, secretFromStdin } from "../ask.ts";
import { configOptions } from "../config/files.ts";
import { strayServices } from "../config/services.ts";
import { CliError, usage } from "../errors.ts";
import { openBrowser } from "../open-browser.ts";
import { clean } from "../output/text.ts";
import {
  connectionsOf,
  isNotFound,
  readSlug,
  servicesOf,
  statusLine,
  withConnections,
} from "./connections.ts";

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

/** Time limit of a consent; its server gives up at the same time. */
const MAX_WAIT = "5m";
/** Time limit of the best-effort cancel; the consent expires on the server anyway. */
const GIVE_UP_MS = 1_000;

type OAuth2 = Extract<ServiceAuth, { scheme: "oauth2" }>;

interface ConnectRequest extends CommandContext {
  readonly slug: string;
  readonly service: string;
  /** How long a consent may take. */
  readonly timeoutMs: number;
  /** Where the redirect comes; absent: where the service says. */
  readonly port: number | undefined;
}

/** Connects, and prints how the connection stands. */
async function run(input: Input, io: CommandIo): Promise<Answer> {
  const slug = readSlug(input.args[0]);
  const timeoutMs = readWait(flagText(input, "timeout") ?? MAX_WAIT);
  const port = readPort(flagText(input, "port"));
  return withConnections(input, io, true, async (api) => {
    const service = flagText(input, "service") ?? (await recordedService(api, slug)) ?? slug;
    const auth = await authOf(service, api);
    if (auth === undefined) throw await unknownService(service, api, input, io);
    const request: ConnectRequest = { slug, service, timeoutMs, port, api, input, io };
    const status =
      auth.scheme === "oauth2" ? await consent(request, auth) : await enter(request, auth);
    if (auth.scheme === "oauth2" && !status.refreshable) {
      await io.err.write(
        `warning: the service gave no refresh token: connect again ${status.expires_at === undefined ? "when it refuses the credential" : `after ${status.expires_at}`}\n`,
      );
    }
    return { value: status, data: [statusLine(status)] };
  });
}

/** How a service is entered; undefined where it is not known. */
async function authOf(service: string, api: Api): Promise<ServiceAuth | undefined> {
  try {
    const entry = await api.invoke("get_node", { type: `service.${service}` });
    return entry.serviceIntegration?.auth;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** Schemes without a consent: the person has the secret. */
async function enter({ slug, service, api, input, io }: ConnectRequest, { scheme }: ServiceAuth) {
  if (scheme === "none") throw usage(`service "${service}" takes no credential: call it as it is`);
  const what = scheme === "basic" ? `user:password of ${slug}` : `secret of ${slug}`;
  const read = isOn(input, "secret-stdin") ? secretFromStdin : readSecret;
  return api.invoke("set_service_secret", { slug, service, value: await read(io, what) });
}

/** Starts a consent, shows where to give it, and hands over the code that comes back. */
async function consent(request: ConnectRequest, auth: OAuth2): Promise<ConnectionStatus> {
  const { slug, service, timeoutMs, api, input, io } = request;
  const client = await readClient(request, auth);
  const listener = await ended(bindLoopback(request.port ?? auth.redirect?.port ?? 0));
  try {
    const scopes = flagList(input, "scope");
    const path = auth.redirect?.path ?? "/callback";
    const { connectId, authorizeUrl } = await api
      .invoke("connect_service", {
        slug,
        service,
        receiver: "caller",
        redirectUri: listener.redirectUri(path),
        ...(scopes.length > 0 && { scopes }),
        ...(client !== undefined && { client }),
      })
      .catch((error: unknown) => {
        throw isNotFound(error) ? noClient(service) : error;
      });
    try {
      const state = new URL(authorizeUrl).searchParams.get("state") ?? "";
      await show(authorizeUrl, listener.port, request);
      const { issuer: expectedIssuer } = auth;
      const expected = { state, path, ...(expectedIssuer !== undefined && { expectedIssuer }) };
      const code = await ended(
        acceptOAuthCode(listener, { ...expected, timeoutMs, signal: io.signal }),
      );
      return await api.invoke("complete_connect", { connectId, code, state });
    } catch (error) {
      // Ends a consent at the server; best effort, also after an interrupt, since it expires by itself.
      const signal = AbortSignal.timeout(GIVE_UP_MS);
      await api.invoke("cancel_connect", { connectId }, { signal }).catch(() => {});
      const end = toCliError(error);
      throw end instanceof CliError && REFUSED_CLIENT.test(end.message)
        ? refusedClient(end, slug)
        : end;
    }
  } finally {
    await listener.close();
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
  if (auth.clientAuth === "none" && !fromStdin) return { client_id: clientId };
  if (!fromStdin && !io.interactive) {
    throw usage("nobody can be asked for the client's secret here", "give --secret-stdin");
  }
  const read = fromStdin ? secretFromStdin : askSecret;
  return { client_id: clientId, client_secret: await read(io, `secret of client ${clientId}`) };
}

async function recordedService(api: Api, slug: string): Promise<string | undefined> {
  return connectionsOf(await servicesOf(api)).find((each) => each.slug === slug)?.service;
}

async function unknownService(
  service: string,
  api: Api,
  input: Input,
  io: CommandIo,
): Promise<CliError> {
  const stray = await strayServices(configOptions(input, io), io);
  const known = (await servicesOf(api)).map(({ slug }) => slug);
  const { catalogFile } = await import("@millrace/services-catalog/files");
  const isReady = stray === undefined && (await catalogFile(service)) !== undefined;
  return usage(
    `no service "${clean(service)}" is described here`,
    isReady
      ? `millrace services add ${service} puts its descriptor into the project`
      : (stray ??
          (known.length === 0
            ? "put its descriptor into services/ beside millrace.json; millrace services search shows ready ones, millrace services import makes one of an OpenAPI document"
            : `there are ${known.join(", ")}; name one with --service`)),
  );
}

function noClient(service: string): CliError {
  return usage(
    `no OAuth client of service "${service}" is stored`,
    "register one there, then give --client-id, and its secret with --secret-stdin or at the prompt",
  );
}

const REFUSED_CLIENT = /\((?:invalid_client|unauthorized_client)\)/;

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
    const bound = { hint: "choose another with --port", problem: "in_use" } as const;
    throw new CliError("unavailable", error.message, error.reason === "bind" ? bound : {});
  }
}

function readWait(text: string): number {
  const ms = parseDuration(text, "--timeout");
  if (ms > 0 && ms <= parseDuration(MAX_WAIT, "--timeout")) return ms;
  throw usage(`--timeout takes up to ${MAX_WAIT}, found "${text}"`);
}
