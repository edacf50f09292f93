/** Values that only this machine knows. Nothing here asks a server, and nothing waits for long. */

import type { Store } from "@millrace/store";
import { dataFolder } from "../../config/files.ts";
import type { CliIo } from "../../output/io.ts";
import type { Completer } from "../spec.ts";

/** Newest runs that are offered. */
const MAX_RUNS = 50;

/** Where values are looked for: `home` is the flag. */
export interface Asked {
  readonly home: string | undefined;
  readonly io: CliIo;
}

/** The values of a kind; empty where there are none. Rejects where they cannot be read. */
export const VALUES: {
  readonly [kind in Completer]: (asked: Asked) => Promise<readonly string[]>;
} = {
  run: stored(async ({ runs }) =>
    (await runs.list({ limit: MAX_RUNS })).items.map(({ runId }) => runId),
  ),
  template: stored(async ({ templates }) => (await templates.list()).map(({ slug }) => slug)),
  schedule: stored(async ({ schedules }) => (await schedules.list()).map(({ id }) => id)),
  webhook: stored(async ({ webhooks }) => (await webhooks.list()).map(({ id }) => id)),
  hub: stored(async ({ hubs }) => (await hubs.list()).map(({ id }) => id)),
  connection: stored(async ({ connections }) => (await connections.list()).map(({ slug }) => slug)),
  example: async () => (await import("../../scaffold/templates.ts")).templateNames(),
  "node-type": async () =>
    (await import("../../run/core-catalog.ts")).coreEntries().map(({ type }) => type),
  "config-key": async () =>
    (await import("../../config/limit-keys.ts")).ALL_KEYS.map(({ key }) => key),
  diagnostic: async () => Object.keys((await import("@millrace/dsl/explain")).DIAGNOSTICS),
  command: async () => [...(await import("@millrace/contracts/commands")).COMMANDS.keys()],
  shell: async () => ["bash", "zsh", "fish"],
};

/** Names in a store, read while another process may write; empty where there is no store. */
function stored(
  valuesOf: (store: Store) => Promise<readonly string[]>,
): (asked: Asked) => Promise<readonly string[]> {
  return async ({ home, io }) => {
    const { existsSync } = await import("node:fs");
    const { join } = await import("node:path");
    const dir = dataFolder(home, io);
    if (!existsSync(join(dir, "millrace.db"))) return [];
    const { openStore } = await import("@millrace/store");
    const store = await openStore({ dir, readonly: true });
    try {
      return await valuesOf(store);
    } finally {
      await store.close();
    }
  };
}
