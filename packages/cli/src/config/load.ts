/**
 * Configuration as data, strongest first: flag, variable, project file, user file, default. A project file grants power
 * (which files, hosts and programs a flow may reach) only when the person trusts its exact bytes.
 */

import { dirname, resolve } from "node:path";
import type { ServiceDefinition } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { EgressPolicy, ShellPolicy } from "@millrace/engine";
import type { AiValues } from "@millrace/providers";
import type { ServerLimits, ServerOptions } from "@millrace/server";
import { usage } from "../errors.ts";
import type { DebugLines } from "../output/debug-lines.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";
import type { ConfigFile, ConfigOptions } from "./files.ts";
import { CONFIG_KEYS, type ConfigKey, misfit, topNames } from "./keys.ts";
import {
  type CredentialsChoice,
  type ExtensionsChoice,
  readCredentials,
  readEgress,
  readExtensionList,
  readMcpServers,
  readShell,
} from "./sections.ts";
import { type ConfigSources, describedServices, readSources } from "./sources.ts";
import { fromEnvironment, merge, valueAt, variableFor } from "./values.ts";

/** What the user's file, the project file and the environment say together, with defaults; the strongest place counts. */
export interface Config {
  readonly run: { readonly timeoutMs?: number; readonly graceMs?: number };
  /** Whether every run is kept, as with `--save`. */
  readonly history: boolean;
  /** Whose variables and secrets flows read; absent: those of all. */
  readonly environment: string | undefined;
  readonly egress: EgressPolicy;
  /** Folder that flows may read and write, absolute; absent where nothing says so. */
  readonly filesRoot: string | undefined;
  /** Programs that flows may start; absent where nothing names one. */
  readonly shell: ShellPolicy | undefined;
  /** Extensions by name, in their order. */
  readonly extensions: ExtensionsChoice;
  readonly credentials: CredentialsChoice;
  /** How long a write to the data folder waits for other processes. */
  readonly busyTimeoutMs: number | undefined;
  /** The keys of AI as they stand: they are checked when something uses a model. */
  readonly ai: AiValues;
  /** The server that commands speak to unless another is named; "" is none. */
  readonly server: string;
  /** Where `serve` listens, whether it shows the page, and what it logs, unless its flags say otherwise. */
  readonly serve: {
    readonly host?: string;
    readonly port?: number;
    readonly studio?: boolean;
    readonly mcp?: boolean;
    readonly logLevel?: string;
    readonly logFormat?: string;
    /** Limits that are not the server's defaults, by name. */
    readonly limits?: Partial<ServerLimits>;
  };
  /** Folder of the project file; without one the working directory. */
  readonly folder: string;
  /** Folder of stored flows of the project, absolute; absent without a project file. */
  readonly flows: string | undefined;
  /** Every key as it was merged. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly sources: ConfigSources;
}

/** The configuration of a run. */
export interface RunConfig extends Config {
  /** Those of the project, of the user and of extensions. */
  readonly services: readonly ServiceDefinition[];
}

/** Values by key; those that are read here by name are named. */
type Values = { readonly [key: string]: unknown } & {
  readonly [key in
    | ("extensions" | "shell" | "flows" | "history" | "environment")
    | ("providers" | "mcpServers" | "ai")]?: unknown;
};

/** Reads the files and merges what counts of them. */
export async function loadConfig(
  options: ConfigOptions,
  io: CliIo,
  warn: (line: string) => void,
): Promise<Config> {
  return resolveConfig(await readSources(options, io), io, warn);
}

/** Merges what counts of files that are read. Throws a usage error for a project that grants power and is not trusted. */
export async function resolveConfig(
  sources: ConfigSources,
  io: CliIo,
  warn: (line: string) => void,
): Promise<Config> {
  const { user, project, descriptors } = sources;
  const { home } = sources.options;
  for (const file of [user, project]) {
    for (const line of await unknownKeys(file)) warn(line);
  }
  if (project !== undefined) {
    const { checkTrust } = await import("./trust.ts"); // with what digests its bytes
    await checkTrust({ file: project, descriptors }, home, io);
  }
  await checkValues([user, project], io);
  const folder = project === undefined ? io.cwd : dirname(project.path);
  const merged: Values = merge(
    merge(user?.values ?? {}, project?.values ?? {}),
    fromEnvironment(io),
  );
  // `checkValues` has seen to their types.
  const { timeoutMs = 0, ...run }: Config["run"] = object(merged, "run");
  const { root }: { readonly root?: string } = object(merged, "files");
  const { url = "" }: { readonly url?: string } = object(merged, "server");
  const { busyTimeoutMs }: { readonly busyTimeoutMs?: number } = object(merged, "store");
  const filesRoot = root === undefined ? undefined : resolve(folder, root);
  const flows = typeof merged.flows === "string" ? merged.flows : "flows";
  return {
    run: { ...run, ...(timeoutMs > 0 && { timeoutMs }) }, // 0 is no limit
    history: merged.history === true,
    environment: environmentIn(merged.environment, "environment"),
    egress: await readEgress(object(merged, "egress")),
    filesRoot,
    shell: readShell(merged.shell, { folder, filesRoot }),
    extensions: readExtensionList(merged.extensions),
    credentials: readCredentials(object(merged, "credentials"), { home, folder }, io),
    busyTimeoutMs,
    ai: {
      providers: merged.providers,
      mcpServers: readMcpServers(merged.mcpServers, folder),
      ai: merged.ai,
    },
    server: url,
    serve: object(merged, "serve"),
    folder,
    flows: project === undefined ? undefined : resolve(folder, flows),
    values: merged,
    sources,
  };
}

/** Throws one usage error for all values that are not of the type that the table says, each with its place. */
async function checkValues(files: readonly (ConfigFile | undefined)[], io: CliIo): Promise<void> {
  const wrong: string[] = [];
  const check = async (values: Values, placeOf: (key: ConfigKey) => Promise<string>) => {
    for (const key of await keysFor(values)) {
      const value = valueAt(values, key.key);
      const why = value === undefined ? undefined : misfit(key, value);
      if (why !== undefined) wrong.push(`${key.key} ${why} (${await placeOf(key)})`);
    }
  };
  await check(fromEnvironment(io), async (key) => variableFor(key, io) ?? "");
  for (const file of files) {
    if (file === undefined) continue;
    await check(file.values, async ({ key }) => {
      const { lineOf } = await import("./json-text.ts");
      return lineOf(file, key);
    });
  }
  if (wrong.length > 0) throw usage(clean(wrong.join("; ")));
}

/** The table, with a row for each limit where there are any. */
async function keysFor(values: Values): Promise<readonly ConfigKey[]> {
  if (!isObject(valueAt(values, "serve.limits"))) return CONFIG_KEYS;
  return (await import("./limit-keys.ts")).ALL_KEYS;
}

/** The name of an environment, from the key, or from `--env`, which wins. */
export function environmentIn(value: unknown, what: string): string | undefined {
  if (value === undefined || value === "") return undefined;
  if (typeof value === "string" && /^[a-z0-9][a-z0-9-]{0,31}$/.test(value)) return value;
  throw usage(`${what} takes the name of an environment, such as prod: 1 to 32 of a-z 0-9 -`);
}

function object(values: Values, name: string): Readonly<Record<string, unknown>> {
  const value = values[name];
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw usage(`${name} must be a JSON object`);
}

/** A warning for each unknown key, with the nearest known one. */
export async function unknownKeys(file: ConfigFile | undefined): Promise<readonly string[]> {
  if (file === undefined) return [];
  const lines: string[] = [];
  const keys = await keysFor(file.values);
  const known = new Set([...keys.map(({ key }) => key), ...topNames()]);
  for (const key of keysOf(file.values, keys)) {
    if (known.has(key)) continue;
    // Loaded when there is one.
    const { nearestName } = await import("@millrace/contracts/kit");
    const near = nearestName(key, known);
    const hint = near === undefined ? "" : `; did you mean "${near}"?`;
    lines.push(`${file.path}: unknown key "${clean(key)}" has no effect${hint}`);
  }
  return lines;
}

/** Keys as far down as the table names them: members of a record are not checked here. */
function keysOf(values: Values, keys: readonly ConfigKey[], before = ""): string[] {
  return Object.entries(values).flatMap(([last, value]) => {
    const name = `${before}${last}`;
    const isGroup = keys.some(({ key }) => key.startsWith(`${name}.`));
    return isGroup && isObject(value) ? keysOf(value, keys, `${name}.`) : [name];
  });
}

/** Options of a server, or of the commands of one in this process, from the configuration. */
export async function serverOptions(
  config: Config,
  io: CliIo,
  debug: DebugLines | undefined,
): Promise<ServerOptions> {
  const { egress, folder, shell, busyTimeoutMs } = config;
  const { store, dir, key } = config.credentials;
  return {
    egress,
    services: await describedServices(config.sources),
    ...(config.environment !== undefined && { environment: config.environment }),
    extensions: { folder, ...config.extensions, ...(debug && { output: debug.output }) },
    ...(debug && { onError: debug.onError }),
    credentials: { store, dir, key },
    models: modelsOf(config, io),
    store: dir,
    ...(busyTimeoutMs !== undefined && { busyTimeoutMs }),
    ...(shell !== undefined && { shell }),
  };
}

/** As the option of a server, which checks it. */
export function modelsOf({ values }: Config, { env }: CliIo): NonNullable<ServerOptions["models"]> {
  const { MILLRACE_MODELS_DIR: dir } = env;
  const { models = {} } = values as { readonly models?: ServerOptions["models"] };
  return typeof models === "object" && dir ? { ...models, dir } : models;
}
