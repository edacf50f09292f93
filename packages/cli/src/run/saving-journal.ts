/** The store of this installation as the place where a run is kept, with the wishes that a resume must know again. */

import type { Journal, RunHeaderOptions } from "@millrace/contracts";
import { type Connections, openStore } from "@millrace/store";
import type { Config } from "../config/load.ts";

export interface SavingJournal {
  readonly journal: Journal;
  /** What is known of connections; nobody else can write it now. */
  readonly connections: Connections;
  /** Key of the digests of prompts, the same for every run of this installation. */
  auditKey(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Opens the store for writing. Throws `unavailable`, naming whoever holds it. */
export async function openSaving(
  config: Config,
  options: RunHeaderOptions,
): Promise<SavingJournal> {
  const { dir } = config.credentials;
  const store = await openStore({
    dir,
    keepsContent: async () => (await store.settings.all())["ai.keepContent"] !== false,
  });
  return {
    connections: store.connections,
    journal: {
      ...store.journal,
      create: (header) => store.journal.create({ ...header, options }),
    },
    async auditKey() {
      const { loadAuditKey } = await import("@millrace/providers");
      return loadAuditKey(dir);
    },
    close: () => store.close(),
  };
}
