/** The one way into the log. Nothing is checked; the callers keep the state machines. */
import {
  type CancelReason,
  type ConfirmRequested,
  cutText,
  EVENT_LIMITS,
  type ExecutionEvent,
  type Json,
  type JsonObject,
  type Kind,
  type LogLevel,
  type Outcome,
  PAYLOAD_KEYS,
  type PauseReason,
  type ResumeReason,
  type Summary,
  type SummaryPayload,
} from "@millrace/contracts";
import type { Result } from "./attempt-parts.ts";
import {
  NodeStarted,
  NodeSucceeded,
  ofNode,
  ofRun,
  requested,
  runPaused,
  runStarted,
  type Said,
  succeededLarge,
  waitingForAnswers,
} from "./event-makers.ts";
import type { Frame } from "./frame.ts";
import { maskKeys } from "./redact.ts";
import type { Attempt, RunCore } from "./state.ts";

type Tool = NonNullable<ConfirmRequested["tool"]>;

/** The members of a frame that place a node in the run. */
export type Placed = Pick<Frame, "path" | "attempt">;

/** Puts an event into the log, without the secrets that the run knows; `bytes` is the size of the value it carries. */
export function add(run: RunCore, event: ExecutionEvent, bytes = 0): void {
  const { redactor } = run;
  run.log.append(redactor === null ? event : redactor.redact(event), bytes);
}

/** An event of the run itself. */
function emit<K extends Kind>(run: RunCore, kind: K, said: Said<K>): ExecutionEvent {
  const { id: runId, now: ts } = run;
  const seq = run.log.seq + 1;
  const event = ofRun(kind, runId, seq, ts, said);
  add(run, event);
  return event;
}

/** An event of a node. */
export function emitNode<K extends Kind>(
  run: RunCore,
  frame: Placed,
  node: number,
  kind: K,
  said: Said<K>,
): void {
  const { id: runId, now: ts } = run;
  const seq = run.log.seq + 1;
  const path = frame.path(node);
  const attempt = Math.max(1, frame.attempt(node));
  add(run, ofNode(kind, runId, seq, ts, path, attempt, said));
}

/** `node.waiting`. */
export function emitWaiting(
  run: RunCore,
  frame: Frame,
  node: number,
  said: Said<"node.waiting">,
): void {
  if (said.on !== "confirm" || said.ids === undefined) {
    emitNode(run, frame, node, "node.waiting", said);
    return;
  }
  const attempt = Math.max(1, frame.attempt(node));
  const seq = run.log.seq + 1;
  add(run, waitingForAnswers(run.id, seq, run.now, frame.path(node), attempt, said.ids));
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
  const event = new NodeStarted(id, log.seq + 1, now, path, attempt, type);
  if (inputs !== null) (event as { inputs?: string }).inputs = inputs; // the last member
  add(run, event);
}

/** Milliseconds from `start` to `now`: as a small integer, which V8 keeps in place, where they are less than 24 days. */
export function since(start: number, now: number): number {
  const ms = now - start;
  return (ms | 0) === ms ? ms | 0 : ms;
}

export function emitSucceeded(
  run: RunCore,
  attempt: Attempt,
  result: Result,
  further: readonly string[],
): void {
  const { port, output, ref } = result;
  const { frame, node } = attempt;
  const isPlain = port === "out" && !result.cached && further.length === 0;
  const tries = frame.attempt(node);
  const path = frame.path(node);
  const { id, now, log } = run;
  const durationMs = since(attempt.startedAt, now);
  const seq = log.seq + 1;
  if (isPlain && ref === null) {
    add(run, new NodeSucceeded(id, seq, now, path, tries, output, durationMs), result.bytes);
    return;
  }
  if (isPlain && ref !== null) {
    add(run, succeededLarge(id, seq, now, path, tries, ref, durationMs), weightOf(result));
    return;
  }
  add(
    run,
    {
      v: 1,
      kind: "node.succeeded",
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
  const { level, channel, code, data } = line;
  const { text, truncated } = cutText(line.text, EVENT_LIMITS.logText);
  emit(run, "log", {
    ...(place && {
      node: place.frame.path(place.node),
      attempt: place.frame.attempt(place.node),
    }),
    level,
    channel,
    text,
    ...(code !== undefined && { code }),
    ...(data !== undefined && { data }),
    ...(truncated !== undefined && { truncated }),
  });
}

export function emitConfirmRequested(
  run: RunCore,
  frame: Frame,
  node: number,
  { id, prompt, schema, deadline, tool }: Said<"confirm.requested">,
): void {
  const { text } = cutText(prompt, EVENT_LIMITS.prompt);
  if (schema === undefined && deadline === undefined && tool === undefined) {
    const attempt = Math.max(1, frame.attempt(node));
    const seq = run.log.seq + 1;
    add(run, requested(run.id, seq, run.now, frame.path(node), attempt, id, text));
    return;
  }
  emitNode(run, frame, node, "confirm.requested", {
    id,
    prompt: text,
    ...(schema !== undefined && { schema }),
    ...(deadline !== undefined && { deadline }),
    ...(tool !== undefined && { tool: maskKeys(tool as JsonObject) as Tool }),
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
  emitNode(run, frame, node, "confirm.resolved", {
    id,
    outcome,
    ...(by !== undefined && { by: short(by) }),
    ...(value !== undefined && { value }),
    ...(comment !== undefined && { comment: short(comment) }),
  });
}

function short(text: string): string {
  return cutText(text, EVENT_LIMITS.message).text;
}

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
  for (const key of PAYLOAD_KEYS[report.kind] ?? []) {
    if (report[key] !== undefined)
      event[key] = isContent(key) ? maskKeys(report[key] as Json) : report[key];
  }
  if (report.kind === "llm.delta") run.log.hasDeltas = true;
  add(run, event as unknown as ExecutionEvent);
}

export function emitRunStarted(run: RunCore): void {
  const { flow, layout } = run.parts;
  const { template, tags, trigger = "embed" } = run.options;
  const said = {
    flow,
    nodeCount: layout.size,
    onFailure: run.onFailure,
    inputs: run.inputsDigest,
    trigger,
  };
  if (template === undefined && tags === undefined && run.resumedFrom === null) {
    add(run, runStarted(run.id, run.log.seq + 1, run.now, said));
    return;
  }
  emit(run, "run.started", {
    ...said,
    ...(template !== undefined && { template }),
    ...(run.resumedFrom !== null && { resumedFrom: run.resumedFrom }),
    ...(tags !== undefined && { tags }),
  });
}

export function emitPaused(
  run: RunCore,
  reason: PauseReason,
  open: readonly string[] = run.confirmations.map(({ open: { id } }) => id),
): void {
  const said = { reason, confirmations: [...open].sort() };
  add(run, runPaused(run.id, run.log.seq + 1, run.now, said));
}

export function emitResumed(run: RunCore, reason: ResumeReason, by?: string): void {
  emit(run, "run.resumed", by === undefined ? { reason } : { reason, by });
}

export function emitCancelling(
  run: RunCore,
  reason: CancelReason,
  { by, note }: { by?: string | undefined; note?: string | undefined },
): void {
  emit(run, "run.cancelling", {
    reason,
    ...(by !== undefined && { by: short(by) }),
    ...(note !== undefined && { note: short(note) }),
  });
}

export function emitSummary(run: RunCore, payload: SummaryPayload): Summary {
  const clean = run.redactor === null ? payload : run.redactor.clean(payload as never);
  return emit(run, "summary", clean as SummaryPayload) as Summary;
}
