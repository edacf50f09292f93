/** The small tables of a store, one object each. */
import { createIdempotency, type Idempotency } from "./idempotency.ts";
import type { Reader } from "./reader.ts";
import { createSchedules, type Schedules } from "./schedules.ts";
import { createSettings, type SettingsTable } from "./settings.ts";
import { createTemplates, type Templates } from "./templates.ts";
import type { Writer } from "./writer.ts";

export interface Tables {
  readonly idempotency: Idempotency;
  readonly schedules: Schedules;
  readonly settings: SettingsTable;
  readonly templates: Templates;
}

export function createTables(
  reader: Reader,
  writer: Pick<Writer, "write">,
  now: () => number,
): Tables {
  return {
    idempotency: createIdempotency(writer, now),
    schedules: createSchedules(reader, writer),
    settings: createSettings(reader, writer),
    templates: createTemplates(reader, writer, now),
  };
}
