/**
 * Configuration as data, strongest first: flag, project file, user file, default. A project file grants power (which
 * files, hosts and programs a flow may reach) only when the person trusts its exact bytes.
 */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { ServiceDefinition } from "@millrace/contracts";
import type { EgressPolicy, ShellPolicy } from "@millrace/engine";
import type { AiValues } from "@millrace/providers";
import { usage } from "../errors.ts";
import { reason } from "../file-reason.ts";
import type { CliIo } from "../io.ts";
import { clean } from "../render/text.ts";
import { type CredentialsChoice, readCredentials } from "./credentials.ts";
import { type DescriptorFile, readDescriptors, SERVICES_FOLDER, toServices } from "./services.ts";
import { readShell } from "./shell.ts";

/** What the commands read. */
export interface Config {
  readonly run: { readonly timeoutMs?: number; readonly graceMs?: number };
  readonly egress: EgressPolicy;
  /** Folder that flows may read and write, absolute; absent where no file says so. */
  readonly filesRoot: string | undefined;
  /** Programs that flows may start; absent where no file names one. */
  readonly shell: ShellPolicy | undefined;
  /** Services that are described beside the user's file and beside the project's, which wins. */
  readonly services: readonly ServiceDefinition[];
  readonly credentials: CredentialsChoice;
  /** The keys of AI as they stand: they are checked when something uses a model. */
  readonly ai: AiValues;
  /** The server that commands speak to unless another is named; "" is none. */
  readonly server: string;
  /** Folder of the project file; without one the working directory. */
  readonly folder: string;
  /** Folder of stored flows of the project, absolute; absent without a project file. */
  readonly flows: string | undefined;
}

/** Keys of a file as far as they are read here; whatever they hold is checked where it is used. */
interface Values {
  readonly [key: string]: unknown;
  readonly egress?: unknown;
  readonly files?: unknown;
  readonly shell?: unknown;
  readonly flows?: unknown;
  readonly run?: unknown;
  readonly credentials?: unknown;
  readonly providers?: unknown;
  readonly mcpServers?: unknown;
  readonly ai?: unknown;
  readonly server?: unknown;
}

/** Where a search for configuration starts, and what was named on the command line instead. */
export interface ConfigOptions {
  readonly folder: string;
  readonly file: string | undefined;
  readonly home: string | undefined;
}

interface ConfigFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly values: Values;
}

const PROJECT_FILE = "millrace.json";
const LOCK_FILE = "millrace.lock.json";
/** Keys that decide what a flow may reach; from a project file they count only when it is trusted. */
const POWER_KEYS = [
  "extensions",
  "shell",
  "files",
  "egress",
  "providers",
  "mcpServers",
  "models",
  "hubs",
  "server",
  "serve",
  "credentials",
];
const KNOWN_KEYS = new Set([...POWER_KEYS, "$schema", "flows", "history", "run", "ai"]);

/** Reads and merges what is there; `folder` is where the search for a project file starts. */
export async function loadConfig(
  options: ConfigOptions,
  io: CliIo,
  warn: (line: string) => void,
): Promise<Config> {
  const user = await readConfig(userFile(options.home, io));
  const project = await projectFile(options, io);
  for (const file of [user, project]) {
    for (const key of Object.keys(file?.values ?? {})) {
      if (!KNOWN_KEYS.has(key)) warn(`${file?.path}: unknown key "${clean(key)}" has no effect`);
    }
  }
  const descriptors = project === undefined ? [] : await readDescriptors(dirname(project.path));
  if (project !== undefined) await checkTrust(project, descriptors, io);
  const own = await readDescriptors(dirname(userFile(options.home, io)));
  const merged: Values = merge(user?.values ?? {}, project?.values ?? {});
  const run: { readonly timeoutMs?: unknown; readonly graceMs?: unknown } = object(
    merged.run,
    "run",
  );
  const { env } = io;
  const files: { readonly root?: unknown } = object(merged.files, "files");
  const folder = project === undefined ? io.cwd : dirname(project.path);
  const filesRoot = typeof files.root === "string" ? resolve(folder, files.root) : undefined;
  return {
    run: {
      ...duration("timeoutMs", env.MILLRACE_RUN_TIMEOUT_MS ?? run.timeoutMs),
      ...duration("graceMs", env.MILLRACE_RUN_GRACE_MS ?? run.graceMs),
    },
    egress: object(merged.egress, "egress") as EgressPolicy,
    filesRoot,
    shell: readShell(merged.shell, { folder, filesRoot }),
    services: await toServices(own, descriptors),
    credentials: readCredentials(object(merged.credentials, "credentials"), options.home, io),
    ai: { providers: merged.providers, mcpServers: merged.mcpServers, ai: merged.ai },
    server: serverUrl(merged.server, io),
    folder,
    flows:
      project === undefined
        ? undefined
        : resolve(folder, typeof merged.flows === "string" ? merged.flows : "flows"),
  };
}

/**
 * The services that a flow in this folder would be checked against. They are data that nothing acts on here, so they need
 * no trust.
 */
export async function describedServices(
  options: ConfigOptions,
  io: CliIo,
): Promise<readonly ServiceDefinition[]> {
  const project = await projectFolder(options, io);
  return toServices(
    await readDescriptors(dirname(userFile(options.home, io))),
    project === undefined ? [] : await readDescriptors(project),
  );
}

/** Folder of the project file, trusted or not. */
export async function projectFolder(
  options: ConfigOptions,
  io: CliIo,
): Promise<string | undefined> {
  const project = await projectFile(options, io);
  return project === undefined ? undefined : dirname(project.path);
}

function projectFile({ folder, file }: ConfigOptions, io: CliIo): Promise<ConfigFile | undefined> {
  return file === undefined ? findProject(folder, io) : readConfig(resolve(io.cwd, file), true);
}

function serverUrl(value: unknown, { env }: CliIo): string {
  const { url = "" }: { readonly url?: unknown } = object(value, "server");
  const chosen = env.MILLRACE_SERVER_URL || url;
  if (typeof chosen !== "string") throw usage("server.url takes a URL");
  return chosen;
}

/** A length of time in milliseconds; 0 is none. Variables hold text. */
function duration<K extends "timeoutMs" | "graceMs">(
  key: K,
  value: unknown,
): { readonly [key in K]?: number } {
  if (value === undefined || value === "") return {};
  const ms = typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value;
  if (typeof ms !== "number" || !Number.isSafeInteger(ms) || ms < 0)
    throw usage(`run.${key} takes milliseconds as a whole number`);
  return (key === "timeoutMs" && ms === 0 ? {} : { [key]: ms }) as { readonly [key in K]?: number };
}

/** Objects merge by key, anything else replaces. */
function merge(weak: object, strong: object): Values {
  const result = new Map<string, unknown>(Object.entries(weak));
  for (const [key, value] of Object.entries(strong)) {
    const before = result.get(key);
    result.set(key, isObject(before) && isObject(value) ? merge(before, value) : value);
  }
  return Object.fromEntries(result);
}

function userFile(home: string | undefined, io: CliIo): string {
  const named = home ?? io.env.MILLRACE_HOME;
  if (named !== undefined) return join(resolve(io.cwd, named), "config.json");
  const folder =
    process.platform === "win32"
      ? (io.env.APPDATA ?? join(homedir(), "AppData", "Roaming"))
      : (io.env.XDG_CONFIG_HOME ?? join(io.env.HOME ?? homedir(), ".config"));
  return join(folder, "millrace", "config.json");
}

/** The nearest project file upward; the walk ends at a repository, the home directory or the root. */
async function findProject(folder: string, io: CliIo): Promise<ConfigFile | undefined> {
  const home = io.env.HOME ?? homedir();
  for (let at = folder; ; at = dirname(at)) {
    const found = await readConfig(join(at, PROJECT_FILE));
    if (found !== undefined) return found;
    const isTop = await readFile(join(at, ".git")).then(
      () => true,
      (error: NodeJS.ErrnoException) => error.code === "EISDIR",
    );
    if (isTop || at === home || at === dirname(at)) return undefined;
  }
}

async function readConfig(path: string, mustExist = false): Promise<ConfigFile | undefined> {
  let bytes: Uint8Array;
  try {
    bytes = await readFile(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!mustExist && (code === "ENOENT" || code === "ENOTDIR")) return undefined;
    throw usage(`cannot read ${path}: ${reason(error)}`);
  }
  let values: unknown;
  try {
    values = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    // The rest of the message quotes the file, which may hold what nobody should read in a log.
    const place = / at position \d+/.exec((error as Error).message)?.[0] ?? "";
    throw usage(`${path} is not JSON${place}`);
  }
  return { path, bytes, values: object(values, path) };
}

/** A descriptor says where a stored credential is sent, so it is as much a power as a key is. */
async function checkTrust(
  project: ConfigFile,
  descriptors: readonly DescriptorFile[],
  io: CliIo,
): Promise<void> {
  const powers = POWER_KEYS.filter((key) => Object.hasOwn(project.values, key));
  if (descriptors.length > 0) powers.push(SERVICES_FOLDER);
  if (powers.length === 0) return;
  const given = io.env.MILLRACE_TRUST_PROJECT;
  if (given === "1") return;
  const digest = await trustDigest(project, descriptors);
  if (given === digest) return;
  throw usage(
    `${project.path} is not trusted, and it sets ${powers.join(", ")}`,
    `read ${descriptors.length > 0 ? "them" : "it"}, then set MILLRACE_TRUST_PROJECT=${digest}`,
  );
}

/** `sha256:…` over the project file and, where they exist, its lock file and descriptors of services. */
async function trustDigest(
  { path, bytes }: ConfigFile,
  descriptors: readonly DescriptorFile[],
): Promise<string> {
  const hash = createHash("sha256").update(bytes);
  const lock = await readFile(join(dirname(path), LOCK_FILE)).catch(() => undefined);
  if (lock !== undefined) hash.update(lock);
  for (const each of descriptors) {
    // Digests, so that no byte can move from one file into the next.
    hash.update(createHash("sha256").update(each.bytes).digest());
  }
  return `sha256:${hash.digest("hex")}`;
}

function object(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (value === undefined) return {};
  if (isObject(value)) return value;
  throw usage(`${name} must be a JSON object`);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
