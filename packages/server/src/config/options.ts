/** Options of a server: checked once, resolved once, before anything is opened. */

import type {
  ActionAdapterDefinition,
  JsonObject,
  NodeTypeDefinition,
  ServiceDefinition,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { unknownOption } from "@millrace/contracts/options";
import type {
  EgressPolicy,
  EngineOptions,
  FilePolicy,
  Host,
  NodeType,
  ShellPolicy,
} from "@millrace/engine";
import type { CodeTimes, OutputLine } from "@millrace/extensions";
import type { CredentialsOptions } from "../connections/index.ts";
import { dataFolder } from "../connections/open-store.ts";
import { ConfigError, Misfit } from "../errors.ts";
import { parseHost } from "../gate/target.ts";
import { type CallerIdentity, parseToken } from "../gate/tokens.ts";
import { type HubFolder, readHubFolders } from "../hubs/stored-hubs.ts";
import { type ModelsOption, readModels } from "../models/index.ts";
import type { Logger } from "../ports.ts";
import { LIMITS, type ServerLimits } from "./limits.ts";
import {
  type AiOption,
  type ResolvedAi,
  readAi,
  readCredentials,
  readServices,
} from "./read-options.ts";

/** Epoch milliseconds, and timers: `setTimer` calls back once after `ms`, and answers what cancels it. */
export type Clock = Pick<Host, "now" | "setTimer">;

/** What adds node types to a server, and nothing else. */
export type NodeTypeSource = NodeTypeDefinition | ActionAdapterDefinition | NodeType;

/** The extensions of a project, as its two files name them. */
export interface ExtensionsOption {
  /** Folder of `millrace.json` and `millrace.lock.json`. */
  readonly folder: string;
  /** Packages, and folders that begin with `./`; the first that has an id keeps it. */
  readonly list: readonly string[];
  /** Configuration of adapters and providers by id. */
  readonly config?: { readonly [id: string]: JsonObject };
  /** Uses folders that have changed, with a warning. Default false. */
  readonly watch?: boolean;
  /** Receives what their processes write to standard output and error. Default: dropped. */
  readonly output?: (line: OutputLine) => void;
  /** Lengths of time in the life of their processes; default those of the documentation. */
  readonly times?: Partial<CodeTimes>;
}

/** What `createApp`, `createServer` and `start` take; every limit of `ServerLimits` is an option too. */
export interface ServerOptions extends Partial<ServerLimits> {
  /** Name or address to listen on, and what the `Host` check expects. Default `127.0.0.1`. */
  readonly host?: string;
  /** Default 6455, M-I-L-L on a keypad; 0 is any free port. */
  readonly port?: number;
  /** `token`, with role `admin`, or `id:role:token`. Default none: everything is open. */
  readonly tokens?: readonly string[];
  /** Allows an address that others can reach without a token. Default false. */
  readonly allowOpen?: boolean;
  /** Further names, without port, that `Host` may have. */
  readonly allowedHosts?: readonly string[];
  /** Switches `POST /hooks/:token` on. Default false. */
  readonly webhooks?: boolean;
  /** Origins of other pages that may call, `scheme://host[:port]`. Default none. */
  readonly allowedOrigins?: readonly string[];
  /** Where the server is reached from outside; its host and origin count as the server's own. */
  readonly publicUrl?: string;
  /**
   * Path under which the server is mounted in another app, such as `/flows`; links and the API document begin with it. It is taken
   * from the path of a request once, unless Express or Connect has done so. It cannot begin with `/api` or `/hooks`. Default: none.
   */
  readonly basePath?: string;
  /** What flows may reach over the network. Default: nothing private. */
  readonly egress?: EgressPolicy;
  /** Which files flows may touch. Default: none. */
  readonly files?: FilePolicy;
  /** Which programs flows may start. Default: none. */
  readonly shell?: ShellPolicy;
  /** Services that flows may connect to, made by `defineService`. Default none. */
  readonly services?: readonly ServiceDefinition[];
  /**
   * Node types of the program around, made by `defineNodeType`, `defineActionAdapter` or `defineExtension`; they run with the
   * network, files, credentials, services and models of this server. Default none.
   */
  readonly nodeTypes?: readonly NodeTypeSource[];
  /**
   * Who sends a request, for a program that has checked that itself: `null` is answered with 401. It takes the place of `tokens`;
   * checks of host and origin stay, and the body must be left unread. Default: the bearer tokens decide.
   */
  readonly caller?: (request: Request) => CallerIdentity | null | Promise<CallerIdentity | null>;
  /** Extensions of a project, read from its lock file. Default none. */
  readonly extensions?: ExtensionsOption;
  /** Providers of models and servers of tools, as a configuration file holds them. Default: the well-known makers. */
  readonly ai?: AiOption;
  /** Models of this machine, where their package is installed; false: none. Default: those below the data directory. */
  readonly models?: ModelsOption | false;
  /** Folders that are hubs: sources of templates. Default none; hubs behind https URLs are added by command. */
  readonly hubs?: readonly HubFolder[];
  /** Where credentials are kept. Default: the store of the operating system. */
  readonly credentials?: CredentialsOptions;
  /**
   * The data directory, where runs, templates, schedules and settings are kept; `memory`: nothing outlives the process. Default:
   * `MILLRACE_HOME`, else `millrace` in the data directory of the user.
   */
  readonly store?: string;
  /** Where to log. Default: JSON lines on stderr. */
  readonly log?: Logger;
  /** Receives what the code of a node threw, as `EngineOptions.onError` does. Default: dropped; events have the name of its class alone. */
  readonly onError?: NonNullable<EngineOptions["onError"]>;
  /** Time, and what waits for it. Default: that of the machine. */
  readonly clock?: Clock;
}

/** What may change while a server runs. */
export type ReloadOptions = Pick<ServerOptions, "tokens" | "allowedHosts" | "allowedOrigins">;

/** Options with every default filled in. */
export interface ResolvedOptions {
  readonly host: string;
  readonly port: number;
  readonly tokens: readonly string[];
  readonly allowOpen: boolean;
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
  readonly webhooks: boolean;
  readonly publicUrl: string | null;
  readonly basePath: string;
  readonly egress: EgressPolicy | null;
  readonly files: FilePolicy | null;
  readonly shell: ShellPolicy | null;
  readonly services: readonly ServiceDefinition[];
  readonly nodeTypes: readonly NodeTypeSource[];
  readonly caller: ServerOptions["caller"] | null;
  readonly extensions: ExtensionsOption | null;
  readonly ai: ResolvedAi;
  readonly models: ModelsOption | null;
  readonly hubs: readonly HubFolder[];
  readonly credentials: CredentialsOptions;
  readonly store: string;
  readonly log: Logger | null;
  readonly onError: ServerOptions["onError"] | null;
  readonly clock: Clock | null;
  readonly limits: ServerLimits;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_PORT = 6455;
const MAX_PORT = 65_535;
const BASE_PATH = /^(?!\/(?:api|hooks)(?:\/|$))(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/;
const ORIGIN = /^https?:\/\/[^/?#@\s*]+$/i;

/** How each option is read; throws a `Misfit`. */
const READERS: {
  readonly [K in Exclude<keyof ResolvedOptions, "limits">]: (value: unknown) => ResolvedOptions[K];
} = {
  host: (value) => {
    const host = text(value ?? DEFAULT_HOST);
    if (parseHost(host.includes(":") && !host.startsWith("[") ? `[${host}]` : host) === undefined) {
      throw new Misfit("must be a host name or an IP address");
    }
    return host;
  },
  port: (value) => integer(value ?? DEFAULT_PORT, 0, MAX_PORT),
  tokens: (value) => {
    const tokens = texts(value);
    for (const token of tokens) parseToken(token);
    return tokens;
  },
  allowOpen: flag,
  webhooks: flag,
  allowedHosts: (value) => {
    const hosts = texts(value);
    const bad = hosts.find((host) => parseHost(host)?.name !== host.toLowerCase());
    if (bad !== undefined) throw new Misfit(`must be names without port, unlike "${bad}"`);
    return hosts;
  },
  allowedOrigins: (value) => {
    const origins = texts(value);
    const bad = origins.find((origin) => !ORIGIN.test(origin) || !URL.canParse(origin));
    if (bad !== undefined) throw new Misfit(`must be scheme://host[:port], unlike "${bad}"`);
    return origins;
  },
  publicUrl: (value) => {
    if (value === undefined) return null;
    const url = text(value);
    if (!/^https?:\/\//i.test(url) || !URL.canParse(url))
      throw new Misfit("must be an http or https URL");
    return url;
  },
  basePath: (value = "") => {
    if (typeof value === "string" && BASE_PATH.test(value)) return value;
    throw new Misfit(
      "must be a path such as /flows, without a slash at its end, and not below /api or /hooks",
    );
  },
  egress: (value) => objectOr(value) as EgressPolicy | null,
  files: (value) => objectOr(value) as FilePolicy | null,
  shell: (value) => objectOr(value) as ShellPolicy | null,
  services: readServices,
  nodeTypes: (value) => {
    if (value !== undefined && !Array.isArray(value))
      throw new Misfit("must be a list of node types");
    return (value ?? []) as readonly NodeTypeSource[];
  },
  caller: (value) => functionOr(value) as ResolvedOptions["caller"],
  extensions: readExtensionsOption,
  ai: readAi,
  models: readModels,
  hubs: readHubFolders,
  credentials: readCredentials,
  store: (value) => (value === undefined ? dataFolder() : text(value)),
  log: (value) => portOr(value, ["debug", "info", "warn", "error"]) as Logger | null,
  onError: (value) => functionOr(value) as ResolvedOptions["onError"],
  clock: (value) => portOr(value, ["now", "setTimer"]) as Clock | null,
};

/**
 * Fills in defaults. Throws `ConfigError` with code `option_invalid`, naming the option, for an unknown option or a bad
 * value. An option that is undefined counts as absent.
 */
export function resolveOptions(options: ServerOptions): ResolvedOptions {
  const given: Record<string, unknown> = { ...options };
  const resolved: Record<string, unknown> = {};
  const limits: Record<string, number> = {};
  const unknown = unknownOption(given, { ...READERS, ...LIMITS });
  if (unknown !== undefined) throw new ConfigError("option_invalid", unknown);
  for (const [name, reader] of Object.entries(READERS)) {
    resolved[name] = read(name, () => reader(given[name]));
  }
  for (const [name, { default: fallback, min, max }] of Object.entries(LIMITS)) {
    limits[name] = read(name, () => integer(given[name] ?? fallback, min, max));
  }
  const all = { ...resolved, limits } as unknown as ResolvedOptions;
  if (all.caller && all.tokens.length > 0) {
    throw new ConfigError(
      "option_invalid",
      'option "caller" does not go with tokens: it says who calls',
    );
  }
  return all;
}

function read<T>(name: string, reader: () => T): T {
  try {
    return reader();
  } catch (reason) {
    if (!(reason instanceof Misfit)) throw reason;
    throw new ConfigError("option_invalid", `option "${name}" ${reason.message}`);
  }
}

function readExtensionsOption(value: unknown): ExtensionsOption | null {
  if (value === undefined) return null;
  const { folder, list, config = {} } = (isObject(value) ? value : {}) as Partial<ExtensionsOption>;
  if (typeof folder !== "string" || folder === "")
    throw new Misfit("must name the folder of the project");
  if (!Array.isArray(list) || !list.every((name) => typeof name === "string" && name !== "")) {
    throw new Misfit("must have a list of packages");
  }
  if (!isObject(config)) throw new Misfit("must have an object of configurations");
  return value as ExtensionsOption;
}

function text(value: unknown): string {
  if (typeof value !== "string" || value.trim() === "") throw new Misfit("must not be empty");
  return value;
}

function functionOr(value: unknown): unknown {
  if (value !== undefined && typeof value !== "function") throw new Misfit("must be a function");
  return value ?? null;
}

function objectOr(value: unknown): object | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "object" || Array.isArray(value)) throw new Misfit("must be an object");
  return value;
}

/** An object with functions of these names. */
function portOr(value: unknown, names: readonly string[]): object | null {
  const port = value as { readonly [name: string]: unknown } | null | undefined;
  if (port === undefined || port === null) return null;
  if (names.some((name) => typeof port[name] !== "function")) {
    throw new Misfit(`must be an object with the functions ${names.join(", ")}`);
  }
  return port;
}

function flag(value: unknown): boolean {
  if (value !== undefined && typeof value !== "boolean") throw new Misfit("must be true or false");
  return value ?? false;
}

function texts(value: unknown): readonly string[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new Misfit("must be a list of strings");
  return value.map(text);
}

function integer(value: unknown, min: number, max: number): number {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    throw new Misfit(`must be a whole number from ${min} to ${max}`);
  }
  return value;
}
