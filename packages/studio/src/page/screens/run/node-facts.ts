/** Attempts, calls and checks of a node, joined from its events, for the tabs of the node. */
import type {
  ErrorInfo,
  ExecutionEvent,
  Json,
  LlmFailed,
  LlmFinished,
  LlmRejected,
  LlmStarted,
  NodeChecked,
  ToolFinished,
  ToolStarted,
  ValueRef,
} from "@millrace/contracts";

/** One attempt of a node. */
export interface AttemptFacts {
  readonly attempt: number;
  readonly startedAt: number;
  /** Undefined: it goes on. */
  readonly endedAt: number | undefined;
  /** How it ended, as its last event says it. */
  readonly end: string;
  readonly error: ErrorInfo | undefined;
}

/** The attempts, the first one first. */
export function attemptsOf(events: readonly ExecutionEvent[]): readonly AttemptFacts[] {
  const attempts = new Map<number, AttemptFacts>();
  for (const event of events) {
    if (!("attempt" in event) || event.attempt === undefined) continue;
    const { attempt, ts } = event;
    const known = attempts.get(attempt);
    switch (event.kind) {
      case "node.started":
        attempts.set(attempt, {
          attempt,
          startedAt: ts,
          endedAt: undefined,
          end: "",
          error: undefined,
        });
        break;
      case "node.retrying":
      case "node.failed":
      case "node.succeeded":
      case "node.cancelled":
        if (known === undefined) break;
        attempts.set(attempt, {
          ...known,
          endedAt: ts,
          end: event.kind.slice("node.".length),
          error: "error" in event ? event.error : undefined,
        });
        break;
      default:
    }
  }
  return [...attempts.values()];
}

/** The output of an attempt. */
export interface OutputFacts {
  readonly output: Json | undefined;
  readonly outputRef: ValueRef | undefined;
  readonly error: ErrorInfo | undefined;
  readonly ports: readonly string[] | undefined;
}

/** The outcome of an attempt; undefined: it has not ended. */
export function outputOf(
  events: readonly ExecutionEvent[],
  attempt: number,
): OutputFacts | undefined {
  const end = events.findLast(
    (event) =>
      (event.kind === "node.succeeded" ||
        event.kind === "node.failed" ||
        event.kind === "node.retrying") &&
      event.attempt === attempt,
  );
  if (end === undefined) return undefined;
  return {
    output: "output" in end ? end.output : undefined,
    outputRef: "outputRef" in end ? end.outputRef : undefined,
    error: "error" in end ? end.error : undefined,
    ports: end.kind === "node.succeeded" ? end.ports : undefined,
  };
}

/** The checks of an attempt. */
export function checksOf(
  events: readonly ExecutionEvent[],
  attempt: number,
): readonly NodeChecked[] {
  return events.filter(
    (event): event is NodeChecked => event.kind === "node.checked" && event.attempt === attempt,
  );
}

/** A call of a model with the tools that it called. */
export interface CallFacts {
  readonly start: LlmStarted;
  readonly end: LlmFinished | LlmFailed | undefined;
  readonly rejected: LlmRejected | undefined;
  readonly tools: readonly ToolFacts[];
}

/** A call of a tool. */
export interface ToolFacts {
  readonly start: ToolStarted;
  readonly end: ToolFinished | undefined;
}

/** The calls of an attempt; tools that no call of a model names are at the end, by themselves. */
export function callsOf(
  events: readonly ExecutionEvent[],
  attempt: number,
): { readonly calls: readonly CallFacts[]; readonly tools: readonly ToolFacts[] } {
  type Call = { -readonly [K in keyof CallFacts]: CallFacts[K] } & { tools: Tool[] };
  type Tool = { -readonly [K in keyof ToolFacts]: ToolFacts[K] };
  const calls = new Map<string, Call>();
  const known = new Map<string, Tool>();
  const tools: Tool[] = [];
  for (const event of events) {
    if (!("call" in event) || event.attempt !== attempt) continue;
    const call = calls.get(event.call);
    switch (event.kind) {
      case "llm.started":
        calls.set(event.call, { start: event, end: undefined, rejected: undefined, tools: [] });
        break;
      case "llm.finished":
      case "llm.failed":
        if (call !== undefined) call.end = event;
        break;
      case "llm.rejected":
        if (call !== undefined) call.rejected = event;
        break;
      case "tool.started": {
        const tool: Tool = { start: event, end: undefined };
        known.set(event.call, tool);
        (calls.get(event.llmCall ?? "")?.tools ?? tools).push(tool);
        break;
      }
      case "tool.finished": {
        const tool = known.get(event.call);
        if (tool !== undefined) tool.end = event;
        break;
      }
      default:
    }
  }
  return { calls: [...calls.values()], tools };
}

/** Text of a model in its latest call for an answer. */
export interface WrittenText {
  readonly call: string;
  readonly text: string;
  readonly reasoning: string;
}

/** The text of the latest call that makes an answer; undefined: none has begun. */
export function textOf(
  events: readonly ExecutionEvent[],
  attempt: number,
): WrittenText | undefined {
  const start = events.findLast(
    (event) =>
      event.kind === "llm.started" && event.purpose !== "embed" && event.attempt === attempt,
  );
  if (start?.kind !== "llm.started") return undefined;
  const { call } = start;
  let text = "";
  let reasoning = "";
  for (const event of events) {
    if (event.kind !== "llm.delta" || event.call !== call) continue;
    if (event.channel === "reasoning") reasoning += event.text;
    else text += event.text;
  }
  return { call, text, reasoning };
}
