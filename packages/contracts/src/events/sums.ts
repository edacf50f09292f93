/** Totals of a run: ended nodes, model calls, tokens, cost. A total begins as a copy of one of these. */
import type { Counts, SummaryUsage, Usage } from "./types.ts";

/** The counts of a run in which no node has ended. */
export const NO_COUNTS: Counts = Object.freeze({
  succeeded: 0,
  failed: 0,
  skipped: 0,
  cancelled: 0,
});

/** The usage of a run without model calls: all six numbers are 0. */
export const NO_USAGE: SummaryUsage = Object.freeze({
  calls: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
});

/** Counts or usage while they grow. */
export type Growing<T> = { -readonly [K in keyof T]: T[K] };

/** Adds a closed model call. `costUsd` is null as soon as one price is unknown; a failed call without one cost nothing. */
export function addCall(
  sums: { readonly usage: Growing<SummaryUsage>; costUsd: number | null },
  { usage, costUsd = 0 }: { readonly usage?: Usage; readonly costUsd?: number | null },
): void {
  const sum = sums.usage;
  sum.calls += 1;
  if (usage !== undefined) {
    sum.inputTokens += usage.inputTokens;
    sum.outputTokens += usage.outputTokens;
    sum.cachedInputTokens += usage.cachedInputTokens ?? 0;
    sum.cacheWriteTokens += usage.cacheWriteTokens ?? 0;
    sum.reasoningTokens += usage.reasoningTokens ?? 0;
  }
  sums.costUsd = sums.costUsd === null || costUsd === null ? null : sums.costUsd + costUsd;
}
