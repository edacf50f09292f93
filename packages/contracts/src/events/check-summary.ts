/** The last word of a log: I2 (its place), I3 (nothing open), I10 (sums), I15 (status and error), I19 (exit code). */
import { type CheckState, report } from "./check-state.ts";
import { exitCodeFor } from "./exit-codes.ts";
import { RUN_MACHINE } from "./machines.ts";
import { NO_COUNTS } from "./sums.ts";
import type { Summary } from "./types.ts";

/** Sums of money are kept to this: they are added in one order and compared in the same. */
const COST_TOLERANCE = 1e-9;

/** The summary of a run that began. */
export function checkSummary(state: CheckState, e: Summary): void {
  const isParting = isPartingSummary(e);
  const before = state.violations.length;
  checkStatus(state, e, isParting);
  if (!isParting) checkError(state, e);
  const isSound = state.violations.length === before;
  const [open] = state.openNodes;
  if (!isParting && open !== undefined) {
    report(state, e, "I3", `the run ends, and ${open.path} is ${open.state}`);
  }
  // Sums of a log whose steps are in doubt say nothing more.
  if (state.violations.length === 0) checkSums(state, e, isParting);
  if (isSound) checkExitCode(state, e);
}

/** The only event of a run that never began. */
export function checkSoleSummary(state: CheckState, e: Summary): void {
  if (e.status === "succeeded") {
    report(state, e, "I2", "a run that never began has not succeeded");
    return;
  }
  checkError(state, e);
  if (state.violations.length > 0) return;
  checkSums(state, e, true);
  checkExitCode(state, e);
}

/** Ends a stream whose run goes on, is paused by a signal, or is gone with its process. It may leave things open. */
function isPartingSummary({ status, error }: Summary): boolean {
  if (error === undefined || error.node !== undefined) return false;
  if (status === "cancelled") return error.code === "paused";
  return (
    status === "failed" && (error.code === "confirmation_required" || error.code === "unavailable")
  );
}

function checkStatus(state: CheckState, e: Summary, isParting: boolean): void {
  if (e.status === "cancelled" && state.cancelReason === undefined && !isParting) {
    report(state, e, "I15", "the run is cancelled without run.cancelling");
  } else if (
    !isParting &&
    RUN_MACHINE[state.run].summary?.includes(e.status as "failed") !== true
  ) {
    report(state, e, "I2", `the run ends as ${e.status} while it is ${state.run}`);
  } else if (e.status === "succeeded" && state.firstFailure !== undefined) {
    report(state, e, "I15", `the run succeeded, and ${state.firstFailure} failed it`);
  } else if (e.status === "failed" && e.error?.node !== undefined) {
    if (e.error.node !== state.firstFailure) {
      const first = state.firstFailure ?? "no node";
      report(state, e, "I15", `${first} failed the run, not ${e.error.node}`);
    }
  }
}

function checkError(state: CheckState, e: Summary): void {
  const timedOut = e.status === "cancelled" && state.cancelReason === "timeout";
  const isDue = e.status === "failed" || e.status === "invalid" || timedOut;
  const mayBe = isDue || (e.status === "cancelled" && state.started === undefined);
  if (isDue && e.error === undefined) {
    report(state, e, "I15", `the run is ${e.status}, and the summary has no error`);
  } else if (!mayBe && e.error !== undefined) {
    report(state, e, "I15", `the run is ${e.status}, and the summary has an error`);
  }
}

function checkSums(state: CheckState, e: Summary, isPartial: boolean): void {
  const wrong = (what: string, value: unknown): void =>
    report(state, e, "I10", `${what} of the log: ${JSON.stringify(value)}`);
  if (!isSame(e.counts, state.counts)) wrong("counts", state.counts);
  if (!isSame(e.bodyCounts ?? NO_COUNTS, state.bodyCounts)) wrong("bodyCounts", state.bodyCounts);
  if (!isSame(e.usage, state.usage)) wrong("usage", state.usage);
  if (!isSameCost(e.costUsd, state.costUsd)) wrong("costUsd", state.costUsd);
  const durationMs = state.started === undefined ? 0 : e.ts - state.started.ts;
  if (e.durationMs !== durationMs) wrong("durationMs", durationMs);
  const nodeCount = state.started?.nodeCount ?? 0;
  const { succeeded, failed, skipped, cancelled } = e.counts;
  const sum = succeeded + failed + skipped + cancelled;
  if (isPartial ? sum > nodeCount : sum !== nodeCount) wrong("nodeCount", nodeCount);
}

function isSame(stated: object, counted: Record<string, number>): boolean {
  return Object.entries(counted).every(
    ([key, value]) => (stated as Record<string, unknown>)[key] === value,
  );
}

function isSameCost(stated: number | null, counted: number | null): boolean {
  if (stated === null || counted === null) return stated === counted;
  return Math.abs(stated - counted) <= COST_TOLERANCE;
}

function checkExitCode(state: CheckState, e: Summary): void {
  const due = exitCodeFor(e, state.cancelReason);
  const { status, exitCode } = e;
  // No event says by which signal a run that never began, or is only paused, was stopped.
  const isUntold = state.started === undefined || isPartingSummary(e);
  const isFree = status === "cancelled" && isUntold && CANCELLED.has(exitCode);
  if (exitCode === due || isFree) return;
  report(state, e, "I19", `the exit code is ${due}, not ${exitCode}`);
}

const CANCELLED: ReadonlySet<number> = new Set([124, 130, 143]);
