/** Options of a server: checked once, resolved once, before anything is opened. */

import type {
  ActionAdapterDefinition,
  JsonObject,
  NodeTypeDefinition,
  ServiceDefinition,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import {
  fn,
  must,
  object,
  optionals,
  optionsProblem,
  rule,
  type Shape,
} from "@millrace/contracts/shape";
import type {
  EgressPolicy,
  EngineOptions,
  FilePolicy,
  Host,
  NodeType,
  ShellPolicy,
} from "@millrace/engine";
import type { CodeTimes, OutputLine } from "@millrace/extensions";
import { type ClusterOption, clusterProblem } from "../cluster/option.ts";
import type { CredentialsOptions } from "../connections/index.ts";
import { dataFolder } from "../connections/open-store.ts";
import { badOption } from "../errors.ts";
import { type FlowsOption, flowsProblem } from "../flow-files/option.ts";
import { proxiesProblem } from "../gate/proxies.ts";
import { parseHost } from "../gate/target.ts";
import { type CallerIdentity, parseToken } from "../gate/tokens.ts";
import { type HubFolder, hubsProblem } from "../hubs/stored-hubs.ts";
import { type ModelsOption, modelsProblem } from "../models/index.ts";
import type { Logger } from "../ports.ts";
import { isStudioPath, type StudioAssets } from "../studio/assets.ts";
import { LIMITS, type ServerLimits } from "./limits.ts";
import {
  type AiOption,
  aiProblem,
  credentialsProblem,
  type Environment,
  type ResolvedAi,
  readAi,
  servicesProblem,
} from "./read-options.ts";

/** Epoch milliseconds, and timers: `setTimer` calls back once after `ms`, and answers what cancels it. */
export type Clock = Pick<Host, "now" | "setTimer">;

/** A source that adds node types to a server, and nothing else. */
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

/** Lines of this level and of those after it are logged. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** A level of the log: only its lines and those of graver levels are written. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** How lines of the log are written: for programs, or for a person at a terminal. */
export const LOG_FORMATS = ["json", "pretty"] as const;
/** How a line of the log is written: `json`, one object, or `pretty`, for a person. */
export type LogFormat = (typeof LOG_FORMATS)[number];

/** Options of `createApp`, `createServer` and `start`; every limit of `ServerLimits` is an option too. */
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
  /** Whether `POST /mcp` lets agents use flows as tools, with the rights of their tokens. Default true. */
  readonly mcp?: boolean;
  /** Origins of other pages that may call, `scheme://host[:port]`. Default none. */
  readonly allowedOrigins?: readonly string[];
  /**
   * Proxies in front of the server, addresses or ranges such as `10.0.0.0/8`: who calls through them is who their `X-Forwarded-For` names,
   * in the log and where logins are counted. Default none: the header is not read.
   */
  readonly trustProxy?: readonly string[];
  /**
   * Where the server is reached from outside, such as `https://millrace.example/flows`; its host and origin count as the server's own, and
   * its path is the default of `basePath`.
   */
  readonly publicUrl?: string;
  /** The environment that runs belong to, such as `prod`: its variables and secrets count over those of all. Default: none. */
  readonly environment?: string;
  /**
   * Path under which the server is mounted in another app, such as `/flows`; links and the API document begin with it. It is taken
   * from the path of a request once, unless Express or Connect has done so. It cannot begin with `/api` or `/hooks`. Default: the path of `publicUrl`.
   */
  readonly basePath?: string;
  /** The web page, served at `/studio`: `await studioAssets()` of `@millrace/studio`. Default: none. */
  readonly studio?: StudioAssets;
  /** A folder whose `.flow` files are templates: a save writes the file, a changed file is a version. Default: none. */
  readonly flows?: FlowsOption;
  /** Network targets that flows may reach. Default: nothing private. */
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
  /** Where credentials are kept. Default: the store of the operating system; with `cluster` its store. */
  readonly credentials?: CredentialsOptions;
  /**
   * The data directory, where runs, templates, schedules and settings are kept; `memory`: nothing outlives the process. Default:
   * `MILLRACE_HOME`, else `millrace` in the data directory of the user.
   */
  readonly store?: string;
  /** How long a write to the data directory waits for other processes that write to it, in milliseconds. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Several servers on one store in PostgreSQL; the folder `store` then holds what is this server's own. Default: none. */
  readonly cluster?: ClusterOption;
  /** Where to log. Default: lines on stderr, as `logLevel` and `logFormat` say. */
  readonly log?: Logger;
  /** The least level that is logged. Default `info`. */
  readonly logLevel?: LogLevel;
  /** `json`, one object a line, or `pretty`, for a person at a terminal. Default `json`. */
  readonly logFormat?: LogFormat;
  /**
   * Variables `OTEL_*`, such as `process.env`: with a receiver among them, runs and requests are sent to it as spans of OpenTelemetry.
   * Default: none.
   */
  readonly traces?: Environment;
  /** Receives what the code of a node threw, as `EngineOptions.onError` does. Default: dropped; events have the name of its class alone. */
  readonly onError?: NonNullable<EngineOptions["onError"]>;
  /** Time, and what waits for it. Default: that of the machine. */
  readonly clock?: Clock;
}

/** Options that may change while a server runs. */
export type ReloadOptions = Pick<
  ServerOptions,
  "tokens" | "allowedHosts" | "allowedOrigins" | "trustProxy"
>;

/** Options that stay absent where they are not given. */
type Absent =
  | "publicUrl"
  | "environment"
  | "cluster"
  | "egress"
  | "files"
  | "shell"
  | "studio"
  | "flows"
  | "caller"
  | "extensions"
  | "log"
  | "onError"
  | "traces"
  | "clock";

/** Options with every default filled in. */
export type ResolvedOptions = Required<Omit<ServerOptions, keyof ServerLimits | Absent | "ai">> & {
  readonly [K in Absent]?: ServerOptions[K] | undefined;
} & {
  readonly ai: ResolvedAi;
  readonly limits: ServerLimits;
};

const DEFAULTS = {
  host: "127.0.0.1",
  port: 6455,
  tokens: [],
  allowOpen: false,
  allowedHosts: [],
  allowedOrigins: [],
  trustProxy: [],
  webhooks: false,
  mcp: true,
  services: [],
  nodeTypes: [],
  hubs: [],
  credentials: {},
  models: {},
  logLevel: "info",
  logFormat: "json",
  busyTimeoutMs: 5_000,
} as const;

const MAX_PORT = 65_535;
const BASE_PATH = /^(?!\/(?:api|hooks)(?:\/|$))(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~-]+)*$/;
/** Paths that the server has itself: a proxy that takes its own path away passes them on as they are. */
const OWN_PATH = /^\/(?:mcp|studio)(?:\/|$)/;
const ORIGIN = /^https?:\/\/[^/?#@\s*]+$/i;

const isObjectOrNull = (value: unknown): boolean => value === null || isObject(value);
const isText = (value: unknown): value is string =>
  typeof value === "string" && value.trim() !== "";

const isAssets = (value: unknown): boolean =>
  value === null || (value instanceof Map && [...value.keys()].every(isStudioPath));

const flag = must((value) => typeof value === "boolean", "true or false");
const policy = must(isObjectOrNull, "an object");

function integer(min: number, max: number): Shape {
  const holds = (value: unknown) =>
    value === null ||
    (Number.isInteger(value) && (value as number) >= min && (value as number) <= max);
  return must(holds, `a whole number from ${min} to ${max}`);
}

/** A text that is not empty, and that `test` finds nothing wrong with. */
function text(test: (value: string) => string | undefined): Shape {
  return rule((value) => (isText(value) ? test(value) : "must not be empty"));
}

function texts(test: (values: readonly string[]) => string | undefined): Shape {
  return rule((value) => {
    if (!Array.isArray(value)) return "must be a list of strings";
    return value.every(isText) ? test(value) : "must not be empty";
  });
}

/** One of a few words. */
function word(words: readonly string[]): Shape {
  const holds = (value: unknown) => value === null || words.includes(value as string);
  return must(holds, `one of ${words.join(", ")}`);
}

/** An object with functions of these names. */
function port(...names: readonly string[]): Shape {
  const holds = (value: unknown) =>
    value === null ||
    names.every((name) => typeof (value as Record<string, unknown>)[name] === "function");
  return must(holds, `an object with the functions ${names.join(", ")}`);
}

const OPTIONS = object(
  optionals({
    host: rule((value) => {
      const host = value ?? DEFAULTS.host;
      if (!isText(host)) return "must not be empty";
      const written = host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
      return parseHost(written) === undefined ? "must be a host name or an IP address" : undefined;
    }),
    port: integer(0, MAX_PORT),
    tokens: texts((tokens) => {
      for (const token of tokens) parseToken(token); // has an error of its own, without the token
      return undefined;
    }),
    allowOpen: flag,
    webhooks: flag,
    mcp: flag,
    allowedHosts: texts((hosts) => {
      const bad = hosts.find((host) => parseHost(host)?.name !== host.toLowerCase());
      return bad && `must be names without port, unlike "${bad}"`;
    }),
    allowedOrigins: texts((origins) => {
      const bad = origins.find((origin) => !ORIGIN.test(origin) || !URL.canParse(origin));
      return bad && `must be scheme://host[:port], unlike "${bad}"`;
    }),
    trustProxy: texts(proxiesProblem),
    environment: text((name) =>
      /^[a-z0-9][a-z0-9-]{0,31}$/.test(name) ? undefined : "must be 1 to 32 of a-z 0-9 -",
    ),
    publicUrl: text((url) =>
      /^https?:\/\//i.test(url) && URL.canParse(url) ? undefined : "must be an http or https URL",
    ),
    basePath: must(
      (value) => typeof value === "string" && BASE_PATH.test(value),
      "a path such as /flows, without a slash at its end, and not below /api or /hooks",
    ),
    studio: must(isAssets, "the answer of studioAssets()"),
    flows: rule(flowsProblem),
    egress: policy,
    files: policy,
    shell: policy,
    services: rule(servicesProblem),
    nodeTypes: must(Array.isArray, "a list of node types"),
    caller: fn,
    extensions: rule(extensionsProblem),
    ai: rule(aiProblem),
    models: rule(modelsProblem),
    hubs: rule(hubsProblem),
    credentials: rule(credentialsProblem),
    store: text(() => undefined),
    busyTimeoutMs: integer(0, 2_147_483_647),
    cluster: rule(clusterProblem),
    log: port(...LOG_LEVELS),
    logLevel: word(LOG_LEVELS),
    logFormat: word(LOG_FORMATS),
    onError: fn,
    traces: policy,
    clock: port("now", "setTimer"),
    ...Object.fromEntries(
      Object.entries(LIMITS).map(([name, { min, max }]) => [name, integer(min, max)]),
    ),
  }),
);

/**
 * Fills in defaults. Throws `ConfigError` with code `option_invalid`, naming the option, for an unknown option or a bad
 * value. An option that is undefined counts as absent.
 */
export function resolveOptions(options: ServerOptions): ResolvedOptions {
  const problem = optionsProblem(options, OPTIONS);
  if (problem !== undefined) {
    const { name, message } = problem;
    throw badOption(name === undefined ? message : `option "${name}" ${message}`);
  }
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== null),
  ) as ServerOptions;
  if (given.caller && given.tokens !== undefined && given.tokens.length > 0) {
    throw badOption('option "caller" does not go with tokens: it says who calls');
  }
  if (given.cluster !== undefined && given.store === "memory") {
    throw badOption('option "cluster" does not go with a store in memory; name a folder');
  }
  if (given.cluster !== undefined && given.flows !== undefined) {
    throw badOption(
      'option "cluster" does not go with a folder of flows: the servers would not have the same files',
    );
  }
  const limits = Object.fromEntries(
    Object.entries(LIMITS).map(([name, limit]) => [
      name,
      given[name as keyof ServerLimits] ?? limit.default,
    ]),
  ) as unknown as ServerLimits;
  const { store = dataFolder(), publicUrl } = given;
  const { basePath = publicUrl === undefined ? "" : pathOf(publicUrl) } = given;
  if (given.basePath === undefined && (!BASE_PATH.test(basePath) || OWN_PATH.test(basePath))) {
    throw badOption(
      'option "publicUrl" must have no path, or one such as /flows that is not below /api, /hooks, /mcp or /studio',
    );
  }
  return { ...DEFAULTS, ...given, basePath, store, ai: readAi(given.ai), limits };
}

/** The path of a URL without a slash at its end: "" for the root. */
export function pathOf(url: string): string {
  return new URL(url).pathname.replace(/\/+$/, "");
}

function extensionsProblem(value: unknown): string | undefined {
  const { folder, list, config = {} } = (isObject(value) ? value : {}) as Partial<ExtensionsOption>;
  if (typeof folder !== "string" || folder === "") return "must name the folder of the project";
  if (!Array.isArray(list) || !list.every((name) => typeof name === "string" && name !== "")) {
    return "must have a list of packages";
  }
  return isObject(config) ? undefined : "must have an object of configurations";
}
