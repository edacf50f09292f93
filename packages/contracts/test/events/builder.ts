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

export const NO_COUNTS = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
export const NO_USAGE = {
  ...{ calls: 0, inputTokens: 0, outputTokens: 0 },
  ...{ cachedInputTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0 },
};
export const error = { code: "http_status", message: "503", retryable: true };

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

const NAMED: { readonly [name: string]: (of?: string) => Words } = {
  begin: (type = "ai") => ({ kind: "node.started", type }),
  end: () => ({ kind: "node.succeeded", output: 1 }),
  fail: (routed) => ({ kind: "node.failed", error, routed }),
  retry: (next = "2") => ({ kind: "node.retrying", error, delayMs: 100, next: Number(next) }),
  skip: (why = "dead") => ({ kind: "node.skipped", why }),
  cancelled: () => ({ kind: "node.cancelled", reason: "run_cancelled" }),
  wait: (id = "k1") => ({ kind: "node.waiting", on: "confirm", ids: [id] }),
  back: () => ({ kind: "node.resumed" }),
  ask: (id = "k1") => ({ kind: "confirm.requested", id, prompt: "Send?" }),
  answer: (id = "k1") => ({ kind: "confirm.resolved", id, outcome: "approved", by: "api" }),
  call: (id = "c1") => ({
    ...{ kind: "llm.started", call: id, provider: "p", model: `model-${id}` },
    ...{ target: 0, step: 1, purpose: "generate" },
  }),
  reject: (id = "c1") => ({ kind: "llm.rejected", call: id, problems: [], repair: 1 }),
};
const OF_RUN: typeof NAMED = {
  pause: (id = "k1") => ({ kind: "run.paused", reason: "confirmation", confirmations: [id] }),
  resume: (reason = "confirmation") => ({ kind: "run.resumed", reason }),
  hold: () => ({ kind: "run.paused", reason: "operator", confirmations: [] }),
  cancel: (reason = "user") => ({ kind: "run.cancelling", reason }),
  log: () => ({ kind: "log", level: "info", channel: "engine", text: "x" }),
};

/** Events by name: `name:of@node#attempt+ts`, where the node is `a` unless it is given; `node@b` is one's whole life. */
export function words(texts: TemplateStringsArray, ...given: Words[]): Words[] {
  const named = (text: string): Words[] => {
    const parts = /^(\w+)(?::(\w+))?(?:@([^#+]+))?(?:#(\d+))?(?:\+(\d+))?$/.exec(text) ?? [];
    const [, name = "", of, path = "a", attempt, ts] = parts;
    if (name === "node") return node(path);
    const ofNode = NAMED[name]?.(of);
    const said = OF_RUN[name]?.(of) ?? (ofNode && { node: path, ...ofNode });
    if (said === undefined) throw new Error(`no event is called ${text}`);
    return [
      { ...said, ...(attempt && { attempt: Number(attempt) }), ...(ts && { ts: Number(ts) }) },
    ];
  };
  return texts.flatMap((text, at) => [
    ...(text.match(/\S+/g) ?? []).flatMap(named),
    ...given.slice(at, at + 1),
  ]);
}

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
