/**
 * The end of an interrupted run that nobody can take up: its flow no longer compiles, or is not the one it was. All that is
 * known of it is its log; what is open there is closed, and the run has failed. One that was being cancelled is cancelled.
 */
import {
  type ConfirmationView,
  type ErrorInfo,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  type LiveNode,
  makeSummary,
  type ResumeState,
  type RunView,
} from "@millrace/contracts";
import {
  interruptedCall,
  OPEN,
  type RecoveredRun,
  recoveredRun,
  TOOL_INTERRUPTED,
} from "./recovered-run.ts";

/** An event without what `Ending` adds to it. */
type Said = { readonly kind: ExecutionEvent["kind"]; readonly [key: string]: unknown };

/** The events that end a run which has not ended: they follow those of `state`. */
export function endingOf(
  state: ResumeState,
  { error, now }: { readonly error: ErrorInfo; readonly now: number },
): readonly ExecutionEvent[] {
  const recovered = recoveredRun(state);
  const ending = new Ending(state.runId, recovered, { error, now });
  if (recovered.view.seq > 0) ending.closeAll(state.graph);
  ending.summary();
  return ending.events;
}

class Ending {
  readonly events: ExecutionEvent[] = [];
  readonly #runId: string;
  readonly #recovered: RecoveredRun;
  readonly #view: RunView;
  readonly #error: ErrorInfo;
  readonly #ts: number;
  readonly #isCancelled: boolean;

  constructor(
    runId: string,
    recovered: RecoveredRun,
    { error, now }: { error: ErrorInfo; now: number },
  ) {
    this.#runId = runId;
    this.#recovered = recovered;
    this.#view = recovered.view;
    this.#error = error;
    this.#ts = Math.max(now, recovered.view.updatedAt);
    this.#isCancelled = recovered.view.state === "cancelling";
  }

  closeAll(graph: FlowGraph): void {
    if (!this.#isCancelled) this.#endPause();
    // While somebody else is at work: when only people are waited for, a run must pause.
    for (const { id } of this.#questions()) this.#withdraw(id);
    const open = [...this.#view.nodes.values()].filter(isOpen);
    open.sort((a, b) => depthOf(b) - depthOf(a)); // a body ends before the node that holds it
    for (const node of open) this.#closeNode(node);
    for (const { id } of graph.nodes) {
      if (this.#view.nodes.has(id)) continue;
      const place = { node: id, attempt: 1 };
      if (this.#isCancelled)
        this.#say({ kind: "node.cancelled", ...place, reason: "run_cancelled" });
      else this.#say({ kind: "node.skipped", ...place, why: "run_ended" });
    }
  }

  summary(): void {
    const status = this.#isCancelled ? "cancelled" : "failed";
    const end = {
      status,
      ts: this.#ts,
      ...(!this.#isCancelled && { error: this.#error }),
    } as const;
    this.#say({ kind: "summary", ...makeSummary(this.#view, end) });
  }

  /** Nothing of a node ends while the run is paused; a pause for a confirmation ends by the end of a question. */
  #endPause(): void {
    const reason = this.#view.paused?.reason;
    if (reason === "operator") this.#resume("operator");
    else if (reason === "interrupted") this.#resume("recovered");
    const { answeredBy } = this.#recovered;
    if (answeredBy !== null) this.#resume("confirmation", answeredBy);
    for (;;) {
      const questions = this.#questions().map(({ id }) => id);
      const [first] = questions;
      if (first === undefined) return;
      if (this.#view.paused === null) {
        const open = [...this.#view.nodes.values()].filter(isOpen);
        if (!open.every(isWaitingForPeople)) return;
        this.#say({ kind: "run.paused", reason: "confirmation", confirmations: questions.sort() });
      }
      this.#withdraw(first);
      this.#resume("confirmation", first);
    }
  }

  #resume(reason: string, by?: string): void {
    this.#say({ kind: "run.resumed", reason, ...(by !== undefined && { by }) });
  }

  #questions(): readonly ConfirmationView[] {
    return [...this.#view.confirmations.values()].filter(({ state }) => state === "requested");
  }

  #withdraw(id: string): void {
    const question = this.#view.confirmations.get(id);
    if (question === undefined) return;
    const { node, attempt } = question;
    this.#say({ kind: "confirm.resolved", node, attempt, id, outcome: "cancelled" });
  }

  #closeNode({ node, attempt, state, startedAt = this.#ts }: LiveNode): void {
    const place = { node, attempt };
    const calls = this.#recovered.openCalls.get(node) ?? [];
    const isAwake = state === "running" || calls.length > 0;
    if (isAwake && state === "waiting") this.#say({ kind: "node.resumed", ...place });
    for (const call of calls) {
      const durationMs = this.#ts - call.startedAt;
      const { kind, ...end } = interruptedCall(call, { message: TOOL_INTERRUPTED, durationMs });
      this.#say({ kind, ...place, ...end });
    }
    if (this.#isCancelled || !isAwake) {
      const reason = this.#isCancelled ? "run_cancelled" : "run_failed";
      this.#say({ kind: "node.cancelled", ...place, reason });
    } else {
      const routed = node.includes("/") ? "parent" : "none";
      const durationMs = this.#ts - startedAt;
      this.#say({ kind: "node.failed", ...place, error: this.#error, routed, durationMs });
    }
  }

  #say(said: Said): void {
    const head = {
      v: 1,
      kind: said.kind,
      runId: this.#runId,
      seq: this.#view.seq + 1,
      ts: this.#ts,
    };
    const event = { ...head, ...said } as unknown as ExecutionEvent;
    this.events.push(event);
    foldEvents(this.#view, event);
  }
}

function isOpen({ state }: LiveNode): boolean {
  return OPEN.has(state);
}

function isWaitingForPeople({ state, waitingOn }: LiveNode): boolean {
  return state === "waiting" && waitingOn === "confirm";
}

function depthOf({ node }: LiveNode): number {
  return node.split("/").length;
}
