/** Logs in a few words: the envelope, durations and the summary are filled in. */
import {
  createView,
  type ExecutionEvent,
  foldEvents,
  makeSummary,
  type RunEnd,
} from "@millrace/contracts";

export const RUN = "r1";
export const T0 = 1_750_000_000_000;
export const HASH = `sha256:${"9f".repeat(32)}`;

/** An event without its envelope; `ts` counts milliseconds from the beginning, absent: 10 more than before. */
export type Words = { kind: ExecutionEvent["kind"]; ts?: number } & Record<string, unknown>;

/** Numbers the events; `node.succeeded` and `node.failed` get the duration that their start gives them. */
export function journal(...words: Words[]): ExecutionEvent[] {
  const started = new Map<unknown, number>();
  let now = -10;
  return words.map(({ kind, ts = now + 10, node, attempt = 1, ...rest }, i) => {
    now = ts;
    if (kind === "node.started") started.set(node, ts);
    const ends = kind === "node.succeeded" || kind === "node.failed";
    const durationMs = ends ? { durationMs: ts - (started.get(node) ?? ts) } : {};
    const envelope = { v: 1, kind, runId: RUN, seq: i + 1, ts: T0 + ts };
    const place = node === undefined ? {} : { node, attempt };
    return { ...envelope, ...place, ...durationMs, ...rest } as unknown as ExecutionEvent;
  });
}

export const started = (over: Record<string, unknown> = {}): Words => ({
  kind: "run.started",
  flow: { id: "fx", hash: HASH },
  nodeCount: 1,
  onFailure: "stop",
  inputs: HASH,
  trigger: "cli",
  ...over,
});

/** `words` between `run.started` and a summary that says what the log says. */
export function run(
  words: Words[],
  end: Partial<RunEnd> & { over?: Record<string, unknown>; start?: Record<string, unknown> } = {},
): ExecutionEvent[] {
  const nodes = new Set(words.flatMap(({ node }) => (node === undefined ? [] : [String(node)])));
  const nodeCount = [...nodes].filter((node) => !node.includes("/")).length;
  const log = journal(started({ nodeCount, ...end.start }), ...words);
  const { over, start, ...how } = end;
  return [...log, summaryAfter(log, how, over)];
}

/** The summary that fits a log. */
export function summaryAfter(
  log: readonly ExecutionEvent[],
  end: Partial<RunEnd> = {},
  over: Record<string, unknown> = {},
): ExecutionEvent {
  const view = createView();
  for (const event of log) foldEvents(view, event);
  const ts = end.ts ?? view.updatedAt + 10;
  const payload = makeSummary(view, { status: "succeeded", ...end, ts });
  const envelope = { v: 1, kind: "summary", runId: RUN, seq: view.seq + 1, ts };
  return { ...envelope, ...payload, ...over } as ExecutionEvent;
}

/** The whole life of a node that does nothing but `between`. */
export function node(path: string, between: Words[] = [], attempt = 1): Words[] {
  return [
    { kind: "node.started", node: path, attempt, type: "transform" },
    ...between,
    { kind: "node.succeeded", node: path, attempt, output: { ok: true } },
  ];
}

/** Invariants that a list of violations names, each once. */
export function broken(violations: readonly { invariant: string }[]): string[] {
  return [...new Set(violations.map(({ invariant }) => invariant))];
}

/** The same events, numbered again. */
export function renumber(events: readonly ExecutionEvent[]): ExecutionEvent[] {
  return events.map((event, i) => ({ ...event, seq: i + 1 }));
}
