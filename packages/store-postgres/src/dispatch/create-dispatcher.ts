/** The dispatcher over a store that is open. */
import type { Dispatcher } from "@millrace/contracts";
import { checkOptions, type OptionNames } from "@millrace/contracts/options";
import type { SharedStore } from "@millrace/store";
import { PostgresDispatcher } from "./dispatcher.ts";
import type { CallParts, PostgresDispatcherOptions } from "./options.ts";

const CALLER = "createPostgresDispatcher";
const OPTIONS: OptionNames<PostgresDispatcherOptions> = { store: true, maxDrives: true, log: true };
const MAX_DRIVES = 10_000;

const partsOf = new WeakMap<SharedStore, CallParts>();

/** Lets dispatchers be made over a store. */
export function keepParts(store: SharedStore, parts: CallParts): void {
  partsOf.set(store, parts);
}

/**
 * The dispatcher of servers that share a store in PostgreSQL, and nothing else. It takes one connection more. Throws `TypeError` for
 * options that are wrong.
 */
export function createPostgresDispatcher(options: PostgresDispatcherOptions): Dispatcher {
  checkOptions(CALLER, options, OPTIONS);
  const { store, maxDrives = 64, log } = options;
  const parts = partsOf.get(store);
  if (parts === undefined) {
    throw new TypeError(`${CALLER}: "store" must be what openPostgresStore has opened`);
  }
  if (!Number.isInteger(maxDrives) || maxDrives < 1 || maxDrives > MAX_DRIVES) {
    throw new TypeError(`${CALLER}: "maxDrives" must be a whole number from 1 to ${MAX_DRIVES}`);
  }
  return new PostgresDispatcher(parts, { maxDrives, log });
}
