/**
 * Asks the Secret Service whether an entry exists and whether it is locked, without reading its secret. The
 * native libraries say "absent" for both. @see Secret Service API Draft, "Service" and "Item"
 */
import { setTimeout as sleep } from "node:timers/promises";
import { credentialFailure, OTHER_STORE } from "../credential-failure.ts";
import { type Bus, BusError, withBus } from "./bus.ts";
import type { BusAddress } from "./bus-address.ts";
import type { BusCall, BusValue } from "./bus-message.ts";

/** Whether the service has an item: `locked` when it has none that is open. */
export type Presence = "open" | "locked" | "absent";

/** Where new items go. `none`: the user has no keyring yet. */
export type DefaultCollection = "open" | "locked" | "none";

/** Questions to the service, each over the connection that `withSecretService` holds. */
export interface SecretService {
  /** Whether there is an item with these attributes. */
  presence(attributes: Attributes): Promise<Presence>;
  /** The attributes of all items that have these attributes, and how many of them are locked. */
  search(attributes: Attributes): Promise<{ found: Attributes[]; lockedCount: number }>;
  defaultCollection(): Promise<DefaultCollection>;
}

export type Attributes = Readonly<Record<string, string>>;

/** A service on the same machine answers in milliseconds, also when the bus has to start it. */
const TIMEOUT_MS = 2_000;
/** How often, and after which pause, a question is asked again whose object was not there: half a second in all. */
const REPEATS = 5;
const REPEAT_AFTER_MS = 100;
const SERVICE = "org.freedesktop.secrets";
const SERVICE_PATH = "/org/freedesktop/secrets";
const NO_OBJECT = "/";
const INSTALL = `Install gnome-keyring or KWallet and log in to a desktop session; ${OTHER_STORE}`;

/** Connects to the service; throws `OAuthError` of kind `Credential`, reason `unavailable`, when there is none that answers. */
export async function withSecretService<T>(
  address: Exclude<BusAddress, { kind: "unknown" }>,
  work: (service: SecretService) => Promise<T>,
): Promise<T> {
  if (address.kind === "none") throw failure("this session has no message bus");
  try {
    return await withBus({ path: address.path, timeoutMs: TIMEOUT_MS }, (bus) =>
      work(serviceOn(patient(bus))),
    );
  } catch (error) {
    if (error instanceof BusError) throw failure(describe(error), error);
    throw error;
  }
}

/**
 * A bus whose calls are repeated while their object is not there: gnome-keyring takes a collection away for a moment when it
 * reads its file again.
 */
function patient(bus: Bus): Bus {
  return {
    async call(call) {
      for (let left = REPEATS; ; left--) {
        try {
          return await bus.call(call);
        } catch (error) {
          if (left === 0 || !isGone(error)) throw error;
          await sleep(REPEAT_AFTER_MS);
        }
      }
    },
  };
}

function isGone(error: unknown): boolean {
  return error instanceof BusError && /\.Unknown(Method|Object)$/.test(error.errorName);
}

function serviceOn(bus: Bus): SecretService {
  const items = async (attributes: Attributes) => {
    const [open, locked] = await bus.call(onService("SearchItems", "a{ss}", [attributes]));
    return { open: list(open), locked: list(locked) };
  };
  return {
    async presence(attributes) {
      const { open, locked } = await items(attributes);
      if (open.length > 0) return "open";
      return locked.length > 0 ? "locked" : "absent";
    },
    async search(attributes) {
      const { open, locked } = await items(attributes);
      const found: Attributes[] = [];
      for (const path of open) {
        const [pairs] = await bus.call(property(String(path), "Item", "Attributes"));
        found.push(Object.fromEntries(list(pairs).map(list) as [string, string][]));
      }
      return { found, lockedCount: locked.length };
    },
    async defaultCollection() {
      const [path] = await bus.call(onService("ReadAlias", "s", ["default"]));
      if (path === NO_OBJECT) return "none";
      const [isLocked] = await bus.call(property(String(path), "Collection", "Locked"));
      return isLocked === true ? "locked" : "open";
    },
  };
}

function onService(
  member: string,
  signature: BusCall["signature"],
  body: BusCall["body"],
): BusCall {
  const call = { destination: SERVICE, path: SERVICE_PATH, member, signature, body };
  return { ...call, interface: "org.freedesktop.Secret.Service" };
}

function property(path: string, of: "Item" | "Collection", name: string): BusCall {
  return {
    destination: SERVICE,
    path,
    interface: "org.freedesktop.DBus.Properties",
    member: "Get",
    signature: "ss",
    body: [`org.freedesktop.Secret.${of}`, name],
  };
}

function list(value: BusValue | undefined): readonly BusValue[] {
  if (!Array.isArray(value)) throw new BusError("broken");
  return value;
}

function describe({ reason, errorName }: BusError): string {
  switch (reason) {
    case "refused":
      return "cannot connect to the message bus of the session";
    case "silent":
      return `the message bus of the session did not answer within ${TIMEOUT_MS / 1000} s`;
    case "broken":
      return "the message bus of the session broke the connection off";
    case "error":
      return NOBODY.test(errorName)
        ? "no secret service runs in this session"
        : `the secret service refused to answer (${ERROR_NAME.exec(errorName)?.[0] ?? "no reason given"})`;
  }
}

/** Error names: no process owns the name of the service, and the bus cannot start one. */
const NOBODY = /\.(ServiceUnknown|NameHasNoOwner|Spawn\.\w+)$/;

/** The form of an error's name; anything else is not repeated. @see D-Bus Specification, "Valid Names" */
const ERROR_NAME = /^[\w.]{1,255}$/;

function failure(what: string, cause?: BusError): Error {
  return credentialFailure(what, INSTALL, { reason: "unavailable", cause });
}
