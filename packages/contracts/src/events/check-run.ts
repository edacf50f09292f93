/** Steps of the run: I2 (begin), I3 (machine), I9 (pauses), I13 (what may not begin any more). */
import { type CheckState, type NodeRecord, report } from "./check-state.ts";
import { RESUME_REASON, RUN_MACHINE } from "./machines.ts";
import type { ExecutionEvent, RunCancelling, RunPaused, RunResumed, RunStarted } from "./types.ts";

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

const NOTHING_BEGINS: ReadonlySet<string> = new Set([
  "node.started",
  "node.retrying",
  "confirm.requested",
  "llm.started",
  "tool.started",
]);

/** What the state of the run forbids or asks of the next event, whatever its kind. */
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
