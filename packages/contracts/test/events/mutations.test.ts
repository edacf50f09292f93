/** One mutation for each invariant, at a place that chance picks in a made-up log: the check names that invariant, and no other. */

import {
  type CheckOptions,
  checkLog,
  createView,
  type ExecutionEvent,
  type FlowGraph,
  foldEvents,
  type Invariant,
  makeSnapshot,
  type Summary,
} from "@millrace/contracts";
import { casesOf } from "@millrace/test-support";
import { legalLog } from "@millrace/test-support/logs";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { holds } from "./arbitrary.ts";
import { broken, renumber } from "./builder.ts";

type Log = readonly ExecutionEvent[];
/** The mutated log, and what it is checked with; `undefined` when the log offers no place. `pick` chooses among places. */
type Mutation = (
  log: Log,
  pick: <T>(places: readonly T[]) => T | undefined,
  graph: FlowGraph,
) => { log: Log; options?: CheckOptions } | undefined;

const isBody = (e: ExecutionEvent): boolean => "node" in e && e.node?.includes("/") === true;
const summaryOf = (log: Log): Summary => log.at(-1) as Summary;

/** Replaces one event of a kind that fits. */
function replacing<K extends ExecutionEvent["kind"]>(
  kind: K,
  change: (event: Extract<ExecutionEvent, { kind: K }>) => object,
  fits: (event: Extract<ExecutionEvent, { kind: K }>, log: Log) => boolean = () => true,
): Mutation {
  return (log, pick) => {
    const places = log.filter((e) => e.kind === kind && fits(e as never, log));
    const place = pick(places);
    if (place === undefined) return undefined;
    const changed = { ...place, ...change(place as never) } as ExecutionEvent;
    return { log: log.map((e) => (e === place ? changed : e)) };
  };
}

/** Puts an event behind another one, at its time. */
function inserting(
  fits: (event: ExecutionEvent, log: Log) => boolean,
  make: (event: ExecutionEvent) => object,
): Mutation {
  return (log, pick) => {
    const place = pick(log.filter((e) => fits(e, log)));
    if (place === undefined) return undefined;
    const { v, runId, ts } = place;
    const added = {
      v,
      kind: "log",
      runId,
      seq: 0,
      ts,
      ...make(place),
    } as unknown as ExecutionEvent;
    return { log: renumber(log.flatMap((e) => (e === place ? [e, added] : [e]))) };
  };
}

const ended = (e: ExecutionEvent): boolean =>
  /^node\.(succeeded|failed|skipped|cancelled)$/.test(e.kind);
const place = (e: ExecutionEvent) => ({
  node: (e as { node: string }).node,
  attempt: (e as { attempt: number }).attempt,
});

const mutations: [Invariant, string, Mutation][] = [
  [
    "I1",
    "a gap",
    (log, pick) => {
      const at = pick(log);
      return at && { log: log.map((e) => (e.seq >= at.seq ? { ...e, seq: e.seq + 1 } : e)) };
    },
  ],
  [
    "I1",
    "another run",
    (log, pick) => {
      const at = pick(log.slice(1));
      return at && { log: log.map((e) => (e === at ? { ...e, runId: "other" } : e)) };
    },
  ],
  ["I1", "a field gone", replacing("node.started", () => ({ type: undefined }))],
  ["I2", "no summary", (log) => ({ log: log.slice(0, -1) })],
  ["I2", "no beginning", (log) => ({ log: renumber(log.slice(1)) })],
  [
    "I2",
    "something after the summary",
    (log) => {
      const { v, runId, ts, seq } = summaryOf(log);
      const said = { kind: "log", level: "info", channel: "engine", text: "" };
      return { log: [...log, { v, runId, seq: seq + 1, ts, ...said } as ExecutionEvent] };
    },
  ],
  ["I3", "an end twice", inserting(ended, (e) => ({ ...e }))],
  [
    "I4",
    "an edge from what was not over",
    (log, pick, graph) => {
      const starts = log.filter((e) => e.kind === "node.started" && e.attempt === 1 && !isBody(e));
      const to = pick(starts);
      if (to?.kind !== "node.started" || log.some((e) => e.kind === "confirm.requested"))
        return undefined;
      const late = log.filter((e) => ended(e) && !isBody(e) && e.seq > to.seq);
      const from = pick(late);
      if (from === undefined) return undefined;
      const edge = { from: place(from).node, port: "out", to: to.node };
      return { log, options: { graph: { ...graph, edges: [...graph.edges, edge] } } };
    },
  ],
  [
    "I5",
    "a remark after the end",
    inserting(ended, (e) => ({
      ...place(e),
      kind: "node.checked",
      index: 0,
      check: "expr",
      pass: true,
      level: "warn",
    })),
  ],
  ["I6", "an offset", replacing("llm.delta", (e) => ({ offset: e.offset + 1 }))],
  ["I6", "a sum", replacing("llm.failed", (e) => ({ discarded: e.discarded + 1 }))],
  [
    "I7",
    "a call that is not closed",
    (log, pick) => {
      const at = pick(log.filter((e) => e.kind === "tool.finished" || e.kind === "llm.failed"));
      return at && { log: renumber(log.filter((e) => e !== at)) };
    },
  ],
  ["I8", "the next attempt", replacing("node.retrying", (e) => ({ next: e.next + 1 }))],
  [
    "I8",
    "the delay",
    replacing(
      "node.retrying",
      () => ({ delayMs: 1e9 }),
      (e, log) =>
        log.some(
          (other) =>
            other.kind === "node.started" && other.node === e.node && other.attempt === e.next,
        ),
    ),
  ],
  [
    "I9",
    "a confirmation that nobody asked for",
    replacing("run.paused", (e) => ({ confirmations: [...e.confirmations, "zz"] })),
  ],
  [
    "I10",
    "the time of a node",
    replacing("node.succeeded", (e) => ({ durationMs: e.durationMs + 1 })),
  ],
  [
    "I10",
    "a count",
    replacing("summary", (e) => ({ counts: { ...e.counts, skipped: e.counts.skipped + 1 } })),
  ],
  [
    "I10",
    "the usage",
    replacing("summary", (e) => ({ usage: { ...e.usage, calls: e.usage.calls + 1 } })),
  ],
  ["I10", "the time of the run", replacing("summary", (e) => ({ durationMs: e.durationMs + 1 }))],
  [
    "I11",
    "a secret",
    (log, pick) => {
      const mutated = replacing("log", () => ({ text: "key: hunter2hunter2" }))(
        log,
        pick,
        undefined as never,
      );
      return mutated && { ...mutated, options: { secrets: ["hunter2hunter2"] } };
    },
  ],
  [
    "I12",
    "a snapshot of something else",
    (log, pick) => {
      const at = pick(log.slice(0, -1));
      if (at === undefined) return undefined;
      const view = createView();
      for (const e of log.slice(0, at.seq)) foldEvents(view, e);
      view.warnings += 1;
      return { log: log.flatMap((e) => (e === at ? [e, makeSnapshot(view, e.ts)] : [e])) };
    },
  ],
  [
    "I13",
    "a start while cancelling",
    (log, pick, graph) => {
      const cancelling = log.find((e) => e.kind === "run.cancelling");
      const pending = log.filter(
        (e) =>
          e.kind === "node.cancelled" &&
          !log.some((o) => o.kind === "node.started" && o.node === e.node),
      );
      const at = pick(pending);
      if (cancelling === undefined || at === undefined) return undefined;
      return inserting(
        (e) => e === cancelling,
        () => ({ ...place(at), kind: "node.started", type: "t" }),
      )(log, pick, graph);
    },
  ],
  [
    "I15",
    "a failure that nobody noticed",
    replacing(
      "summary",
      () => ({ status: "succeeded", error: undefined, exitCode: 0, outputs: {} }),
      (e, log) =>
        e.status === "failed" &&
        log.some((other) => other.kind === "node.failed" && other.routed === "none"),
    ),
  ],
  [
    "I15",
    "a failure for a parent that is not there",
    replacing(
      "node.failed",
      () => ({ routed: "parent" }),
      (e) => e.routed === "none",
    ),
  ],
  ["I16", "time that falls", replacing("log", (e) => ({ ts: e.ts - 1_000_000 }))],
  [
    "I17",
    "a body after its node",
    inserting(
      (e) => ended(e) && !isBody(e),
      (e) => ({
        kind: "node.skipped",
        node: `${place(e).node}[99]/late`,
        attempt: 1,
        why: "dead",
      }),
    ),
  ],
  [
    "I18",
    "an output gone",
    replacing("node.succeeded", () => ({ output: undefined, outputRef: undefined })),
  ],
  [
    "I18",
    "progress beyond its total",
    replacing(
      "node.progress",
      (e) => ({ total: e.done - 1 }),
      (e) => e.done > 0,
    ),
  ],
  ["I19", "the exit code", replacing("summary", (e) => ({ exitCode: e.exitCode + 1 }))],
];

test.each(mutations)("%s alone is broken by %s", (invariant, _what, mutate) => {
  let found = 0;
  holds(
    fc.property(fc.nat(1_000_000), fc.nat(), (seed, choice) => {
      const { events, graph } = legalLog(seed);
      const mutated = mutate(events, (places) => places[choice % places.length], graph);
      if (mutated === undefined) return;
      found += 1;
      const violations = checkLog(mutated.log, mutated.options);
      expect([violations[0], broken(violations)]).toEqual([violations[0], [invariant]]);
    }),
    { numRuns: Math.max(80, casesOf(400)) }, // some find a place in few logs
  );
  expect(found).toBeGreaterThan(0);
});

test("a made-up log is legal, with its graph and without, and is the same for the same seed", () => {
  holds(
    fc.property(fc.nat(), (seed) => {
      const { events, graph } = legalLog(seed);
      expect(checkLog(events)).toEqual([]);
      expect(checkLog(events, { graph, implied: [], secrets: ["hunter2hunter2"] })).toEqual([]);
      expect(legalLog(seed).events).toEqual(events);
    }),
    { numRuns: casesOf(500) },
  );
});

test("made-up logs show every kind and every way to end", () => {
  const kinds = new Set<string>();
  const endings = new Set<string>();
  for (let seed = 0; seed < 300; seed += 1) {
    const { events } = legalLog(seed);
    for (const { kind } of events) kinds.add(kind);
    endings.add(summaryOf(events).status);
  }
  expect(kinds.size).toBe(25);
  expect([...endings].sort()).toEqual(["cancelled", "failed", "succeeded"]);
});
