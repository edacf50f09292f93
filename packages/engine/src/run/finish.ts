/** The end of a run: outputs, verdict, summary. */
import {
  EVENT_LIMITS,
  type Json,
  makeSummary,
  NO_USAGE,
  type RunEnd,
  type SummaryStatus,
  type ValueRef,
} from "@millrace/contracts";
import { sizeOf } from "../values.ts";
import { emitResumed, emitSummary } from "./emit-run.ts";
import type { Frame } from "./frame.ts";
import { skipExcluded } from "./only.ts";
import type { RunCore } from "./state.ts";

/** What of a view the engine has not counted. */
const NOTHING_ELSE = { failures: [], nodes: new Map() };

/** Sums of a run that has called no model. */
const NO_CALLS = { usage: NO_USAGE, costUsd: 0 };

/** Ends a run whose nodes have all ended. A pause has nothing left to hold back, and ends with it. */
export function finishRun(run: RunCore): void {
  skipExcluded(run);
  if (run.paused === "operator" && run.stop?.reason !== "run_cancelled") {
    run.paused = null;
    emitResumed(run, "operator");
  }
  run.state = "over";
  const { timers } = run.engine;
  timers.cancel(run.grace);
  timers.cancel(run.clock);
  run.grace = null;
  run.clock = null;
  const top = run.frames[0] as Frame;
  const status = statusOf(run, top);
  const end: RunEnd = {
    status,
    ts: run.now,
    ...(status === "succeeded" && outputsOf(run, top)),
    ...(saysError(run, status) && run.failure !== null && { error: run.failure }),
  };
  const { startedAt, counts, bodyCounts } = run;
  const cancelReason = run.stop?.cancel ?? null;
  const { usage, costUsd } = run.callsIfAny ?? NO_CALLS;
  const view = { ...NOTHING_ELSE, usage, costUsd, startedAt, counts, bodyCounts, cancelReason };
  run.summary = emitSummary(run, makeSummary(view, end));
}

/** A run that was cancelled by its own clock says which time was up. */
function saysError({ failure }: RunCore, status: SummaryStatus): boolean {
  return status === "failed" || (status === "cancelled" && failure?.code === "run_timeout");
}

function statusOf(run: RunCore, top: Frame): SummaryStatus {
  if (run.stop?.reason === "run_cancelled") return "cancelled";
  run.failure ??= top.outputFailure?.info ?? null;
  return run.failure === null ? "succeeded" : "failed";
}

/** Outputs in the order of the flow. The largest ones move beside the log until the rest fits a line. */
function outputsOf(
  run: RunCore,
  top: Frame,
): { outputs: { [name: string]: Json }; outputRefs?: { [name: string]: ValueRef } } {
  const made = top.outputs;
  if (made === null) return { outputs: {} };
  const entries = top.layout.outputs
    .filter(({ name }) => Object.hasOwn(made, name))
    .map(({ name }) => ({ name, value: made[name] ?? null, bytes: sizeOf(made[name] ?? null) }));
  let total = entries.reduce((sum, { bytes }) => sum + bytes, 0);
  const moved = new Set<string>();
  for (const { name, bytes } of [...entries].sort((a, b) => b.bytes - a.bytes)) {
    if (bytes <= EVENT_LIMITS.inlineBytes && total <= EVENT_LIMITS.outputsBytes) break;
    moved.add(name);
    total -= bytes;
  }
  const outputs = entries.filter(({ name }) => !moved.has(name));
  const record = Object.fromEntries(outputs.map(({ name, value }) => [name, value]));
  if (moved.size === 0) return { outputs: record };
  const refs = entries
    .filter(({ name }) => moved.has(name))
    .map(({ name, value }): [string, ValueRef] => [name, run.keepLarge(value)]);
  return { outputs: record, outputRefs: Object.fromEntries(refs) };
}
