import {
  CONFIRMATION_MACHINE,
  checkLog,
  EVENT_KINDS,
  type ExecutionEvent,
  type Kind,
  NODE_MACHINE,
  NODE_REMARKS,
  RUN_MACHINE,
} from "@millrace/contracts";
import { expect, test } from "vitest";
import { broken, journal, started, type Words } from "./builder.ts";

const error = { code: "http_status", message: "503", retryable: true };
const begin: Words = { kind: "node.started", node: "a", type: "t" };
const ask: Words = { kind: "confirm.requested", node: "a", id: "k1", prompt: "?" };
const call: Words = {
  kind: "llm.started",
  node: "a",
  call: "c1",
  provider: "p",
  model: "m",
  target: 0,
  step: 1,
  purpose: "generate",
};
const finish: Words = {
  kind: "llm.finished",
  node: "a",
  call: "c1",
  finish: "stop",
  lengths: {},
  costUsd: 0,
  durationMs: 0,
};

/** How a node gets into each state. */
const into: Record<string, Words[]> = {
  pending: [],
  running: [begin],
  retrying: [begin, { kind: "node.retrying", node: "a", error, delayMs: 0, next: 2 }],
  waiting: [begin, { kind: "node.waiting", node: "a", on: "timer" }],
  succeeded: [begin, { kind: "node.succeeded", node: "a", output: 1 }],
  failed: [begin, { kind: "node.failed", node: "a", error, routed: "port" }],
  skipped: [{ kind: "node.skipped", node: "a", why: "dead" }],
  cancelled: [{ kind: "node.cancelled", node: "a", reason: "run_failed" }],
};

/** An event of every kind that names a node, as legal as it can be. */
const step: Record<string, (attempt: number) => Words> = {
  "node.started": (attempt) => ({ ...begin, attempt }),
  "node.retrying": (attempt) => ({
    kind: "node.retrying",
    node: "a",
    attempt,
    error,
    delayMs: 0,
    next: attempt + 1,
  }),
  "node.waiting": (attempt) => ({ kind: "node.waiting", node: "a", attempt, on: "slot" }),
  "node.resumed": (attempt) => ({ kind: "node.resumed", node: "a", attempt }),
  "node.progress": (attempt) => ({ kind: "node.progress", node: "a", attempt, done: 1 }),
  "node.succeeded": (attempt) => ({ kind: "node.succeeded", node: "a", attempt, output: 1 }),
  "node.failed": (attempt) => ({ kind: "node.failed", node: "a", attempt, error, routed: "port" }),
  "node.skipped": (attempt) => ({ kind: "node.skipped", node: "a", attempt, why: "dead" }),
  "node.cancelled": (attempt) => ({ kind: "node.cancelled", node: "a", attempt, reason: "parent" }),
  "node.checked": (attempt) => ({
    kind: "node.checked",
    node: "a",
    attempt,
    index: 0,
    check: "expr",
    pass: true,
    level: "warn",
  }),
  log: (attempt) => ({ kind: "log", node: "a", attempt, level: "info", channel: "node", text: "" }),
  "llm.started": (attempt) => ({ ...call, attempt, call: "c2" }),
  "llm.delta": (attempt) => ({
    kind: "llm.delta",
    node: "a",
    attempt,
    call: "c1",
    channel: "text",
    offset: 0,
    text: "x",
  }),
  "llm.finished": (attempt) => ({ ...finish, attempt }),
  "llm.failed": (attempt) => ({
    kind: "llm.failed",
    node: "a",
    attempt,
    call: "c1",
    reason: "timeout",
    discarded: 0,
    next: "none",
  }),
  "llm.rejected": (attempt) => ({
    kind: "llm.rejected",
    node: "a",
    attempt,
    call: "c1",
    problems: [],
    repair: 0,
  }),
  "tool.started": (attempt) => ({
    kind: "tool.started",
    node: "a",
    attempt,
    call: "t1",
    tool: "search",
  }),
  "tool.finished": (attempt) => ({
    kind: "tool.finished",
    node: "a",
    attempt,
    call: "t0",
    outcome: "ok",
    durationMs: 0,
  }),
  "confirm.requested": (attempt) => ({ ...ask, attempt, id: "k2" }),
  "confirm.resolved": (attempt) => ({
    kind: "confirm.resolved",
    node: "a",
    attempt,
    id: "k1",
    outcome: "approved",
  }),
};

/** Where each may come: one letter for each state that allows it. p r y w = pending, running, retrying, waiting. */
const allowed: Record<string, string> = {
  "node.started": "py",
  "node.retrying": "r",
  "node.waiting": "r",
  "node.resumed": "w",
  "node.progress": "r",
  "node.succeeded": "r",
  "node.failed": "r",
  "node.skipped": "p",
  "node.cancelled": "pryw",
  "node.checked": "r",
  log: "rw",
  "llm.started": "r",
  "llm.delta": "r",
  "llm.finished": "r",
  "llm.failed": "r",
  "llm.rejected": "r",
  "tool.started": "r",
  "tool.finished": "r",
  "confirm.requested": "r",
  "confirm.resolved": "rw",
};
const letter: Record<string, string> = { pending: "p", running: "r", retrying: "y", waiting: "w" };

/** What must have been opened before an event that closes it. */
function opened(kind: string, attempt: number): Words[] {
  const at = { attempt };
  if (kind === "llm.delta" || kind === "llm.finished" || kind === "llm.failed")
    return [{ ...call, ...at }];
  if (kind === "llm.rejected")
    return [
      { ...call, ...at },
      { ...finish, ...at },
    ];
  if (kind === "tool.finished")
    return [{ kind: "tool.started", node: "a", ...at, call: "t0", tool: "search" }];
  return kind === "confirm.resolved" ? [{ ...ask, ...at }] : [];
}

const matrix = Object.keys(into).flatMap((state) => Object.keys(step).map((kind) => [state, kind]));

test.each(matrix)("a node that is %s and %s", (state, kind) => {
  const path = [...(into[state] as Words[])];
  const isSteady = state === "running" || state === "waiting";
  if (isSteady) path.splice(1, 0, ...opened(kind as string, 1));
  const attempt = state === "retrying" && kind === "node.started" ? 2 : 1;
  const log = journal(started(), ...path, (step[kind as string] as (n: number) => Words)(attempt));
  const found = checkLog(log, { unfinished: true });
  const mayCome = allowed[kind as string]?.includes(letter[state as string] ?? "-") === true;
  const isStep = kind?.startsWith("node.") && !/progress|checked/.test(kind);
  expect(broken(found)).toEqual(mayCome ? [] : [isStep ? "I3" : "I5"]);
  if (!mayCome) expect(found.map(({ seq }) => seq)).toEqual([log.length]);
});

test("the tables say the same as the matrix", () => {
  for (const [kind, letters] of Object.entries(allowed)) {
    for (const [state, initial] of Object.entries(letter)) {
      const isStep = NODE_MACHINE[state as "running"][kind as Kind] !== undefined;
      const isRemark = NODE_REMARKS[kind as Kind]?.includes(state as "running") === true;
      expect([kind, state, isStep || isRemark]).toEqual([kind, state, letters.includes(initial)]);
    }
  }
  const known = EVENT_KINDS.filter(
    (kind) => !kind.startsWith("run.") && kind !== "snapshot" && kind !== "summary",
  );
  expect(Object.keys(allowed).sort()).toEqual([...known].sort());
});

const pause = (reason: string): Words => ({ kind: "run.paused", reason, confirmations: [] });
const resume = (reason: string): Words => ({ kind: "run.resumed", reason });
const cancel: Words = { kind: "run.cancelling", reason: "user" };
const intoRun: Record<string, Words[]> = {
  running: [],
  paused: [pause("operator")],
  cancelling: [cancel],
};

test.each([
  ["running", pause("operator"), []],
  ["running", pause("interrupted"), []],
  ["running", resume("operator"), ["I3"]],
  ["running", cancel, []],
  ["paused", pause("operator"), ["I3"]],
  ["paused", resume("operator"), []],
  ["paused", resume("confirmation"), ["I3"]],
  ["paused", resume("recovered"), ["I3"]],
  ["paused", cancel, []],
  ["cancelling", pause("operator"), ["I3"]],
  ["cancelling", resume("operator"), ["I3"]],
  ["cancelling", cancel, ["I3"]],
  ["running", started(), ["I2"]],
] as [string, Words, string[]][])("a run that is %s and %j breaks %j", (state, words, expected) => {
  const log = journal(started({ nodeCount: 0 }), ...(intoRun[state] as Words[]), words);
  expect(broken(checkLog(log, { unfinished: true }))).toEqual(expected);
});

test("a run ends from running by succeeding or failing, from cancelling by being cancelled", () => {
  expect(RUN_MACHINE.running.summary).toEqual(["succeeded", "failed"]);
  expect(RUN_MACHINE.cancelling.summary).toEqual(["cancelled"]);
  expect(RUN_MACHINE.paused.summary).toBeUndefined();
  for (const state of ["succeeded", "failed", "cancelled"] as const)
    expect(RUN_MACHINE[state]).toEqual({});
});

test.each([...CONFIRMATION_MACHINE.requested])("a confirmation is %s once", (outcome) => {
  const answer: Words = { kind: "confirm.resolved", node: "a", id: "k1", outcome };
  const log = (...words: Words[]): ExecutionEvent[] => journal(started(), begin, ask, ...words);
  expect(checkLog(log(answer), { unfinished: true })).toEqual([]);
  expect(broken(checkLog(log(answer, answer), { unfinished: true }))).toEqual(["I3"]);
  expect(broken(checkLog(log({ ...answer, id: "k9" }), { unfinished: true }))).toEqual(["I3"]);
});
