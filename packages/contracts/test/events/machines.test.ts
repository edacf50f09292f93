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
import { broken, error, journal, started, type Words, words } from "./builder.ts";

const begin: Words = { kind: "node.started", node: "a", type: "t" };
const [ask = begin, call = begin] = words`ask call`;
const called = { call: "c1", finish: "stop", lengths: {}, costUsd: 0, durationMs: 0 };
const finish: Words = { kind: "llm.finished", node: "a", ...called };

/** How a node gets into each state. */
const into: Record<string, Words[]> = {
  pending: [],
  running: [begin],
  retrying: words`begin ${{ kind: "node.retrying", node: "a", error, delayMs: 0, next: 2 }}`,
  waiting: [begin, { kind: "node.waiting", node: "a", on: "timer" }],
  succeeded: words`begin end`,
  failed: words`begin fail:port`,
  skipped: words`skip`,
  cancelled: words`cancelled`,
};

/** An event of every kind that names a node, as legal as it can be. */
const step: Record<string, object> = {
  "node.started": begin,
  "node.retrying": { error, delayMs: 0, next: 2 },
  "node.waiting": { on: "slot" },
  "node.resumed": {},
  "node.progress": { done: 1 },
  "node.succeeded": { output: 1 },
  "node.failed": { error, routed: "port" },
  "node.skipped": { why: "dead" },
  "node.cancelled": { reason: "parent" },
  "node.checked": { index: 0, check: "expr", pass: true, level: "warn" },
  log: { level: "info", channel: "node", text: "" },
  "llm.started": { ...call, call: "c2" },
  "llm.delta": { call: "c1", channel: "text", offset: 0, text: "x" },
  "llm.finished": finish,
  "llm.failed": { call: "c1", reason: "timeout", discarded: 0, next: "none" },
  "llm.rejected": { call: "c1", problems: [], repair: 0 },
  "tool.started": { call: "t1", tool: "search" },
  "tool.finished": { call: "t0", outcome: "ok", durationMs: 0 },
  "confirm.requested": { ...ask, id: "k2" },
  "confirm.resolved": { id: "k1", outcome: "approved" },
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
function opened(kind: string): Words[] {
  if (kind === "llm.rejected") return [call, finish];
  if (/^llm\.(?:delta|finished|failed)$/.test(kind)) return [call];
  if (kind === "tool.finished")
    return [{ kind: "tool.started", node: "a", call: "t0", tool: "search" }];
  return kind === "confirm.resolved" ? [ask] : [];
}

const matrix = Object.keys(into).flatMap((state) => Object.keys(step).map((kind) => [state, kind]));

test.each(matrix)("a node that is %s and %s", (state, kind) => {
  const path = [...(into[state] as Words[])];
  const isSteady = state === "running" || state === "waiting";
  if (isSteady) path.splice(1, 0, ...opened(kind as string));
  const attempt = state === "retrying" && kind === "node.started" ? 2 : 1;
  const last = { kind, node: "a", attempt, ...step[kind as string] } as Words;
  const log = journal(started(), ...path, last);
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
] as [string, Words, string[]][])("a run that is %s and %j breaks %j", (state, next, expected) => {
  const log = journal(started({ nodeCount: 0 }), ...(intoRun[state] as Words[]), next);
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
  const log = (...more: Words[]): ExecutionEvent[] => journal(started(), begin, ask, ...more);
  expect(checkLog(log(answer), { unfinished: true })).toEqual([]);
  expect(broken(checkLog(log(answer, answer), { unfinished: true }))).toEqual(["I3"]);
  expect(broken(checkLog(log({ ...answer, id: "k9" }), { unfinished: true }))).toEqual(["I3"]);
});
