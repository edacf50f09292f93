/**
 * A server as the keeper of connections, over its invoke bridge.
 *   K1  The token goes to the origin that was named, and over no redirect; without TLS only to this machine.
 *   K2  The credential store is asked for a token only when the server wants one that was not given.
 */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type CatalogEntry,
  type ConnectionStatus,
  type ConnectStarted,
  type ErrorCode,
  PROBLEMS,
  type Problem,
  type ServiceInfo,
} from "@millrace/contracts";
import type { CommandIo } from "../command.ts";
import type { Config } from "../config/load.ts";
import { CliError, usage } from "../errors.ts";
import { reason } from "../file-reason.ts";
import type { Keeper } from "./keeper.ts";
import { type Refusal, toCliError } from "./problem.ts";

/** A command on connections is one small request; a token request behind it may take 30 s. */
const TIMEOUT_MS = 45_000;
/** A server that is not told that nobody comes any more finds out by itself. */
const GIVE_UP_MS = 1_000;
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

interface Given {
  readonly tokenFile: string | undefined;
  readonly config: Config;
}

/** The keeper behind this URL. Throws a usage error for what is no URL of a server, or a token that would travel in the clear. */
export async function remoteKeeper(url: string, given: Given, io: CommandIo): Promise<Keeper> {
  const base = serverBase(url);
  let token = await givenToken(given.tokenFile, io);
  let asked = token !== undefined;
  if (token !== undefined) refuseClearText(base);

  async function invoke<T>(
    command: string,
    args: object,
    signal: AbortSignal = AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]),
  ): Promise<T> {
    const answer = await post(base, token, { command, args }, signal);
    if (answer.ok) return answer.value as T;
    if (answer.code === "unauthorized" && !asked) {
      asked = true;
      token = await storedToken(base.origin, given.config);
      if (token !== undefined) {
        refuseClearText(base);
        return invoke(command, args, signal);
      }
    }
    throw toCliError(answer);
  }

  return {
    async services() {
      const all: ServiceInfo[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: ServiceInfo[]; nextCursor: string | null } = await invoke(
          "list_services",
          cursor === null ? {} : { cursor },
        );
        all.push(...page.items);
        cursor = page.nextCursor;
      } while (cursor !== null);
      return all;
    },
    async auth(service) {
      try {
        const entry = await invoke<CatalogEntry>("get_node", { type: `service.${service}` });
        return entry.serviceIntegration?.auth;
      } catch (error) {
        if (error instanceof CliError && error.problem === "not_found") return undefined;
        throw error;
      }
    },
    connect: (args) => invoke<ConnectStarted>("connect_service", { ...args, receiver: "caller" }),
    complete: (args) => invoke<ConnectionStatus>("complete_connect", args),
    // Also after an interrupt, which waits for nobody.
    cancel: (connectId) => invoke("cancel_connect", { connectId }, AbortSignal.timeout(GIVE_UP_MS)),
    setSecret: (args) => invoke<ConnectionStatus>("set_service_secret", args),
    disconnect: (slug) => invoke("disconnect_service", { slug }),
    close: async () => {},
  };
}

type Answer = { readonly ok: true; readonly value: unknown } | ({ readonly ok: false } & Refusal);

async function post(
  base: URL,
  token: string | undefined,
  body: object,
  signal: AbortSignal,
): Promise<Answer> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL("api/invoke", base), {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
      redirect: "manual",
      signal,
    });
    text = await response.text();
  } catch (error) {
    const { cause } = error as { readonly cause?: NodeJS.ErrnoException };
    const why = signal.aborted
      ? "it did not answer in time"
      : (cause?.code ?? "it cannot be reached");
    throw new CliError("unavailable", `the server ${base.origin}: ${why}`);
  }
  const value = parse(text);
  if (response.status === 200 && value !== undefined) return { ok: true, value };
  const { code, detail, title, errors } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof code === "string" && Object.hasOwn(PROBLEMS, code)) {
    const message = String(detail ?? title ?? code);
    const places = Array.isArray(errors) ? (errors as readonly Problem[]) : [];
    return { ok: false, code: code as ErrorCode, message, errors: places };
  }
  throw new CliError(
    "unavailable",
    `${base.origin} answered ${response.status}, and not as a Millrace server does`,
  );
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function serverBase(url: string): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol) || base.username || base.password) {
    throw usage("--server takes an http or https URL without user and password");
  }
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  base.search = "";
  base.hash = "";
  return base;
}

function refuseClearText(base: URL): void {
  if (base.protocol === "https:" || LOOPBACK.test(base.hostname)) return;
  throw usage(`a token is not sent to ${base.origin}, which has no TLS`, "use https");
}

async function givenToken(file: string | undefined, io: CommandIo): Promise<string | undefined> {
  const fromEnv = io.env.MILLRACE_TOKEN?.trim();
  if (fromEnv) return fromEnv;
  if (file === undefined) return undefined;
  const text = await readFile(resolve(io.cwd, file), "utf8").catch((error: unknown) => {
    throw usage(`cannot read ${file}: ${reason(error)}`);
  });
  const [token] = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  if (token === undefined) throw usage(`${file} has no token`);
  return token.trim();
}

async function storedToken(origin: string, { credentials }: Config): Promise<string | undefined> {
  const { openStore } = await import("../credentials/open-store.ts");
  const { store, close } = openStore(credentials);
  try {
    return (await store.get(`server:${origin}`)) ?? undefined;
  } catch {
    // The server's own word, that it wants a token, is what the person must know.
    return undefined;
  } finally {
    await close();
  }
}
