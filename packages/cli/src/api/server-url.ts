/** The server that a command line or the configuration names, and the token for it. No server is ever searched for. */
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { type CommandIo, flagText, type Input } from "../argv/spec.ts";
import type { ConfigFile, ConfigOptions } from "../config/files.ts";
import type { Config } from "../config/load.ts";
import { readSources } from "../config/sources.ts";
import { secretIn } from "../config/values.ts";
import { reason, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;

/** `--server`, else MILLRACE_SERVER_URL, else `server.url` of the configuration; undefined: this installation. */
export function namedServer(input: Input, config: Config): string | undefined {
  return (flagText(input, "server") ?? config.server) || undefined;
}

/** The URL as a base for paths: it ends with a slash. Throws a usage error for what is no URL of a server; `what` takes it. */
export function serverBase(url: string, what = "--server"): URL {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (base === undefined || !/^https?:$/.test(base.protocol) || base.username || base.password) {
    throw usage(`${what} takes an http or https URL without user and password`);
  }
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  base.search = "";
  base.hash = "";
  return base;
}

/** Throws a usage error where a token would travel for everybody to read. */
export function refuseClearText(base: URL): void {
  if (base.protocol === "https:" || LOOPBACK.test(base.hostname)) return;
  throw usage(`a token is not sent to ${base.origin}, which has no TLS`, "use https");
}

/** The token of MILLRACE_TOKEN, else the first one of the file. */
export async function givenToken(
  file: string | undefined,
  io: CommandIo,
): Promise<string | undefined> {
  const fromEnv = secretIn(io, "MILLRACE_TOKEN")?.trim();
  if (fromEnv) return fromEnv;
  if (file === undefined) return undefined;
  const text = await readFile(resolve(io.cwd, file), "utf8").catch((error: unknown) => {
    throw usage(`cannot read ${file}: ${reason(error)}`);
  });
  const [token] = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  if (token === undefined) throw usage(`${file} has no token`);
  return token.trim();
}

/** The token that `millrace config login` has stored for this origin. */
export async function storedToken(
  origin: string,
  { credentials }: Config,
): Promise<string | undefined> {
  const { openCredentialStore } = await import("../credentials/store.ts");
  const { store, close } = openCredentialStore(credentials);
  try {
    return (await store.get(`server:${origin}`)) ?? undefined;
  } catch {
    // The server's own word, that it wants a token, is what the person must know.
    return undefined;
  } finally {
    await close();
  }
}

/** The server that the environment or the configuration names; none in a project that is not trusted, where flows are only read. */
export async function trustedServer(
  options: ConfigOptions,
  io: CliIo,
): Promise<string | undefined> {
  if (io.env.MILLRACE_SERVER_URL) return io.env.MILLRACE_SERVER_URL;
  const { user, project: file, descriptors } = await readSources(options, io);
  const url = urlOf(file) ?? urlOf(user);
  if (!url || file === undefined) return url;
  const { trustOf } = await import("../config/trust.ts");
  const project = { file, descriptors };
  const { state } = await trustOf(project, options.home, io);
  return state === "trusted" || state === "powerless" ? url : undefined;
}

function urlOf(file: ConfigFile | undefined): string | undefined {
  const { url } = Object(file?.values["server"]) as { readonly url?: unknown };
  return typeof url === "string" ? url : undefined;
}
