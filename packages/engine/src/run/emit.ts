/**
 * The events of nodes, and the one way into the log: one literal for each kind, keys in wire order, so all events of a kind
 * share one hidden class. Nothing is checked; the callers keep the state machines. Those of the run itself: `emit-run.ts`.
 */
import type {
  ConfirmRequested,
  ErrorInfo,
  ExecutionEvent,
  Json,
  JsonObject,
  LogLevel,
  Outcome,
  Routed,
  ValueRef,
} from "@millrace/contracts";
import { cutText, EVENT_LIMITS } from "@millrace/contracts";
import type { Frame, StopReason } from "./frame.ts";
import { maskKeys } from "./redact.ts";
import type { Attempt, Result, RunCore } from "./state.ts";

type Tool = NonNullable<ConfirmRequested["tool"]>;

/** What of a frame says where a node is. */
export type Placed = Pick<Frame, "path" | "attempt">;

/** Puts an event into the log, without the secrets that the run knows; `bytes` is the size of the value it carries. */
export function add(run: RunCore, event: ExecutionEvent, bytes = 0): void {
  run.log.append(run.redactor === null ? event : run.redactor.redact(event), bytes);
}

export function emitNodeStarted(
  run: RunCore,
  frame: Frame,
  node: number,
  inputs: string | null,
): void {
  const type = frame.layout.typeNames[node] as string;
  const attempt = frame.attempt(node);
  const path = frame.path(node);
  const { id, now, log } = run;
  const seq = log.seq + 1;
  add(
    run,
    inputs === null
      ? { v: 1, kind: "node.started", runId: id, seq, ts: now, node: path, attempt, type }
      : { v: 1, kind: "node.started", runId: id, seq, ts: now, node: path, attempt, type, inputs },
  );
}

export function emitRetrying(
  run: RunCore,
  frame: Frame,
  node: number,
  what: { error: ErrorInfo; delayMs: number },
): void {
  const attempt = frame.attempt(node);
  add(run, {
    v: 1,
    kind: "node.retrying",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt,
    error: what.error,
    delayMs: what.delayMs,
    next: attempt + 1,
  });
}

export function emitWaiting(
  run: RunCore,
  frame: Frame,
  node: number,
  on:
    | { on: "confirm"; ids: readonly string[] }
    | { on: "timer"; until: number }
    | { on: "slot"; key: string },
): void {
  add(run, {
    v: 1,
    kind: "node.waiting",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
    ...on,
  });
}

export function emitNodeResumed(run: RunCore, frame: Frame, node: number): void {
  add(run, {
    v: 1,
    kind: "node.resumed",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
  });
}

export function emitProgress(
  run: RunCore,
  frame: Frame,
  node: number,
  progress: { done: number; total?: number; unit?: "items" | "iterations" | "bytes" },
): void {
  add(run, {
    v: 1,
    kind: "node.progress",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
    ...progress,
  });
}

export function emitSucceeded(
  run: RunCore,
  attempt: Attempt,
  result: Result,
  further: readonly string[],
): void {
  const { frame, node } = attempt;
  const { port, output, ref } = result;
  const tries = frame.attempt(node);
  const path = frame.path(node);
  const durationMs = run.now - attempt.startedAt;
  const { id, now, log } = run;
  const seq = log.seq + 1;
  const kind = "node.succeeded";
  if (port === "out" && !result.cached && further.length === 0) {
    add(
      run,
      ref === null
        ? { v: 1, kind, runId: id, seq, ts: now, node: path, attempt: tries, output, durationMs }
        : {
            v: 1,
            kind,
            runId: id,
            seq,
            ts: now,
            node: path,
            attempt: tries,
            outputRef: ref,
            durationMs,
          },
      weightOf(result),
    );
    return;
  }
  add(
    run,
    {
      v: 1,
      kind,
      runId: id,
      seq,
      ts: now,
      node: path,
      attempt: tries,
      ...((port !== "out" || further.length > 0) && { ports: [port, ...further] }),
      ...(ref === null ? { output } : { outputRef: ref }),
      durationMs,
      ...(result.cached && { cached: true as const }),
    },
    weightOf(result),
  );
}

/** Bytes of what the event of a result carries. */
function weightOf({ ref, bytes }: Result): number {
  return ref === null ? bytes : (ref.preview?.length ?? 0);
}

export function emitFailed(
  run: RunCore,
  frame: Frame,
  node: number,
  how: {
    error: ErrorInfo;
    routed: Routed;
    durationMs: number;
    fallback?: { output: Json } | { outputRef: ValueRef };
  },
): void {
  add(run, {
    v: 1,
    kind: "node.failed",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
    error: how.error,
    routed: how.routed,
    ...how.fallback,
    durationMs: how.durationMs,
  });
}

export function emitSkipped(
  run: RunCore,
  frame: Frame,
  node: number,
  why: "dead" | "when" | "run_ended",
): void {
  add(run, {
    v: 1,
    kind: "node.skipped",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: 1,
    why,
  });
}

export function emitCancelled(run: RunCore, frame: Placed, node: number, reason: StopReason): void {
  add(run, {
    v: 1,
    kind: "node.cancelled",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: Math.max(1, frame.attempt(node)),
    reason,
  });
}

/** A line of the log. `place` is absent for the run itself. */
export function emitLog(
  run: RunCore,
  line: {
    level: LogLevel;
    channel: "engine" | "node" | "stdout" | "stderr";
    text: string;
    code?: string;
    data?: JsonObject;
  },
  place?: { frame: Frame; node: number },
): void {
  const { text, truncated } = cutText(line.text, EVENT_LIMITS.logText);
  const at = place && {
    node: place.frame.path(place.node),
    attempt: place.frame.attempt(place.node),
  };
  add(run, {
    v: 1,
    kind: "log",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    ...at,
    level: line.level,
    channel: line.channel,
    text,
    ...(line.code !== undefined && { code: line.code }),
    ...(line.data !== undefined && { data: line.data }),
    ...(truncated !== undefined && { truncated }),
  });
}

export function emitConfirmRequested(
  run: RunCore,
  frame: Frame,
  node: number,
  what: Pick<ConfirmRequested, "id" | "prompt" | "schema" | "deadline" | "tool">,
): void {
  add(run, {
    v: 1,
    kind: "confirm.requested",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
    id: what.id,
    prompt: cutText(what.prompt, EVENT_LIMITS.prompt).text,
    ...(what.schema !== undefined && { schema: what.schema }),
    ...(what.deadline !== undefined && { deadline: what.deadline }),
    ...(what.tool !== undefined && { tool: maskKeys(what.tool as JsonObject) as Tool }),
  });
}

export function emitConfirmResolved(
  run: RunCore,
  frame: Placed,
  node: number,
  what: {
    id: string;
    outcome: Outcome;
    by?: string | undefined;
    value?: Json | undefined;
    comment?: string | undefined;
  },
): void {
  const { id, outcome, by, value, comment } = what;
  add(run, {
    v: 1,
    kind: "confirm.resolved",
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
    id,
    outcome,
    ...(by !== undefined && { by: cutText(by, EVENT_LIMITS.message).text }),
    ...(value !== undefined && { value }),
    ...(comment !== undefined && { comment: cutText(comment, EVENT_LIMITS.message).text }),
  });
}

/** Keys of what bodies tell, in wire order. */
const REPORT_KEYS: { readonly [kind: string]: readonly string[] } = {
  "llm.started": ["call", "provider", "model", "target", "step", "purpose", "audit"],
  "llm.delta": ["call", "channel", "offset", "text"],
  "llm.finished": ["call", "finish", "lengths", "usage", "costUsd", "firstTokenMs", "durationMs"],
  "llm.failed": "call reason status retryAfterMs discarded usage costUsd next".split(" "),
  "llm.rejected": ["call", "problems", "repair"],
  "tool.started": ["call", "tool", "llmCall", "args", "argsRef", "argsDigest"],
  "tool.finished": "call outcome result resultRef resultDigest error durationMs".split(" "),
  "node.checked": ["index", "check", "pass", "level", "detail", "score"],
};

/** Copies of what a tool got and gave: keys that name secrets lose their values. */
const isContent = (key: string): boolean => key === "args" || key === "result";

/** An event of a call or a check. Keys that do not belong to its kind are left out. */
export function emitReport(
  { run, frame, node }: { run: RunCore; frame: Placed; node: number },
  report: { readonly kind: string; readonly [key: string]: unknown },
): void {
  const event: { [key: string]: unknown } = {
    v: 1,
    kind: report.kind,
    runId: run.id,
    seq: run.log.seq + 1,
    ts: run.now,
    node: frame.path(node),
    attempt: frame.attempt(node),
  };
  for (const key of REPORT_KEYS[report.kind] ?? []) {
    if (report[key] !== undefined)
      event[key] = isContent(key) ? maskKeys(report[key] as Json) : report[key];
  }
  add(run, event as unknown as ExecutionEvent);
}
