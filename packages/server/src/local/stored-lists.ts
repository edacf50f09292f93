/**
 * Lists that the store answers alone: what `openLocal` answers of them, without the engine, the services and the checks around it.
 *   S1  Answers and what is refused are those of `openLocal`: whatever may go wrong is left to it.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { CommandName, CommandResult } from "@millrace/contracts";
import { openMemoryStore, openStore, type Store, StoreError } from "@millrace/store";
import { type ConnectionRecord, storedConnectionRecords } from "../connections/records.ts";
import type { PageArgs } from "../dispatch/pages.ts";
import { listHubs } from "../hubs/list-hubs.ts";
import { listSchedules } from "../schedules/read-schedule.ts";
import { listTemplates } from "../templates/list-templates.ts";
import { listWebhooks } from "../webhooks/stored-webhook.ts";

const LISTS: {
  readonly [N in CommandName]?: (store: Store, page: PageArgs) => Promise<CommandResult<N>>;
} = {
  list_runs: ({ runs }, page) => runs.list(page),
  list_templates: listTemplates,
  list_schedules: listSchedules,
  list_webhooks: listWebhooks,
  list_hubs: listHubs,
};

/** As the commands have it. */
const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 200;

/**
 * The first page of a list of the store in `dir`, read beside the process that writes; where there is no store yet, of an empty one.
 * Undefined for any other command, for arguments beside `limit`, which want checks, and where the store cannot be read.
 */
export async function readStoredList<N extends CommandName>(
  dir: string,
  command: N,
  args: object,
): Promise<CommandResult<N> | undefined> {
  const list = LISTS[command];
  const { limit = DEFAULT_LIMIT, ...more } = args as { readonly limit?: number };
  const isPlain = Object.keys(more).length === 0 && Number.isInteger(limit);
  if (list === undefined || !isPlain || limit < 1 || limit > MAX_LIMIT || dir === "memory") return;
  const page = await reading(dir, (store) => list(store, { limit }));
  return page && JSON.parse(JSON.stringify(page)); // as it would have come over the wire
}

/** The records of the connections of the store in `dir`; undefined where it cannot be read. */
export function readStoredConnections(
  dir: string,
): Promise<readonly ConnectionRecord[] | undefined> {
  return reading(dir, ({ connections }) => storedConnectionRecords(connections).list());
}

/** Reads the store in `dir`, or an empty one where there is none yet. Undefined where it cannot be read. */
async function reading<T>(dir: string, work: (store: Store) => Promise<T>): Promise<T | undefined> {
  try {
    const store = existsSync(join(dir, "millrace.db"))
      ? await openStore({ dir, readonly: true })
      : openMemoryStore();
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (StoreError.isInstance(error)) return undefined;
    throw error;
  }
}
