/** Values that only this machine knows. Nothing here asks a server, and nothing waits for long. */
import type { CommandIo, Completer } from "../command.ts";
import { dataFolder } from "../config/folders.ts";

/** Newest runs that are offered. */
const MAX_RUNS = 50;

/** The values of a kind; empty where there are none or they cannot be read. */
export const VALUES: {
  readonly [kind in Completer]: (io: CommandIo) => Promise<readonly string[]>;
} = {
  run: async (io) => {
    const store = await openStored(io);
    if (store === undefined) return [];
    try {
      return store.runs.list({ limit: MAX_RUNS }).items.map(({ runId }) => runId);
    } finally {
      await store.close();
    }
  },
  template: async (io) => {
    const store = await openStored(io);
    if (store === undefined) return [];
    try {
      return store.templates.list().map(({ slug }) => slug);
    } finally {
      await store.close();
    }
  },
  example: async () => (await import("../scaffold/templates.ts")).templateNames(),
  "node-type": async () =>
    (await import("../core-catalog.ts")).coreEntries().map(({ type }) => type),
  "config-key": async () => (await import("../config/keys.ts")).CONFIG_KEYS.map(({ key }) => key),
  connection: async (io) => {
    const { readFile } = await import("node:fs/promises");
    const { join } = await import("node:path");
    const rows: unknown = JSON.parse(
      await readFile(join(dataFolder(undefined, io), "connections.json"), "utf8"),
    );
    return (rows as readonly { readonly slug: string }[]).map(({ slug }) => slug);
  },
  diagnostic: async () => Object.keys((await import("@millrace/dsl/explain")).DIAGNOSTICS),
  command: async () => [...(await import("@millrace/contracts/commands")).COMMANDS.keys()],
  shell: async () => ["bash", "zsh", "fish"],
};

/** The store beside whoever writes it; undefined where there is none. */
async function openStored(io: CommandIo) {
  const { existsSync } = await import("node:fs");
  const { join } = await import("node:path");
  const dir = dataFolder(undefined, io);
  if (!existsSync(join(dir, "millrace.db"))) return undefined;
  const { openStore } = await import("@millrace/store");
  return openStore({ dir, readonly: true });
}
