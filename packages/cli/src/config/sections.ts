/** Keys with a form of their own: `credentials`, `egress`, `shell`, `extensions` and `mcpServers`. Usage errors name the place. */
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import type { JsonObject } from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import type { EgressPolicy, EgressRule, ShellPolicy } from "@millrace/engine";
import { CliError, usage } from "../errors.ts";
import type { CliIo } from "../output/io.ts";
import { clean } from "../output/text.ts";
import { dataFolder } from "./files.ts";
import { secretIn } from "./values.ts";

const STORES = ["os", "file", "memory"] as const;
const KEY_BYTES = 32; // AES-256

/** The store that the person chose, and where its files are. */
export interface CredentialsChoice {
  readonly store: (typeof STORES)[number];
  /** Data folder, absolute: the encrypted file, the locks, and the store. */
  readonly dir: string;
  /** Whether anything says which store; else it is the default. */
  readonly isChosen: boolean;
  /** Key of the encrypted file: that of MILLRACE_CREDENTIAL_KEY, else asked for when the file is opened. */
  readonly key: { readonly bytes: Uint8Array } | (() => Promise<{ readonly bytes: Uint8Array }>);
  /** Where the key is, for people. */
  readonly keyPlace: string;
}

/** Reads `{"store": "os"}`. `folder`: where paths of the configuration begin. Throws a usage error; the key itself is never in it. */
export function readCredentials(
  value: Readonly<Record<string, unknown>>,
  { home, folder }: { readonly home: string | undefined; readonly folder: string },
  io: CliIo,
): CredentialsChoice {
  const key = secretIn(io, "MILLRACE_CREDENTIAL_KEY");
  const {
    store: wanted = "os",
    key: reference,
    ...rest
  }: { readonly store?: unknown; readonly key?: unknown } = value;
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) throw usage(`credentials has store and key, and no "${unknown}"`);
  const store = STORES.find((each) => each === wanted);
  if (store === undefined) throw usage(`credentials.store takes ${STORES.join(", ")}`);
  if (reference !== undefined && !/^(?:env|file|command):./.test(String(reference))) {
    throw usage(
      "credentials.key takes env:NAME, file:PATH or command:WORDS, because it is a secret",
    );
  }
  const dir = dataFolder(home, io);
  const found = { store, dir, isChosen: value["store"] !== undefined };
  if (key) {
    const bytes = keyIn("MILLRACE_CREDENTIAL_KEY", key);
    return { ...found, key: { bytes }, keyPlace: "MILLRACE_CREDENTIAL_KEY" };
  }
  if (reference !== undefined) {
    const lazy = async (): Promise<{ readonly bytes: Uint8Array }> => {
      const { secretOf } = await import("./secret-reference.ts");
      const text = await secretOf("credentials.key", reference, { folder, io });
      return { bytes: keyIn("credentials.key", text) };
    };
    return { ...found, key: lazy, keyPlace: String(reference) };
  }
  const keyPlace = join(dir, "credentials.key");
  return { ...found, key: () => keyOfFolder(dir, keyPlace), keyPlace };
}

/** The key in `path`, made where there is none, unless the credentials in the folder were sealed with another one. */
async function keyOfFolder(dir: string, path: string): Promise<{ readonly bytes: Uint8Array }> {
  const { keyFile } = await import("@millrace/oauth/store/file");
  const bytes = await keyFile({ path, make: !existsSync(join(dir, "credentials.json")) });
  if (bytes !== undefined) return { bytes };
  throw new CliError(
    "unavailable",
    `give the key that it was made with: put it back into ${path}, set MILLRACE_CREDENTIAL_KEY, or let credentials.key name it`,
  );
}

/** 32 bytes as 64 hex digits or in base64, as `openssl rand -base64 32` makes them. */
function keyIn(place: string, text: string): Uint8Array {
  const bytes = Buffer.from(text, /^[0-9a-f]{64}$/i.test(text) ? "hex" : "base64");
  if (bytes.length === KEY_BYTES) return bytes;
  throw usage(
    `${place} takes ${KEY_BYTES} random bytes in base64: openssl rand -base64 32 makes them`,
  );
}

const FORMS = 'takes {"host": "api.example"}, with "port" for one port, or {"cidr": "10.0.0.0/8"}';

/** The policy that the key says. `"host": "127.0.0.1:7101"` is that host with that port. Throws a usage error with the place. */
export async function readEgress(value: Readonly<Record<string, unknown>>): Promise<EgressPolicy> {
  const { allow, deny, ...rest }: { readonly allow?: unknown; readonly deny?: unknown } = value;
  return {
    ...(rest as EgressPolicy),
    ...(allow !== undefined && { allow: await rulesOf(allow, "/egress/allow") }),
    ...(deny !== undefined && { deny: await rulesOf(deny, "/egress/deny") }),
  };
}

async function rulesOf(value: unknown, pointer: string): Promise<EgressRule[]> {
  if (!Array.isArray(value)) throw usage(`${pointer} takes a list`);
  if (value.length === 0) return [];
  // What parses hosts and ranges is part of the engine, and most projects name none.
  const { createEgressCheck } = await import("@millrace/engine/node");
  return value.map((each: unknown, at) => {
    const place = `${pointer}/${at}`;
    const rule = ruleOf(each, place);
    try {
      createEgressCheck({ allow: [rule] });
    } catch (error) {
      throw usage(clean(`${place} ${(error as Error).message}`));
    }
    return rule;
  });
}

function ruleOf(value: unknown, place: string): EgressRule {
  if (!isObject(value)) throw usage(`${place} ${FORMS}`);
  const { host, port, cidr, ...rest } = value as { readonly [name: string]: unknown };
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined)
    throw usage(clean(`${place}/${unknown} is not known; a rule ${FORMS}`));
  if (typeof cidr === "string" && host === undefined && port === undefined) return { cidr };
  if (typeof host !== "string" || cidr !== undefined) throw usage(`${place} ${FORMS}`);
  const [, name, number] = /^([^:]+|\[.*\]):(\d{1,5})$/.exec(host) ?? [];
  if (port === undefined && name !== undefined) {
    return {
      host: name.replace(/^\[(.*)\]$/, "$1"),
      port: portOf(Number(number), `${place}/host`),
    };
  }
  return { host, ...(port !== undefined && { port: portOf(port, `${place}/port`) }) };
}

function portOf(port: unknown, place: string): number {
  if (Number.isInteger(port) && (port as number) > 0 && (port as number) <= 65_535) {
    return port as number;
  }
  throw usage(`${place} takes a port from 1 to 65535`);
}

/**
 * The policy that the key says: `{"programs": {"git": "/usr/bin/git"}, "env": ["PATH"], "cwdRoot": "."}`. Programs run in
 * `cwdRoot`, taken from the folder of the configuration; default the folder of files, else that folder. A program is a
 * whole path, because a search would let a flow's folder decide what `git` is.
 */
export function readShell(
  value: unknown,
  at: { readonly folder: string; readonly filesRoot: string | undefined },
): ShellPolicy | undefined {
  if (value === undefined) return undefined;
  const { programs, env = [], cwdRoot, ...rest } = record(value, "shell");
  const [unknown] = Object.keys(rest);
  if (unknown !== undefined) {
    throw usage(`shell has programs, env and cwdRoot, and no "${clean(unknown)}"`);
  }
  return {
    programs: programsIn(programs),
    env: namesIn(env),
    cwdRoot: folderIn(cwdRoot, at),
  };
}

function programsIn(value: unknown): { readonly [name: string]: string } {
  const programs = Object.entries(record(value, "shell.programs"));
  for (const [name, path] of programs) {
    if (typeof path === "string" && isAbsolute(path)) continue;
    throw usage(`shell.programs: "${clean(name)}" takes the whole path of a program`);
  }
  return Object.fromEntries(programs) as { readonly [name: string]: string };
}

function namesIn(value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
  throw usage('shell.env takes a list of names of variables, such as ["PATH"]');
}

function folderIn(
  value: unknown,
  { folder, filesRoot }: { readonly folder: string; readonly filesRoot: string | undefined },
): string {
  if (value === undefined) return filesRoot ?? folder;
  if (typeof value === "string" && value !== "") return resolve(folder, value);
  throw usage("shell.cwdRoot takes a folder");
}

function record(value: unknown, name: string): { readonly [key: string]: unknown } {
  if (isObject(value)) {
    return value as { readonly [key: string]: unknown };
  }
  throw usage(`${name} must be a JSON object`);
}

/** Throws a usage error for a value of a key, such as `egress.allow`, that a start would refuse. */
export async function checkSection(key: string, value: unknown): Promise<void> {
  const [name = "", member, inner] = key.split(".");
  const whole = inner === undefined ? value : { [inner]: value };
  const section = member === undefined ? value : { [member]: whole };
  if (name === "egress") await readEgress(record(section, name));
  else if (name === "extensions") readExtensionList(section);
  else if (name === "shell") {
    const given = { programs: {}, ...record(section, name) };
    readShell(given, { folder: ".", filesRoot: undefined });
  }
}

export interface ExtensionsChoice {
  /** Packages, and folders of the project that begin with `./`. */
  readonly list: readonly string[];
  /** Configuration of adapters and providers by id. */
  readonly config: { readonly [id: string]: JsonObject };
}

/** Reads the key. Throws a usage error for what is no list of extensions. */
export function readExtensionList(value: unknown): ExtensionsChoice {
  if (value === undefined) return { list: [], config: {} };
  if (!Array.isArray(value)) throw usage("extensions takes a list of packages");
  const list: string[] = [];
  const config: { [id: string]: JsonObject } = {};
  for (const each of value as readonly unknown[]) {
    const { package: name, config: own = {} } = (isObject(each) ? each : { package: each }) as {
      readonly package: unknown;
      readonly config?: unknown;
    };
    if (typeof name !== "string" || name === "" || list.includes(name)) {
      throw usage('extensions takes packages once each, such as "@acme/millrace-weather"');
    }
    if (!isObject(own) || !Object.values(own).every(isObject)) {
      throw usage(`extensions: the configuration of ${name} takes an object for each adapter`);
    }
    list.push(name);
    Object.assign(config, own);
  }
  return { list, config };
}

/** The servers, with each `cwd` as a whole path. What is none is left as it is: it is refused where it is used. */
export function readMcpServers(servers: unknown, folder: string): unknown {
  if (!isObject(servers)) return servers;
  const placed = Object.entries(servers).map(([name, server]) => {
    const { cwd } = (isObject(server) ? server : {}) as { readonly cwd?: unknown };
    if (!isObject(server) || typeof cwd !== "string") return [name, server];
    return [name, { ...server, cwd: resolve(folder, cwd) }];
  });
  return Object.fromEntries(placed);
}
