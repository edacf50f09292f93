/**
 * What the log of an interrupted run says of its nodes: where each one stood, with what it ended, what it had asked. The
 * result table of `resume`; nothing is executed to make it.
 */
import {
  type AnyEvent,
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
export interface PastQuestion {
  readonly asked: ConfirmRequested;
  /** Null: still open. */
  answer: ConfirmAnswer | null;
  /** The body has had the answer: its node worked again after all that it had asked was answered. */
  given: boolean;
  /** What the body that asked is to get, once the question is open again. */
  reply: Promise<ConfirmAnswer> | null;
}

/** One node as its log leaves it. */
export interface PastNode {
  state: number;
  attempt: number;
  /** Digest of the fields with which it started last. */
  inputs: string | null;
  /** First attempt of the present try; an interruption continues it. */
  tryFrom: number;
  startedAt: number;
  firstStartedAt: number;
  /** Attempts that were interrupted; they do not count against `retry.max`. */
  interruptions: number;
  waitsFor: "confirm" | "timer" | "slot" | "child" | null;
  /** When a parked timer or a retry is due. */
  due: number;
  port: string;
  output: Json;
  /** Reference of an output that is not on the event. */
  ref: string | null;
  error: ErrorInfo | null;
  progress: number;
  questions: PastQuestion[];
  /** Position of its end among all ends. */
  order: number;
}

/** A call that was open when the process died. */
export interface PastCall extends Pick<CallView, "call" | "kind" | "startedAt"> {
  /** Units of its deltas, by channel. */
  readonly lengths: { [C in DeltaChannel]?: number };
}

/** The last event of a call that was open when the process died, without its place in the log. */
type InterruptedCall =
  | Pick<LlmFailed, "kind" | "call" | "reason" | "discarded" | "next">
  | Pick<ToolFinished, "kind" | "call" | "outcome" | "error" | "durationMs">;

/** What is said of a tool call whose node works on, or ends. */
export const TOOL_INTERRUPTED = "the process ended while the tool was at work";

/** An interrupted run. */
export interface Past {
  readonly nodes: ReadonlyMap<string, PastNode>;
  readonly view: RunView;
  readonly startedAt: number;
  /** Milliseconds in which its clock ran. */
  readonly usedMs: number;
  /** Recoveries since a node last ended that had something to do. */
  readonly recoveries: number;
  readonly confirmationCount: number;
  /** The answer that ended a pause, when the log ends before it says so. */
  readonly answeredBy: string | null;
  readonly steps: { readonly [key: string]: Json };
  readonly executions: number;
  /** Ids of all its calls. */
  readonly calls: ReadonlySet<string>;
  /** Ids of tool calls that people were asked about. */
  readonly reserved: ReadonlySet<string>;
  /** Open calls by the path of their node. */
  readonly openCalls: ReadonlyMap<string, readonly PastCall[]>;
}

/** Reads the log of a run. */
export function readPast(state: ResumeState): Past {
  const reader = new Reader(state.runId);
  for (const { line } of state.events) reader.take(parseEvent(utf8.decode(line)));
  // Steps whose values nobody else may read are kept among the private ones.
  return reader.past({ ...state.privateValues, ...state.steps });
}

class Reader {
  readonly #nodes: Map<string, PastNode> = new Map();
  readonly #questions: Map<string, PastQuestion> = new Map();
  readonly #view: RunView;
  #startedAt = 0;
  #lastTs = 0;
  #usedMs = 0;
  #recoveries = 0;
  #ends = 0;
  #executions = 0;
  readonly #calls: Set<string> = new Set();
  readonly #reserved: Set<string> = new Set();
  #answeredBy: string | null = null;

  constructor(runId: string) {
    this.#view = createView(runId);
  }

  take(event: AnyEvent): void {
    const pause = this.#view.paused?.reason;
    const stood = pause === "confirmation";
    // What passed between the crash and the recovery is nobody's time.
    const wasGone = event.kind === "run.paused" && event.reason === "interrupted";
    const counts = !stood && pause !== "operator" && !wasGone;
    if (this.#lastTs > 0 && counts) this.#usedMs += event.ts - this.#lastTs;
    this.#lastTs = event.ts;
    foldEvents(this.#view, event);
    const answered = stood && event.kind === "confirm.resolved";
    this.#answeredBy = answered ? (event as ConfirmResolved).id : null;
    this.#step(event as ExecutionEvent);
  }

  past(steps: Past["steps"]): Past {
    return {
      nodes: this.#nodes,
      view: this.#view,
      startedAt: this.#startedAt,
      usedMs: this.#usedMs,
      recoveries: this.#recoveries,
      confirmationCount: this.#questions.size,
      answeredBy: this.#answeredBy,
      steps,
      executions: this.#executions,
      calls: this.#calls,
      reserved: this.#reserved,
      openCalls: openCallsOf(this.#view),
    };
  }

  #step(e: ExecutionEvent): void {
    switch (e.kind) {
      case "run.started":
        this.#startedAt = e.ts;
        return;
      case "run.resumed":
        if (e.reason === "recovered" && this.#hasWork(e.ts)) this.#recoveries += 1;
        return;
      case "node.started":
        this.#started(this.#node(e.node), e);
        return;
      case "node.retrying": {
        const node = this.#node(e.node);
        node.state = RETRYING;
        node.due = e.ts + e.delayMs;
        node.error = e.error;
        return;
      }
      case "node.waiting": {
        const node = this.#node(e.node);
        node.state = WAITING;
        node.waitsFor = e.on;
        node.due = e.until ?? 0;
        return;
      }
      case "node.resumed": {
        const node = this.#node(e.node);
        node.state = RUNNING;
        node.waitsFor = null;
        if (node.questions.every(({ answer }) => answer !== null)) {
          for (const question of node.questions) question.given = true;
        }
        return;
      }
      case "node.progress":
        this.#node(e.node).progress = e.done;
        return;
      case "node.succeeded":
        this.#end(e.node, SUCCEEDED, e);
        return;
      case "node.failed":
        this.#failed(e);
        return;
      case "node.skipped":
        this.#end(e.node, SKIPPED);
        return;
      case "node.cancelled":
        this.#end(e.node, CANCELLED);
        return;
      case "llm.started":
      case "tool.started":
        this.#calls.add(e.call);
        return;
      case "confirm.requested": {
        const question: PastQuestion = { asked: e, answer: null, given: false, reply: null };
        this.#questions.set(e.id, question);
        if (e.tool !== undefined) this.#reserved.add(e.tool.call);
        this.#node(e.node).questions.push(question);
        return;
      }
      case "confirm.resolved":
        this.#resolved(e);
        return;
      default:
    }
  }

  /** Whether something is to be done at once. A run that only sleeps on is not what ends its process. */
  #hasWork(now: number): boolean {
    const open = [...this.#nodes].filter(([, { state }]) => !isTerminal(state));
    const holders = new Set(open.map(([path]) => holderOf(path)));
    const callers = new Set([...this.#view.calls.values()].map(({ node }) => node));
    return open.some(([path, { state, waitsFor, due }]) => {
      if (state === RUNNING) return callers.has(path) || !holders.has(path);
      if (state === WAITING && waitsFor === "confirm") return false;
      return waitsFor === "slot" || due <= now;
    });
  }

  #started(node: PastNode, { attempt, ts, inputs }: NodeStarted): void {
    const goesOn = node.state === RETRYING && node.error?.code === "interrupted";
    if (goesOn) node.interruptions += 1;
    else {
      node.tryFrom = attempt;
      node.questions = [];
    }
    node.state = RUNNING;
    node.attempt = attempt;
    node.inputs = inputs ?? null;
    node.startedAt = ts;
    if (node.firstStartedAt === 0) node.firstStartedAt = ts;
    node.waitsFor = null;
    node.progress = 0;
    this.#executions += 1;
  }

  #failed(e: NodeFailed): void {
    const states = { default: DEFAULTED, port: ROUTED, none: FAILED, parent: FAILED };
    const node = this.#end(e.node, states[e.routed], e);
    node.error = e.error;
    if (e.routed === "port") node.output = { error: { ...e.error } };
  }

  #end(path: string, state: number, e?: NodeSucceeded | NodeFailed): PastNode {
    const node = this.#node(path);
    node.state = state;
    node.order = this.#ends;
    this.#ends += 1;
    this.#recoveries = 0;
    if (e?.kind === "node.succeeded") node.port = e.ports?.[0] ?? "out";
    node.output = e?.output ?? null;
    node.ref = e?.outputRef?.ref ?? null;
    return node;
  }

  #resolved(e: ConfirmResolved): void {
    const question = this.#questions.get(e.id);
    if (question === undefined) return;
    if (e.outcome === "cancelled") {
      const node = this.#node(e.node);
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

  #node(path: string): PastNode {
    let node = this.#nodes.get(path);
    if (node === undefined) {
      node = {
        state: RUNNING,
        attempt: 0,
        inputs: null,
        tryFrom: 1,
        startedAt: 0,
        firstStartedAt: 0,
        interruptions: 0,
        waitsFor: null,
        due: 0,
        port: "out",
        output: null,
        ref: null,
        error: null,
        progress: 0,
        questions: [],
        order: -1,
      };
      this.#nodes.set(path, node);
    }
    return node;
  }
}

/** Path of the node in whose body a node is: without attempt and index, which only its body has. */
function holderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/"))).replace(/(?:~\d+)?(?:\[\d+\])?$/, "");
}

/** How a call that was open when the process died ends: its last event, without its place in the log. */
export function interruptedCall(
  { call, kind, lengths }: PastCall,
  { message, durationMs }: { readonly message: string; readonly durationMs: number },
): InterruptedCall {
  if (kind === "tool") {
    const error = { code: "interrupted", message, retryable: true };
    return { kind: "tool.finished", call, outcome: "error", error, durationMs };
  }
  const discarded = Object.values(lengths).reduce((sum, units) => sum + units, 0);
  return { kind: "llm.failed", call, reason: "interrupted", discarded, next: "none" };
}

function openCallsOf({ calls }: RunView): Map<string, PastCall[]> {
  const open = new Map<string, PastCall[]>();
  for (const { call, kind, node, startedAt, texts } of calls.values()) {
    const lengths = Object.fromEntries(
      Object.entries(texts).map(([channel, text]) => [channel, text.length]),
    );
    const known = open.get(node) ?? [];
    open.set(node, [...known, { call, kind, startedAt, lengths }]);
  }
  return open;
}
