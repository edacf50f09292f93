/** Values of configuration from several sources as one. */
import { resolve } from "node:path";
import { isObject } from "@millrace/contracts/kit";
import { secretVariable } from "@millrace/providers/secret-variables";
import { usage } from "../errors.ts";
import type { CliIo, Surroundings } from "../output/io.ts";
import { CONFIG_KEYS, type ConfigKey, variablesOf } from "./keys.ts";

type Values = Readonly<Record<string, unknown>>;

/** Objects merge by key, anything else replaces. */
export function merge(weak: Values, strong: Values): Values {
  const result = new Map<string, unknown>(Object.entries(weak));
  for (const [key, value] of Object.entries(strong)) {
    const before = result.get(key);
    result.set(key, isObject(before) && isObject(value) ? merge(before, value) : value);
  }
  return Object.fromEntries(result);
}

/** The value at a path, or undefined. */
export function valueAt(values: Values, key: string): unknown {
  let at: unknown = values;
  for (const part of key.split(".")) {
    if (!isObject(at) || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at;
}

/** The same values with one more, or with one less where it is undefined. Objects that become empty go. */
export function withValue(values: Values, key: string, value: unknown): Values {
  const [first = "", ...rest] = key.split(".");
  const result = new Map(Object.entries(values));
  const before = result.get(first);
  const inner =
    rest.length === 0 ? value : withValue(isObject(before) ? before : {}, rest.join("."), value);
  const isGone =
    inner === undefined ||
    (value === undefined && isObject(inner) && Object.keys(inner).length === 0);
  if (isGone) result.delete(first);
  else result.set(first, inner);
  return Object.fromEntries(result);
}

/** Kubernetes tells each pod of a Service `millrace` where that is: `MILLRACE_PORT=tcp://10.0.0.1:80`. */
const SERVICE_LINK = /^(?:tcp|udp|sctp):\/\//;

/** The variable that replaces a key here, if one is set; an empty one counts as absent. */
export function variableFor({ key }: ConfigKey, { env }: CliIo): string | undefined {
  const isSet = (text = "") => text !== "" && !(key === "serve.port" && SERVICE_LINK.test(text));
  return variablesOf(key).find((name) => isSet(env[name]));
}

/** Values of environment variables. Text that is not valid for its key is kept as it is: the reader of the key reports it. */
export function fromEnvironment(io: CliIo, keys: readonly ConfigKey[] = CONFIG_KEYS): Values {
  let values: Values = {};
  for (const each of keys) {
    const name = variableFor(each, io);
    if (name !== undefined)
      values = withValue(values, each.key, toValue(each, io.env[name] as string, io));
  }
  return values;
}

/** Text of a command line or of a variable as a value of its key; a switch is also 0 or 1, as the server reads it. */
export function toValue({ type }: ConfigKey, text: string, io: CliIo): unknown {
  if (type === "text") return text;
  if (type === "switch" && /^[01]$/.test(text)) return text === "1";
  if (type === "path") return resolve(io.cwd, text);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The secret of a variable or of the file that `NAME_FILE` names. Throws a usage error for a file that cannot be read. */
export function secretIn({ env }: Surroundings, name: string): string | undefined {
  try {
    return secretVariable(env, name);
  } catch (error) {
    throw usage((error as Error).message);
  }
}

/** Last parts of keys whose values are secret in any section. */
const SECRET_NAME =
  /(?:secret|token|password|passwd|api[-_]?key|private[-_]?key|authorization|cookie)$/i;
/** Text that looks like a key of a service, whatever it is called. */
const SECRET_VALUE =
  /^(?:sk-|pk-|ghp_|gho_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ|Bearer |Basic )/;
const REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/;

/** Whether a key may not be stored in configuration. */
export function isSecretKey(key: string): boolean {
  return SECRET_NAME.test(key);
}

/** Whether a value is text that begins as known keys and tokens do. False for anything that is no text. */
export function isSecretValue(value: unknown): boolean {
  return typeof value === "string" && SECRET_VALUE.test(value);
}

/** The value with each secret in it replaced by whether it is set; a reference to a variable says which one. */
export function shownValue(key: string, value: unknown, io: CliIo): unknown {
  if (Array.isArray(value)) return value.map((each) => shownValue(key, each, io));
  if (isObject(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, shownValue(`${key}.${name}`, each, io)]),
    );
  }
  if (typeof value !== "string") return value;
  const variable = REFERENCE.exec(value)?.[1];
  if (variable !== undefined) {
    const isSet = io.env[variable] || io.env[`${variable}_FILE`];
    return `${isSet ? "set" : "not set"} (${value})`;
  }
  if (isSecretKey(key) || isSecretValue(value)) return value === "" ? "" : "set";
  return value.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/i, "$1…@"); // user and password of a URL
}
