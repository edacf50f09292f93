/**
 * Every invariant over a log. It judges what `foldEvents` shows.
 *   C1  a legal log has no violations, and a violation is reported where it shows, once, under the invariant that it breaks.
 *   C2  it never throws, whatever the log holds.
 * I14 is no matter of a log but of its readers: unknown kinds and fields are legal here.
 * @see the events page, "Invariants"
 */
import { checkSaid } from "./check-call.ts";
import { mustPause } from "./check-graph.ts";
import { checkStep, type NodeStep, type Remark, type StepFacts, stepOf } from "./check-node.ts";
import {
  checkOrder,
  checkRunStep,
  checkSoleSummary,
  checkStarted,
  checkSummary,
} from "./check-run.ts";
import {
  type CheckOptions,
  type CheckState,
  createState,
  type NodeRecord,
  report,
  type Violation,
} from "./check-state.ts";
import { envelopeProblem, isId } from "./envelope.ts";
import { foldEvents } from "./fold.ts";
import { EVENT_KINDS, payloadProblem } from "./kinds.ts";
import { bytesBeyond, EVENT_LIMITS } from "./limits.ts";
import { isPath } from "./path.ts";
import { lineForms } from "./secrets.ts";
import { serialiseEvent } from "./serialise.ts";
import type {
  AnyEvent,
  ExecutionEvent,
  NodeSucceeded,
  Snapshot,
  Summary,
  UnknownEvent,
} from "./types.ts";
import { viewToJson } from "./view-json.ts";
import { createView } from "./view-state.ts";

/** All that the log of one run does wrong, in order; empty: it is legal. */
export function checkLog(events: Iterable<AnyEvent>, options: CheckOptions = {}): Violation[] {
  const log = Array.isArray(events) ? (events as readonly AnyEvent[]) : [...events];
  return new LogCheck(log, options).run();
}

/** Rules for the kind of an event. */
interface KindFacts {
  /** It always names a node. */
  readonly namesNode: boolean;
  /** It comes by the thousand, and its fields are all bounded far below a line, but for `ports`. */
  readonly isSmall: boolean;
  /** Rules for it as a step of a node; undefined for other kinds. */
  readonly step: StepFacts | undefined;
}

const SMALL_KINDS: readonly string[] =
  "llm.delta log node.progress node.skipped node.started node.succeeded".split(" ");

const KINDS: ReadonlyMap<string, KindFacts> = new Map(
  EVENT_KINDS.map((kind) => {
    const namesNode = /^(node|llm|tool|confirm)\./.test(kind);
    return [kind, { namesNode, isSmall: SMALL_KINDS.includes(kind), step: stepOf(kind) }];
  }),
);

class LogCheck {
  readonly #log: readonly AnyEvent[];
  readonly #state: CheckState;
  readonly #secrets: readonly string[];
  #seq = 0;
  #ts = 0;
  #runId: string | undefined;
  #summary: Summary | undefined;
  #last: NodeRecord | undefined;

  constructor(log: readonly AnyEvent[], options: CheckOptions) {
    this.#log = log;
    this.#state = createState(options);
    this.#secrets = lineForms(options.secrets ?? []);
  }

  run(): Violation[] {
    for (let i = 0; i < this.#log.length; i += 1) this.#judge(this.#log[i] as ExecutionEvent, i);
    if (this.#summary === undefined && this.#state.options.unfinished !== true) {
      const last = { seq: this.#seq, kind: "" };
      report(this.#state, last, "I2", "the log has no summary");
    }
    return this.#state.violations;
  }

  #judge(given: ExecutionEvent, index: number): void {
    try {
      this.#event(given, index);
    } catch {
      // C2: only what is not JSON, or not of its kind, gets here; most of it is reported already.
      const at = { seq: this.#seq, kind: "" };
      report(this.#state, at, "I1", "what follows is no event that can be looked at");
    }
  }

  #event(given: ExecutionEvent, index: number): void {
    const state = this.#state;
    let facts = KINDS.get(given?.kind);
    const problem = given?.v === 1 ? this.#envelopeProblem(given, facts) : "v is not 1";
    const e = problem === undefined ? given : this.#mended(given);
    if (problem !== undefined) {
      report(state, e, "I1", problem);
      facts = KINDS.get(e.kind);
    }
    if (e.kind === "snapshot") {
      this.#snapshot(e, index);
      return;
    }
    this.#place(e);
    this.#bytes(e, facts?.isSmall === true);
    if (this.#summary !== undefined) {
      report(state, e, "I2", `${e.kind} after the summary`);
      return;
    }
    this.#first(e, index);
    if (facts === undefined) return;
    const fields = payloadProblem(e);
    if (fields !== undefined) report(state, e, "I1", `${e.kind}: ${fields}`);
    if (facts.step !== undefined) this.#step(e as NodeStep, facts.step);
    else this.#dispatch(e, index);
    if (state.scope !== undefined) state.mustPause = mustPause(state);
  }

  #step(e: NodeStep, facts: StepFacts): void {
    checkOrder(this.#state, e);
    this.#last = checkStep(this.#state, e, { known: this.#known(e.node), facts });
  }

  /** The record of a node. The steps of one often follow each other. */
  #known(path: string): NodeRecord | undefined {
    return this.#last?.path === path ? this.#last : this.#state.nodes.get(path);
  }

  /** An event with a bad envelope, as what it most likely is, so that what follows is judged for itself. */
  #mended(given: ExecutionEvent | null | undefined): ExecutionEvent {
    const { kind, runId, seq, ts, node, attempt } = (given ?? {}) as Partial<UnknownEvent>;
    const path = typeof node === "string" ? node : "?";
    const known = this.#state.nodes.get(path);
    const next = (known?.attempt ?? 1) + (kind === "node.started" && known !== undefined ? 1 : 0);
    return {
      ...given,
      v: 1,
      kind: typeof kind === "string" ? kind : "?",
      runId: this.#runId ?? (isId(runId) ? runId : undefined),
      seq: isPositive(seq) ? seq : this.#seq + 1,
      ts: isPositive(ts) ? ts : this.#ts,
      ...(node === undefined ? {} : { node: path, attempt: isPositive(attempt) ? attempt : next }),
    } as unknown as ExecutionEvent;
  }

  /** Most events are of the one run, of a kind that names a node, and mostly of one that was looked at before. */
  #envelopeProblem(e: ExecutionEvent, facts: KindFacts | undefined): string | undefined {
    const { node, attempt } = e as UnknownEvent;
    const isSeen =
      e.runId === this.#runId &&
      facts?.namesNode === true &&
      isPositive(e.seq) &&
      isPositive(e.ts) &&
      isPositive(attempt) &&
      node !== undefined &&
      (this.#known(node) !== undefined || (typeof node === "string" && isPath(node)));
    return isSeen ? undefined : envelopeProblem(e as UnknownEvent);
  }

  /** Where the event stands in the log. */
  #place(e: ExecutionEvent): void {
    const state = this.#state;
    this.#runId ??= e.runId;
    const stands = e.kind === "llm.delta" ? (e.merged ?? 1) : 1;
    if (e.seq !== this.#seq + stands) {
      report(state, e, "I1", `seq is ${e.seq} after ${this.#seq}`);
    } else if (e.runId !== this.#runId) {
      report(state, e, "I1", "runId is another one than before");
    } else if (e.ts < this.#ts) {
      report(state, e, "I16", `ts falls by ${this.#ts - e.ts} ms`);
    }
    this.#seq = e.seq;
    this.#ts = Math.max(this.#ts, e.ts);
  }

  /** Checks the serialised size of the event. */
  #bytes(e: ExecutionEvent, isSmallKind: boolean): void {
    const state = this.#state;
    const isSmall = isSmallKind && (e as NodeSucceeded).ports === undefined;
    if (!isSmall && bytesBeyond(e, EVENT_LIMITS.lineBytes) > 0) {
      report(state, e, "I1", `the line is longer than ${EVENT_LIMITS.lineBytes} bytes`);
    }
    if (this.#secrets.length === 0) return;
    const line = serialiseEvent(e);
    if (this.#secrets.some((form) => line.includes(form))) {
      report(state, e, "I11", `${e.kind} holds a secret`);
    }
  }

  #first(e: ExecutionEvent, index: number): void {
    const isSole = e.kind === "summary" && this.#log.length === 1;
    if (index > 0 || e.kind === "run.started" || isSole) return;
    report(this.#state, e, "I2", `the log begins with ${e.kind}`);
    this.#state.run = "running";
  }

  #dispatch(e: ExecutionEvent, index: number): void {
    const state = this.#state;
    checkOrder(state, e);
    switch (e.kind) {
      case "run.started":
        checkStarted(state, e);
        break;
      case "run.paused":
      case "run.resumed":
      case "run.cancelling":
        checkRunStep(state, e);
        break;
      case "summary":
        this.#summary = e;
        if (index === 0 && this.#log.length === 1) checkSoleSummary(state, e);
        else checkSummary(state, e);
        break;
      case "log":
        if (e.node !== undefined) checkSaid(state, e as Remark);
        break;
      case "snapshot":
        break;
      default:
        checkSaid(state, e as Remark);
    }
  }

  /** A snapshot belongs to a reader, never into a journal; one that stands in a capture must be the fold of what came before. */
  #snapshot(e: Snapshot, index: number): void {
    const view = createView();
    for (const before of this.#log.slice(0, index)) foldEvents(view, before);
    const isFold = JSON.stringify(viewToJson(view)) === JSON.stringify(e.view);
    const at = { seq: e.seq, kind: "" };
    if (!isFold || e.seq !== this.#seq) {
      report(this.#state, at, "I12", "the snapshot is not the fold of what comes before it");
    } else report(this.#state, at, "I1", "a snapshot is made for one reader, never for a journal");
  }
}

function isPositive(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** A message shows so many; the first ones are the cause. */
const SHOWN = 10;

/**
 * Throws an `Error` that lists what a log does wrong, each with its invariant and `seq`; returns when it is legal.
 * `options` are those of `checkLog`.
 */
export function assertLog(events: Iterable<AnyEvent>, options: CheckOptions = {}): void {
  const violations = checkLog(events, options);
  if (violations.length === 0) return;
  const shown = violations
    .slice(0, SHOWN)
    .map(({ invariant, seq, message }) => `  ${invariant} at seq ${seq}: ${message}`);
  const more = violations.length > SHOWN ? [`  and ${violations.length - SHOWN} more`] : [];
  const head = `the log breaks ${violations.length === 1 ? "a rule" : `${violations.length} rules`}:`;
  throw new Error([head, ...shown, ...more].join("\n"));
}
