/** What every executor does alike, as cases that any test runner can run. Flows use core node types alone. */
import assert from "node:assert/strict";
import {
  type AnyEvent,
  checkLog,
  type ExecutionEvent,
  type Executor,
  type FieldValue,
  type FlowGraph,
  type FlowNode,
  parseEvent,
  parseEventStrict,
  type RunSpec,
  type StoredEvent,
} from "@millrace/contracts";
import type { ConformanceCase } from "@millrace/testkit";
import { graphWith } from "../graph.ts";

/** An executor of a case, which has taken over what was there, and what it holds on to. */
export interface ExecutorUnderTest {
  readonly executor: Executor;
  close(): Promise<void>;
}

const RUNS = 200;
const CALLERS = 50;
const LARGE = 200_000; // characters: beyond what an event holds

const HELLO = chain("hello", [
  node("a", "transform", { value: 1 }),
  node("b", "transform", { value: 2 }),
]);
const ASK = chain("ask", [
  node("ask", "confirm", { prompt: "Go on?" }),
  node("b", "transform", { value: 2 }),
]);
const NAP = chain("nap", [
  node("nap", "delay", { for: 250 }),
  node("b", "transform", { value: 2 }),
]);
const LONG_NAP = chain("nap", [
  node("nap", "delay", { for: 3_000 }), // longer than a busy machine needs to pause it
  node("b", "transform", { value: 2 }),
]);
const SLEEP = chain("sleep", [node("sleep", "delay", { for: 3_600_000 })]);
const RETRY: FlowGraph = chain("retry", [
  {
    ...node("broken", "fail", { message: "no" }),
    policy: { retry: { max: 2, delayMs: 1, jitter: false, on: ["failed"] } },
  },
]);

const spec = (graph: FlowGraph, more: Partial<RunSpec> = {}): RunSpec => ({
  graph,
  inputs: {},
  trigger: "embed",
  ...more,
});

/** The cases; each makes an executor of its own. */
export function executorConformance(
  makeExecutor: () => Promise<ExecutorUnderTest>,
): readonly ConformanceCase[] {
  return CASES.map(([name, body]) => ({
    name,
    async run() {
      const { executor, close } = await makeExecutor();
      try {
        await body(executor);
      } finally {
        await close();
      }
    },
  }));
}

const CASES: readonly (readonly [string, (executor: Executor) => Promise<void>])[] = [
  [
    "a run id is used once, whoever comes first",
    async (executor) => {
      const all = await Promise.allSettled(
        Array.from({ length: CALLERS }, () => executor.start(spec(HELLO, { runId: "mine" }))),
      );
      assert.equal(all.filter(({ status }) => status === "fulfilled").length, 1);
      await logOf(executor, "mine", HELLO);
      await assert.rejects(executor.start(spec(HELLO, { runId: "mine" })), { code: "run_exists" });
    },
  ],
  [
    "a reader gets the same bytes from any position, live or later, and nothing beyond the end",
    async (executor) => {
      const { runId } = await executor.start(spec(NAP));
      const live = await logOf(executor, runId, NAP);
      for (let after = 0; after <= live.length + 1; after += 1) {
        assert.deepEqual(await linesOf(executor, runId, after), live.slice(after).map(textOf));
      }
    },
  ],
  [
    "two hundred runs at once end, each with a legal log",
    async (executor) => {
      const starts = Array.from({ length: RUNS }, () => executor.start(spec(HELLO)));
      const runs = await Promise.all(starts);
      for (const { runId } of runs) {
        assert.equal((await logOf(executor, runId, HELLO)).at(-1)?.kind, "summary");
        assert.equal((await executor.get(runId))?.status, "succeeded");
      }
    },
  ],
  [
    "a signal before, during and after its run says what it did",
    async (executor) => {
      const yes = { kind: "confirm", id: "k1", decision: "approve", by: "anna" } as const;
      assert.deepEqual(await executor.signal("nobody", yes), { ok: false, code: "not_found" });
      const { runId } = await executor.start(spec(ASK));
      await kindSeen(executor, runId, "run.paused");
      const none = await executor.signal(runId, { ...yes, id: "k9" });
      assert.deepEqual(none, { ok: false, code: "not_found" });
      assert.deepEqual(await executor.signal(runId, yes), { ok: true });
      await logOf(executor, runId, ASK);
      const late = { ok: false, code: "already_resolved", outcome: "approved" };
      assert.deepEqual(await executor.signal(runId, yes), late);
    },
  ],
  [
    "of many who answer one question one wins, and the others are told",
    async (executor) => {
      const { runId } = await executor.start(spec(ASK));
      await kindSeen(executor, runId, "run.paused");
      const answers = await Promise.all(
        Array.from({ length: CALLERS }, (_, index) =>
          executor.signal(runId, {
            kind: "confirm",
            id: "k1",
            decision: index % 2 === 0 ? "approve" : "reject",
            by: `caller ${index}`,
          }),
        ),
      );
      assert.equal(answers.filter(({ ok }) => ok).length, 1);
      const refusals = answers.flatMap((answer) => (answer.ok ? [] : [answer.code]));
      assert.deepEqual([...new Set(refusals)], ["already_resolved"]);
      const log = await logOf(executor, runId, ASK);
      assert.equal(log.filter(({ kind }) => kind === "confirm.resolved").length, 1);
    },
  ],
  [
    "a run that is paused starts nothing, and goes on when it is told",
    async (executor) => {
      const { runId } = await executor.start(spec(LONG_NAP));
      await kindSeen(executor, runId, "node.waiting");
      assert.deepEqual(await executor.signal(runId, { kind: "pause", by: "anna" }), { ok: true });
      assert.equal((await executor.get(runId))?.status, "paused");
      assert.deepEqual(await executor.signal(runId, { kind: "resume", by: "anna" }), { ok: true });
      const kinds = (await logOf(executor, runId, LONG_NAP)).map(({ kind }) => kind);
      assert.ok(kinds.includes("run.paused") && kinds.includes("run.resumed"));
      const over = await executor.signal(runId, { kind: "pause", by: "anna" });
      assert.deepEqual(over, { ok: false, code: "state_conflict" });
    },
  ],
  [
    "a cancel ends a run that waits for time, for a person, or that is paused; an ended one refuses it",
    async (executor) => {
      for (const [graph, kind, pauses] of [
        [SLEEP, "node.waiting", false],
        [ASK, "run.paused", false],
        [SLEEP, "node.waiting", true],
      ] as const) {
        const { runId } = await executor.start(spec(graph));
        await kindSeen(executor, runId, kind);
        if (pauses) await executor.signal(runId, { kind: "pause", by: "anna" });
        await executor.cancel(runId, { reason: "user", by: "anna", graceMs: 0 });
        const log = await logOf(executor, runId, graph);
        assert.ok(log.some((event) => event.kind === "run.cancelling"));
        assert.equal((await executor.get(runId))?.status, "cancelled");
        await assert.rejects(executor.cancel(runId, { reason: "user" }), {
          code: "state_conflict",
        });
      }
      await assert.rejects(executor.cancel("nobody", { reason: "user" }), { code: "not_found" });
    },
  ],
  [
    "a node that fails is tried again as often as its policy says",
    async (executor) => {
      const { runId } = await executor.start(spec(RETRY));
      const log = await logOf(executor, runId, RETRY);
      assert.equal((await executor.get(runId))?.status, "failed");
      const attempts = log.filter(({ kind }) => kind === "node.started").length;
      assert.equal(attempts, 1 + log.filter(({ kind }) => kind === "node.retrying").length);
    },
  ],
  [
    "a wait ends when its time has come, and not before",
    async (executor) => {
      const { runId } = await executor.start(spec(NAP));
      const events = (await logOf(executor, runId, NAP)).map(eventOf);
      const waiting = events.find(({ kind }) => kind === "node.waiting");
      const done = events.find(
        (event) => event.kind === "node.succeeded" && event["node"] === "nap",
      );
      assert.ok(Number(done?.ts) >= Number(waiting?.["until"]));
    },
  ],
  [
    "lists are newest first, whole over pages, and take what fits the filter",
    async (executor) => {
      const ids: string[] = [];
      for (let i = 0; i < 7; i += 1) {
        const tags = { parity: i % 2 === 0 ? "even" : "odd" };
        ids.unshift((await executor.start(spec(HELLO, { tags }))).runId);
      }
      const listed: string[] = [];
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const page = await executor.list({ limit: 2, ...(cursor && { cursor }) });
        listed.push(...page.items.map(({ runId }) => runId));
        cursor = page.nextCursor;
      }
      assert.deepEqual(listed, ids);
      const odd = await executor.list({ limit: 10, tags: { parity: "odd" } });
      assert.deepEqual(
        odd.items.map(({ runId }) => runId),
        ids.filter((_, index) => index % 2 === 1),
      );
      await Promise.all(ids.map((runId) => logOf(executor, runId, HELLO)));
    },
  ],
  [
    "of many starts with one key one makes a run",
    async (executor) => {
      const request = { scope: "s", key: "k", fingerprint: new Uint8Array([1]) };
      const all = await Promise.allSettled(
        Array.from({ length: CALLERS }, () => executor.start(spec(HELLO), { request })),
      );
      const refused = all.flatMap((each) => (each.status === "rejected" ? [each.reason.code] : []));
      assert.deepEqual([...new Set(refused)], ["key_used"]);
      assert.equal(refused.length, CALLERS - 1);
      const { items } = await executor.list({ limit: 10 });
      assert.equal(items.length, 1);
      await logOf(executor, items[0]?.runId ?? "", HELLO);
    },
  ],
  [
    "a large value goes through a run, and its events stay small",
    async (executor) => {
      const large = chain("large", [node("a", "transform", { value: "ä".repeat(LARGE) })]);
      const { runId } = await executor.start(spec(large));
      const log = await logOf(executor, runId, large);
      assert.ok(log.every(({ line }) => line.byteLength < LARGE));
      assert.equal((await executor.get(runId))?.status, "succeeded");
    },
  ],
  [
    "taking over an executor that left nothing behind does nothing",
    async (executor) => {
      const { ms, ...report } = await executor.recover();
      assert.deepEqual(report, { resumed: 0, parked: 0, failed: 0 });
      assert.ok(ms >= 0);
    },
  ],
];

/** The whole log, which is legal. */
async function logOf(executor: Executor, runId: string, graph: FlowGraph): Promise<StoredEvent[]> {
  const log: StoredEvent[] = [];
  for await (const page of executor.attach(runId)) log.push(...page);
  const events = log.map((event) => parseEventStrict(textOf(event)));
  assert.deepEqual(checkLog(events, { graph }), []);
  return log;
}

async function linesOf(executor: Executor, runId: string, after: number): Promise<string[]> {
  const lines: string[] = [];
  for await (const page of executor.attach(runId, { after })) lines.push(...page.map(textOf));
  return lines;
}

/** Reads a live run until there is an event of this kind. */
async function kindSeen(
  executor: Executor,
  runId: string,
  wanted: ExecutionEvent["kind"],
): Promise<void> {
  for await (const page of executor.attach(runId)) {
    if (page.some(({ kind }) => kind === wanted)) return;
  }
  assert.fail(`no ${wanted} in the log of ${runId}`);
}

const decoder = new TextDecoder();

function textOf({ line }: StoredEvent): string {
  return decoder.decode(line);
}

function eventOf(event: StoredEvent): AnyEvent & { readonly [key: string]: unknown } {
  return parseEvent(textOf(event)) as AnyEvent & { readonly [key: string]: unknown };
}

function node(
  id: string,
  type: string,
  fields: { readonly [name: string]: FieldValue } = {},
): FlowNode {
  return { id, type, fields };
}

/** A flow whose nodes follow each other; a `confirm` is left by `approved`. */
function chain(id: string, nodes: readonly FlowNode[]): FlowGraph {
  const edges = nodes.slice(1).map((to, index) => {
    const from = nodes[index] as FlowNode;
    return { from: from.id, port: from.type === "confirm" ? "approved" : "out", to: to.id };
  });
  return graphWith({ id, nodes, edges });
}
