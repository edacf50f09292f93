/** The small tables of a store, one object each. */

import type { Reader } from "../sqlite/reader.ts";
import type { Writer } from "../writer/writer.ts";
import { type Connections, createConnections } from "./connections.ts";
import { createHubs, type Hubs } from "./hubs.ts";
import { createIdempotency, type Idempotency } from "./idempotency.ts";
import { createSchedules, type Schedules } from "./schedules.ts";
import { createSettings, type SettingsTable } from "./settings.ts";
import { createTemplates, type Templates } from "./templates.ts";
import { createWebhooks, type Webhooks } from "./webhooks.ts";

/** The tables of a store besides runs. */
export interface Tables {
  readonly connections: Connections;
  readonly hubs: Hubs;
  readonly idempotency: Idempotency;
  readonly schedules: Schedules;
  readonly settings: SettingsTable;
  readonly templates: Templates;
  readonly webhooks: Webhooks;
}

export function createTables(
  reader: Reader,
  writer: Pick<Writer, "write">,
  now: () => number,
): Tables {
  return {
    connections: createConnections(reader, writer),
    hubs: createHubs(reader, writer),
    idempotency: createIdempotency(reader, writer, now),
    schedules: createSchedules(reader, writer),
    settings: createSettings(reader, writer),
    templates: createTemplates(reader, writer, now),
    webhooks: createWebhooks(reader, writer),
  };
}
