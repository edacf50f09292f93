/**
 * Steps of the run: I2 (begin), I3 (machine), I9 (pauses), I13 (what may not begin any more); and the last event of a log:
 * I2 (its place), I3 (nothing open), I10 (sums), I15 (status and error), I19 (exit code).
 */
import { type CheckState, type NodeRecord, report } from "./check-state.ts";
import { exitCodeFor } from "./exit-codes.ts";
import { RESUME_REASON, RUN_MACHINE } from "./machines.ts";
import { NO_COUNTS } from "./sums.ts";
import type {
  ExecutionEvent,
  RunCancelling,
  RunPaused,
  RunResumed,
  RunStarted,
  Summary,
} from "./types.ts";

/** `run.started`, which begins every log but that of a run that never was. */
export function checkStarted(state: CheckState, e: RunStarted): void {
  if (state.started !== undefined) {
    report(state, e, "I2", "run.started comes twice");
    return;
  }
  state.started = e;
  state.run = "running";
}

/** `run.paused`, `run.resumed`, `run.cancelling`. An illegal step is taken as stated, so it is reported once. */
export function checkRunStep(state: CheckState, e: RunPaused | RunResumed | RunCancelling): void {
  const next = RUN_MACHINE[state.run][e.kind]?.[0];
  if (next === undefined) report(state, e, "I3", `${e.kind} while the run is ${state.run}`);
  switch (e.kind) {
    case "run.paused":
      checkPause(state, e);
      state.run = "paused";
      state.pauseReason = e.reason;
      state.expects = expectationOf(e);
      break;
    case "run.resumed":
      if (next !== undefined && RESUME_REASON[state.pauseReason ?? ""] !== e.reason) {
        report(state, e, "I3", `a pause for ${state.pauseReason} ends by ${e.reason}`);
      }
      state.run = "running";
      state.pauseReason = undefined;
      break;
    case "run.cancelling":
      state.run = "cancelling";
      state.pauseReason = undefined;
      state.cancelReason ??= e.reason;
      break;
  }
}

function expectationOf({ reason }: RunPaused): CheckState["expects"] {
  if (reason === "confirmation") return "answer";
  return reason === "interrupted" ? "recovery" : undefined;
}

function checkPause(state: CheckState, e: RunPaused): void {
  const open = Array.from(state.openConfirmations, ({ id }) => id).sort();
  if (open.length !== e.confirmations.length || open.some((id, i) => id !== e.confirmations[i])) {
    report(state, e, "I9", `run.paused lists other confirmations than the open ones: ${open}`);
  }
  if (e.reason !== "confirmation") return;
  if (open.length === 0)
    report(state, e, "I9", "the run pauses for a confirmation, and none is open");
  for (const node of state.openNodes) {
    if (isBusy(node)) {
      report(
        state,
        e,
        "I9",
        `the run pauses for a confirmation while ${node.path} is ${node.state}`,
      );
    }
  }
}

/** Whether a node can go on without an answer. One whose body is open is as busy as its body, but an `ai` node goes on by itself. */
function isBusy(node: NodeRecord): boolean {
  if (node.state === "waiting") return node.waitingOn !== "confirm";
  return !(node.state === "running" && node.openChildren > 0 && node.type !== "ai");
}

const NOTHING_BEGINS: ReadonlySet<string> = new Set(
  "node.started node.retrying confirm.requested llm.started tool.started".split(" "),
);

/** Rules that the state of the run sets for the next event, of any kind. */
export function checkOrder(state: CheckState, e: ExecutionEvent): void {
  const { kind } = e;
  if (state.run === "cancelling") {
    if (NOTHING_BEGINS.has(kind)) report(state, e, "I13", `${kind} after run.cancelling`);
  } else if (state.run === "paused") {
    const isNodeStep = kind.startsWith("node.");
    if (kind === "node.started" || (isNodeStep && state.pauseReason === "confirmation")) {
      report(state, e, "I13", `${kind} while the run is paused (${state.pauseReason})`);
    }
  }
  if (state.expects !== undefined) checkExpected(state, e, state.expects);
  else if (state.mustPause) checkPaused(state, e);
}

function checkExpected(state: CheckState, e: ExecutionEvent, expects: string): void {
  const { kind } = e;
  if (kind === "log" && e.node === undefined && expects !== "resume") return;
  if (expects === "answer" && kind === "confirm.resolved") {
    state.expects = "resume";
    return;
  }
  const isAnswerable = expects === "answer" && (kind === "run.cancelling" || kind === "summary");
  const isOver = expects !== "answer" && kind === "run.resumed";
  if (isAnswerable || isOver || kind === "summary") {
    state.expects = undefined;
    return;
  }
  report(state, e, "I9", `${kind} comes where the pause asks for ${NEXT[expects]}`);
  if (!kind.startsWith("node.")) state.expects = undefined;
}

const NEXT: Readonly<Record<string, string>> = {
  answer: "confirm.resolved or run.cancelling",
  resume: "run.resumed directly after the answer",
  recovery: "run.resumed",
};

function checkPaused(state: CheckState, e: ExecutionEvent): void {
  if (e.kind === "log" && e.node === undefined) return;
  state.mustPause = false;
  if (e.kind === "run.paused" || e.kind === "run.cancelling" || e.kind === "summary") return;
  report(
    state,
    e,
    "I9",
    `${e.kind} comes where only answers are waited for and the run must pause`,
  );
}

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
