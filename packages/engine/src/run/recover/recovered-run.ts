/**
 * An interrupted run as its log leaves it: the view that `foldEvents` makes, and beside it what no display needs: outputs, questions
 * with their answers, interruptions, the order of ends. Nothing is executed to make it.
 */
import {
  type CallView,
  type ConfirmAnswer,
  type ConfirmRequested,
  type ConfirmResolved,
  createView,
  type DeltaChannel,
  type ErrorInfo,
  type ExecutionEvent,
  foldEvents,
  type Json,
  type LiveNode,
  type LlmFailed,
  type NodeFailed,
  type NodeStarted,
  type NodeSucceeded,
  parseEvent,
  type ResumeState,
  type RunView,
  type ToolFinished,
} from "@millrace/contracts";
import {
  CANCELLED,
  DEFAULTED,
  FAILED,
  isTerminal,
  RETRYING,
  ROUTED,
  RUNNING,
  SKIPPED,
  SUCCEEDED,
  WAITING,
} from "../frame.ts";

const utf8 = new TextDecoder();

/** A question of a node, in the order in which its body asked. */
export interface RecoveredQuestion {
  readonly asked: ConfirmRequested;
  /** Null: still open. */
  answer: ConfirmAnswer | null;
  /** The body has had the answer: its node worked again after all that it had asked was answered. */
  given: boolean;
  /** Answer for the body that asked, once the question is open again. */
  reply: Promise<ConfirmAnswer> | null;
}

/** One node as its log leaves it. */
export interface RecoveredNode {
  /** Digest of the fields with which it started last. */
  inputs: string | null;
  /** First attempt of the present try; an interruption continues it. */
  tryFrom: number;
  firstStartedAt: number;
  /** Attempts that were interrupted; they do not count against `retry.max`. */
  interruptions: number;
  output: Json;
  /** Reference of an output that is not on the event. */
  ref: string | null;
  questions: readonly RecoveredQuestion[];
  /** Position of its end among all ends. */
  order: number;
  state: number;
  attempt: number;
  readonly startedAt: number;
  readonly waitsFor: string | null;
  /** When a parked timer or a retry is due. */
  readonly due: number;
  readonly port: string;
  readonly error: ErrorInfo | null;
  readonly progress: number;
  /** Its result was not made in this run. */
  readonly cached: boolean;
}

const NO_QUESTIONS: readonly RecoveredQuestion[] = [];

/** A node while its log is read: at the end it takes over what the view says of it. */
class ReadNode implements RecoveredNode {
  live: LiveNode | undefined = undefined;
  inputs: string | null = null;
  tryFrom = 1;
  firstStartedAt = 0;
  interruptions = 0;
  output: Json = null;
  ref: string | null = null;
  questions: readonly RecoveredQuestion[] = NO_QUESTIONS;
  order = -1;
  state = RUNNING;
  attempt = 0;
  startedAt = 0;
  waitsFor: string | null = null;
  due = 0;
  port = "out";
  error: ErrorInfo | null = null;
  progress = 0;
  cached = false;

  finish(live: LiveNode): void {
    const { state, routed = "none", attempt, startedAt } = live;
    this.state = (state === "failed" ? STATES_BY_ROUTE[routed] : STATES[state]) ?? RUNNING;
    this.attempt = startedAt === undefined ? 0 : attempt;
    this.startedAt = startedAt ?? 0;
    this.waitsFor = live.waitingOn ?? null;
    this.due = dueOf(live);
    this.port = live.ports?.[0] ?? "out";
    this.error = live.error ?? null;
    this.progress = live.progress?.done ?? 0;
    this.cached = live.cached === true;
    this.live = undefined;
  }
}

/** A call that was open when the process died. */
export interface RecoveredCall extends Pick<CallView, "call" | "kind" | "startedAt"> {
  /** Units of its deltas, by channel. */
  readonly lengths: { [C in DeltaChannel]?: number };
}

/** The last event of a call that was open when the process died, without its place in the log. */
type InterruptedCall =
  | Pick<LlmFailed, "kind" | "call" | "reason" | "discarded" | "next">
  | Pick<ToolFinished, "kind" | "call" | "outcome" | "error" | "durationMs">;

/** Message of a tool call that was interrupted while its node goes on, or ends. */
export const TOOL_INTERRUPTED = "the process ended while the tool was at work";

/** An interrupted run. */
export interface RecoveredRun {
  readonly nodes: ReadonlyMap<string, RecoveredNode>;
  readonly view: RunView;
  /** Milliseconds in which its clock ran. */
  readonly usedMs: number;
  /** Recoveries since a node last ended that had something to do. */
  readonly recoveries: number;
  readonly confirmationCount: number;
  /** The answer that ended a pause, when the log ends before it says so. */
  readonly answeredBy: string | null;
  /** Nothing of it was at work: it waited for times, and for people besides. */
  readonly isAsleep: boolean;
  /** It began with results of another run. */
  readonly isRerun: boolean;
  readonly steps: { readonly [key: string]: Json };
  readonly executions: number;
  /** Ids of all its calls. */
  readonly calls: ReadonlySet<string>;
  /** Ids of tool calls that people were asked about. */
  readonly reserved: ReadonlySet<string>;
  /** Open calls by the path of their node. */
  readonly openCalls: ReadonlyMap<string, readonly RecoveredCall[]>;
}

/** Reads the log of a run. */
export function recoveredRun(state: ResumeState): RecoveredRun {
  const reader = new LogReader(createView(state.runId));
  for (const { line } of state.events) {
    reader.take(parseEvent(utf8.decode(line)) as ExecutionEvent);
  }
  // Values of steps that only the engine may read are kept among the private ones.
  return reader.result({ ...state.privateValues, ...state.steps });
}

class LogReader {
  readonly #view: RunView;
  /** Details of all nodes, with their view, which the view of the run may have forgotten. */
  readonly #nodes: Map<string, ReadNode> = new Map();
  readonly #questions: Map<string, RecoveredQuestion> = new Map();
  readonly #calls: Set<string> = new Set();
  readonly #reserved: Set<string> = new Set();
  #usedMs = 0;
  #recoveries = 0;
  #ends = 0;
  #executions = 0;
  #answeredBy: string | null = null;
  #isRerun = false;

  constructor(view: RunView) {
    this.#view = view;
  }

  take(e: ExecutionEvent): void {
    const view = this.#view;
    const pause = view.paused?.reason;
    const wasAwaitingPerson = pause === "confirmation";
    const isGapOfCrash = e.kind === "run.paused" && e.reason === "interrupted"; // not part of any node's time
    const counts = !wasAwaitingPerson && pause !== "operator" && !isGapOfCrash;
    if (view.updatedAt > 0 && counts) this.#usedMs += e.ts - view.updatedAt;
    if (e.kind === "node.started") this.#started(e); // from the view of the attempt before
    foldEvents(view, e);
    this.#answeredBy = wasAwaitingPerson && e.kind === "confirm.resolved" ? e.id : null;
    if (e.kind === "run.started") this.#isRerun = e.resumedFrom !== undefined;
    if (e.kind === "run.resumed") {
      if (e.reason === "recovered" && this.#hasWork(e.ts)) this.#recoveries += 1;
    } else if ("node" in e && e.node !== undefined) {
      const node = this.#node(e.node);
      node.live = view.nodes.get(e.node) ?? node.live;
      this.#step(node, e);
    }
  }

  #step(node: ReadNode, e: ExecutionEvent): void {
    switch (e.kind) {
      case "node.resumed":
        if (node.questions.every(({ answer }) => answer !== null)) {
          for (const question of node.questions) question.given = true;
        }
        return;
      case "node.succeeded":
      case "node.failed":
        this.#ended(node);
        node.output = outputOf(e);
        node.ref = e.outputRef?.ref ?? null;
        return;
      case "node.skipped":
      case "node.cancelled":
        this.#ended(node);
        return;
      case "llm.started":
      case "tool.started":
        this.#calls.add(e.call);
        return;
      case "confirm.requested": {
        const question: RecoveredQuestion = { asked: e, answer: null, given: false, reply: null };
        this.#questions.set(e.id, question);
        if (e.tool !== undefined) this.#reserved.add(e.tool.call);
        node.questions = [...node.questions, question];
        return;
      }
      case "confirm.resolved":
        this.#resolved(node, e);
        return;
      default:
    }
  }

  #started({ node: path, attempt, ts, inputs }: NodeStarted): void {
    const node = this.#node(path);
    const before = this.#view.nodes.get(path);
    if (before?.state === "retrying" && before.error?.code === "interrupted") {
      node.interruptions += 1;
    } else {
      node.tryFrom = attempt;
      node.questions = NO_QUESTIONS;
    }
    node.inputs = inputs ?? null;
    if (node.firstStartedAt === 0) node.firstStartedAt = ts;
    this.#executions += 1;
  }

  #ended(node: ReadNode): void {
    node.order = this.#ends;
    node.output = null;
    node.ref = null;
    this.#ends += 1;
    this.#recoveries = 0;
  }

  #resolved(node: ReadNode, e: ConfirmResolved): void {
    const question = this.#questions.get(e.id);
    if (question === undefined) return;
    if (e.outcome === "cancelled") {
      node.questions = node.questions.filter((one) => one !== question);
      return;
    }
    question.answer = {
      outcome: e.outcome,
      value: e.value ?? null,
      by: e.by ?? null,
      comment: e.comment ?? null,
      at: new Date(e.ts).toISOString(),
    };
  }

  /** Whether something is to be done at once. A run that only sleeps on is not what ends its process. */
  #hasWork(now: number): boolean {
    const open = [...this.#view.nodes.values()].filter(({ state }) => OPEN.has(state));
    const holders = new Set(open.map(({ node }) => holderOf(node)));
    const callers = new Set([...this.#view.calls.values()].map(({ node }) => node));
    return open.some((live) => {
      const { node, state, waitingOn } = live;
      if (state === "running") return callers.has(node) || !holders.has(node);
      if (state === "waiting" && waitingOn === "confirm") return false;
      return waitingOn === "slot" || dueOf(live) <= now;
    });
  }

  /** Of the nodes, once they are finished. */
  #isAsleep(): boolean {
    const { paused, calls, state } = this.#view;
    if (paused !== null || calls.size > 0 || state === "cancelling") return false;
    const open = [...this.#nodes].filter(([, node]) => !isTerminal(node.state));
    const holders = new Set(open.map(([path]) => holderOf(path)));
    const sleepers = open.filter(
      ([, { state, waitsFor, error }]) =>
        (state === WAITING && waitsFor === "timer") ||
        (state === RETRYING && error?.code !== "interrupted"),
    );
    const waits = open.filter(
      ([path, { state, waitsFor, questions }]) =>
        (state === RUNNING && holders.has(path)) ||
        (state === WAITING &&
          waitsFor === "confirm" &&
          questions.some(({ answer }) => answer === null)),
    );
    return sleepers.length > 0 && sleepers.length + waits.length === open.length;
  }

  #node(path: string): ReadNode {
    let node = this.#nodes.get(path);
    if (node === undefined) {
      node = new ReadNode();
      this.#nodes.set(path, node);
    }
    return node;
  }

  result(steps: RecoveredRun["steps"]): RecoveredRun {
    for (const [path, node] of this.#nodes) {
      if (node.live === undefined) this.#nodes.delete(path);
      else node.finish(node.live);
    }
    return {
      nodes: this.#nodes,
      view: this.#view,
      usedMs: this.#usedMs,
      recoveries: this.#recoveries,
      confirmationCount: this.#questions.size,
      answeredBy: this.#answeredBy,
      isAsleep: this.#isAsleep(),
      isRerun: this.#isRerun,
      steps,
      executions: this.#executions,
      calls: this.#calls,
      reserved: this.#reserved,
      openCalls: openCallsOf(this.#view),
    };
  }
}

/** States of a view in which a node has not ended. */
export const OPEN: ReadonlySet<string> = new Set(["running", "retrying", "waiting"]);

const STATES: { readonly [state: string]: number } = {
  running: RUNNING,
  retrying: RETRYING,
  waiting: WAITING,
  succeeded: SUCCEEDED,
  skipped: SKIPPED,
  cancelled: CANCELLED,
};

const STATES_BY_ROUTE: { readonly [routed: string]: number } = {
  default: DEFAULTED,
  port: ROUTED,
  none: FAILED,
  parent: FAILED,
};

function dueOf({ state, nextAt, until }: LiveNode): number {
  return (state === "retrying" ? nextAt : until) ?? 0;
}

function outputOf(e: NodeSucceeded | NodeFailed): Json {
  if (e.kind === "node.failed" && e.routed === "port") return { error: { ...e.error } };
  return e.output ?? null;
}

/** Path of the node in whose body a node is: without attempt and index, which only its body has. */
function holderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/"))).replace(/(?:~\d+)?(?:\[\d+\])?$/, "");
}

/** How a call that was open when the process died ends: its last event, without its place in the log. */
export function interruptedCall(
  { call, kind, lengths }: RecoveredCall,
  { message, durationMs }: { readonly message: string; readonly durationMs: number },
): InterruptedCall {
  if (kind === "tool") {
    const error = { code: "interrupted", message, retryable: true };
    return { kind: "tool.finished", call, outcome: "error", error, durationMs };
  }
  const discarded = Object.values(lengths).reduce((sum, units) => sum + units, 0);
  return { kind: "llm.failed", call, reason: "interrupted", discarded, next: "none" };
}

function openCallsOf({ calls }: RunView): Map<string, RecoveredCall[]> {
  const open = new Map<string, RecoveredCall[]>();
  for (const { call, kind, node, startedAt, texts } of calls.values()) {
    const lengths = Object.fromEntries(
      Object.entries(texts).map(([channel, text]) => [channel, text.length]),
    );
    const known = open.get(node) ?? [];
    open.set(node, [...known, { call, kind, startedAt, lengths }]);
  }
  return open;
}
