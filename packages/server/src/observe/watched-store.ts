/** The store as a server works with it: the same store, and what goes into its journal is seen. */
import { type Store, StoreError, type StoreJournal } from "@millrace/store";
import type { Metrics } from "../ports.ts";
import { over } from "./over.ts";
import type { RunWatch } from "./run-watch.ts";

/** A store that tells `watch` and `metrics` what its journal takes and refuses. */
export function watchedStore<S extends Store>(
  store: S,
  parts: { readonly watch: RunWatch; readonly metrics: Metrics; readonly isShared: boolean },
): S {
  const journal = watchedJournal(store.journal, parts);
  return over(store, { journal } as Partial<S>);
}

function watchedJournal(
  journal: StoreJournal,
  {
    watch,
    metrics,
    isShared,
  }: { readonly watch: RunWatch; readonly metrics: Metrics; readonly isShared: boolean },
): StoreJournal {
  return over(journal, {
    async append(runId, expectedSeq, events, options) {
      const startedAt = performance.now();
      try {
        await journal.append(runId, expectedSeq, events, options);
      } catch (error) {
        if (StoreError.isInstance(error) && error.code === "lease_lost") watch.fenced(runId);
        throw error;
      }
      metrics.committed((performance.now() - startedAt) / 1_000);
      watch.took(runId, events);
    },
    create(header, rows, options) {
      // Of several servers, the one that drives the run reads it first.
      if (!isShared) watch.learn(header);
      return journal.create(header, rows, options);
    },
    begin(header) {
      watch.learn(header);
      return journal.begin(header);
    },
    async load(runId, options) {
      const state = await journal.load(runId, options);
      if (state !== null && state.events.at(-1)?.kind !== "summary") watch.learn(state);
      return state;
    },
    async lease(runId, owner, ttlMs) {
      const lease = await journal.lease(runId, owner, ttlMs);
      watch.claimed(runId, lease !== null);
      return lease;
    },
    async release(runId, epoch) {
      await journal.release(runId, epoch);
      watch.released(runId);
    },
  });
}
