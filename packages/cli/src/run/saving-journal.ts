/** The store of this installation as the place where a run is kept, with the wishes that a resume must know again. */

import type {
  CancelOptions,
  Journal,
  Json,
  RunHeaderOptions,
  RunSignal,
} from "@millrace/contracts";
import type { Run } from "@millrace/engine";
import { type Connections, openStore, type Vars } from "@millrace/store";
import type { Config } from "../config/load.ts";

export interface SavingJournal {
  readonly journal: Journal;
  readonly connections: Connections;
  /** Does what other processes ask of a run of this one, until the signal. */
  obey(run: Run, signal: AbortSignal): Promise<void>;
  readonly vars: Vars;
  /** Key of the digests of prompts, the same for every run of this installation. */
  auditKey(): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** Opens the store for writing; other processes may have it open, too. */
export async function openSaving(
  config: Config,
  options: RunHeaderOptions,
): Promise<SavingJournal> {
  const { dir } = config.credentials;
  const store = await openStore({
    dir,
    busyTimeoutMs: config.busyTimeoutMs,
    keepsContent: async () => (await store.settings.all())["ai.keepContent"] !== false,
  });
  return {
    connections: store.connections,
    vars: store.vars,
    journal: {
      ...store.journal,
      create: (header) =>
        store.journal.create({ ...header, options: { ...header.options, ...options } }),
    },
    async obey(run, signal) {
      const { inbox } = store;
      await inbox?.obeyUntil(signal, {
        runId: run.id,
        isNew: true,
        async obey() {
          for (const { id, message } of await inbox.pending(run.id)) {
            const answer = await answerOf(run, message as unknown as DriverRequest);
            await inbox.answer({ id, runId: run.id }, answer);
          }
        },
      });
    },
    async auditKey() {
      const { loadAuditKey } = await import("@millrace/providers");
      return loadAuditKey(dir);
    },
    close: () => store.close(),
  };
}

/** Request to a run by a command of another process, in the form that a server uses for its own runs. */
type DriverRequest = { readonly signal: RunSignal } | { readonly cancel: CancelOptions };

/** The answer of a run to a request. Refusals are reported as by a server. */
async function answerOf(run: Run, request: DriverRequest): Promise<Json> {
  if ("cancel" in request) {
    return run.cancel(request.cancel) ? null : { refused: { code: "state_conflict" } };
  }
  const { signal } = request;
  if (signal.kind === "confirm") {
    const { kind: _kind, id, ...given } = signal;
    return JSON.parse(JSON.stringify(await run.confirm(id, given)));
  }
  const isDone = signal.kind === "pause" ? run.pause() : run.resume();
  return isDone ? { ok: true } : { ok: false, code: "state_conflict" };
}
