/** Describes the credential store of the system without reading or writing an entry. */

import { resolve } from "node:path";
import { checkNames } from "../../options.ts";
import { BACKEND_NAMES } from "./backend.ts";
import { sessionBusAddress } from "./bus-address.ts";
import { type BackendName, HelperProcess, type Loaded } from "./helper-process.ts";
import { hasSecretService, helperBesideUs } from "./os-store.ts";
import { withSecretService } from "./secret-service.ts";

/** One library: whether it can be loaded, and whether the store behind it can be used. */
export interface CredentialBackend {
  readonly name: BackendName;
  readonly importable: boolean;
  /** `unavailable`: no entry can be read or written, and `detail` says why. */
  readonly state: "ok" | "locked" | "unavailable";
  /** A sentence for people. */
  readonly detail: string;
}

interface State {
  readonly state: CredentialBackend["state"];
  readonly detail: string;
}

const TIMEOUT_MS = 3_000; // a person at a terminal waits for the answer

/**
 * The state of each library, the preferred one first:
 * `[{ name: "keytar", importable: true, state: "locked", detail: "the keyring is locked" }, …]`. It never throws, never asks the
 * user for anything, and leaves no process behind. The options are those of `osCredentialStore`.
 */
export async function describeCredentialBackends(
  options: { readonly resolveFrom?: string; readonly helperUrl?: URL } = {},
): Promise<CredentialBackend[]> {
  checkNames("describeCredentialBackends", options, ["resolveFrom", "helperUrl"]);
  const [loaded, service] = await Promise.all([load(options), serviceState()]);
  return BACKEND_NAMES.map((name) => {
    const problem = typeof loaded === "string" ? loaded : loaded[name];
    if (problem === null) return { name, importable: true, ...service };
    return { name, importable: false, state: "unavailable", detail: problem ?? "not installed" };
  });
}

/** The libraries that could be loaded, or the reason why this is unknown. */
async function load(options: { resolveFrom?: string; helperUrl?: URL }): Promise<Loaded | string> {
  const { resolveFrom, helperUrl = helperBesideUs() } = options;
  const helper = new HelperProcess({
    script: helperUrl,
    timeoutMs: TIMEOUT_MS,
    resolveFrom: resolveFrom && resolve(resolveFrom),
  });
  try {
    return await helper.loaded();
  } catch (error) {
    return (error as Error).message;
  } finally {
    await helper.close();
  }
}

/**
 * Whether this system has a store of credentials at all: a Linux without a session bus, such as a server, has none. Starts nothing and
 * asks nobody; whether a library can be loaded is left open.
 */
export async function hasCredentialService(): Promise<boolean> {
  return (await serviceState()).state !== "unavailable";
}

async function serviceState(): Promise<State> {
  if (!hasSecretService()) return { state: "ok", detail: "can be used" };
  const address = sessionBusAddress(process.env);
  if (address.kind === "unknown") {
    return { state: "ok", detail: "the address of the session bus was not understood, nor tried" };
  }
  try {
    return STATES[await withSecretService(address, (service) => service.defaultCollection())];
  } catch (error) {
    return { state: "unavailable", detail: (error as Error).message };
  }
}

const STATES: Readonly<Record<"open" | "locked" | "none", State>> = {
  open: { state: "ok", detail: "the keyring is unlocked" },
  locked: { state: "locked", detail: "the keyring is locked" },
  none: { state: "unavailable", detail: "there is no keyring; logging in to a desktop makes one" },
};
