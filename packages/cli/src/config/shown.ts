/** Values of configuration as they may be seen: a secret is said to be set, and never printed. */

import type { CliIo } from "../output/io.ts";
import { isRecord } from "./keys.ts";

/** Last parts of keys that hold a secret wherever they stand. */
const SECRET_NAME =
  /(?:secret|token|password|passwd|api[-_]?key|private[-_]?key|authorization|cookie)$/i;
/** Text that looks like a key of a service, whatever it is called. */
const SECRET_VALUE =
  /^(?:sk-|pk-|ghp_|gho_|github_pat_|glpat-|xox[abprs]-|AKIA|AIza|eyJ|Bearer |Basic )/;
const REFERENCE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/;

/** Whether a key is one that configuration does not keep. */
export function isSecretKey(key: string): boolean {
  return SECRET_NAME.test(key);
}

/** Whether text is a secret itself. */
export function isSecretValue(value: unknown): boolean {
  return typeof value === "string" && SECRET_VALUE.test(value);
}

/** The value with each secret in it replaced by whether it is set; a reference to a variable says which one. */
export function shownValue(key: string, value: unknown, io: CliIo): unknown {
  if (Array.isArray(value)) return value.map((each) => shownValue(key, each, io));
  if (isRecord(value)) {
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [name, shownValue(`${key}.${name}`, each, io)]),
    );
  }
  if (typeof value !== "string") return value;
  const variable = REFERENCE.exec(value)?.[1];
  if (variable !== undefined) return `${io.env[variable] ? "set" : "not set"} (${value})`;
  if (isSecretKey(key) || isSecretValue(value)) return value === "" ? "" : "set";
  return withoutPassword(value);
}

/** A URL without the user and the password in it. */
function withoutPassword(text: string): string {
  return text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/@\s]+@/i, "$1…@");
}
