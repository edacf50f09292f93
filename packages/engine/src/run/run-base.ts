/** The part of a run that knows none of its attempts: plan, options, clock, log, secrets, sums of calls and nodes, result. Its journal needs no more. */
import {
  addCall,
  type Counts,
  type JsonObject,
  type LlmFailed,
  type LlmFinished,
  NO_USAGE,
  type NodeError,
  type RunView,
  type Summary,
} from "@millrace/contracts";
import { type Plan, type PlanParts, partsOf } from "../compile/plan.ts";
import type { EngineCore } from "../engine-core.ts";
import type { EngineError } from "../errors.ts";
import { type Limits, lowerLimits } from "../limits.ts";
import type { RunOptions } from "../options.ts";
import { EventLog } from "./event-log.ts";
import type { Frame } from "./frame.ts";
import { Redactor } from "./redact.ts";

const NO_VARS: JsonObject = Object.freeze({});
/** Shared by the runs whose flows read none: a map takes as much room as two events. */
const NO_SECRETS: ReadonlyMap<string, string | NodeError> = new Map();
/** Of bodies that have not ended. */
export const NO_COUNTS: Counts = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };

type MutableCounts = { -readonly [K in keyof Counts]: Counts[K] };

/** Arguments of a new run. */
export interface RunStart {
  readonly id: string;
  readonly inputs: JsonObject;
  readonly inputsDigest: string;
  readonly options: RunOptions;
}

export abstract class RunBase {
  readonly engine: EngineCore;
  readonly id: string;
  readonly plan: Plan;
  readonly parts: PlanParts;
  readonly options: RunOptions;
  readonly inputs: JsonObject;
  readonly inputsDigest: string;
  readonly limits: Limits;
  readonly log: EventLog;
  /** Time of the current entry; events carry it. Never falls. */
  now: number;
  startedAt: number;
  state: "pending" | "running" | "over" = "pending";
  paused: "confirmation" | "operator" | null = null;
  summary: Summary | null = null;
  /** Ended nodes, kept here because a whole fold would cost more than the run. */
  readonly counts: MutableCounts = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
  /** The same of bodies; null: none has ended. */
  bodyCounts: MutableCounts | null = null;
  #result: Promise<Summary> | null = null;
  /** Settles the promise; null: it was not asked for. */
  #settle: ((end: End) => void) | null = null;
  #end: End | null = null;
  #calls: CallSums | null = null;
  #info: JsonObject | null = null;
  /** Secrets of this run alone. */
  #secrets: Redactor | null = null;

  constructor(engine: EngineCore, plan: Plan, given: RunStart) {
    this.engine = engine;
    this.plan = plan;
    this.parts = partsOf(plan);
    this.id = given.id;
    this.inputs = given.inputs;
    this.inputsDigest = given.inputsDigest;
    this.options = given.options;
    this.limits = lowerLimits(engine.limits, given.options.limits);
    this.log = new EventLog(given.id, this.parts.layout.size, engine);
    this.now = engine.host.now();
    this.startedAt = this.now;
  }

  /** Lets the run go on: every way into it from outside ends with this. */
  abstract pump(): void;

  /** Stops a run whose journal is lost. */
  abstract abandon(error: EngineError): void;

  /** Reads the clock. Every way into the run from outside begins with it. */
  tick(): void {
    const now = this.engine.host.now();
    if (now > this.now) this.now = now;
  }

  /** Keeps the secrets of this run and of the whole engine out of its log; null: there are none. */
  get redactor(): Redactor | null {
    const { secrets } = this.engine;
    return this.#secrets ?? (secrets.isEmpty ? null : secrets);
  }

  /** A text that the log must not show from here on. False: it was known. */
  hide(secret: string): boolean {
    this.#secrets ??= new Redactor(this.engine.secrets);
    return this.#secrets.add(secret);
  }

  /** Value that expressions read as `run`. */
  get info(): JsonObject {
    this.#info ??= Object.freeze({
      id: this.id,
      startedAt: new Date(this.startedAt).toISOString(),
      flow: this.parts.graph.id,
    });
    return this.#info;
  }

  /** Value that expressions read as `vars`. */
  get vars(): JsonObject {
    return this.options.vars ?? NO_VARS;
  }

  /** Values that expressions read as `secrets`; a name that could not be read has its error. */
  secretValues: ReadonlyMap<string, string | NodeError> = NO_SECRETS;

  /** Model and tool calls; made when there is one. */
  get calls(): CallSums {
    this.#calls ??= new CallSums();
    return this.#calls;
  }

  get callsIfAny(): CallSums | null {
    return this.#calls;
  }

  /** Counts a node that has ended. */
  count(frame: Frame, how: keyof Counts): void {
    if (frame.owner === null) this.counts[how] += 1;
    else this.countInBody(how);
  }

  countInBody(how: keyof Counts): void {
    this.bodyCounts ??= { ...NO_COUNTS };
    this.bodyCounts[how] += 1;
  }

  /** The result; made when somebody asks for it. */
  get finished(): Promise<Summary> {
    if (this.#result === null) {
      this.#result = new Promise((resolve, reject) => {
        this.#settle = (end) => ("summary" in end ? resolve(end.summary) : reject(end.error));
      });
      this.#announce();
    }
    return this.#result;
  }

  /** Resolves the result. */
  finish(summary: Summary): void {
    this.#end = { summary };
    this.#announce();
  }

  /** Rejects the result. A caller that never awaits it causes no unhandled rejection. */
  fail(error: unknown): void {
    this.#end = { error };
    this.#announce();
  }

  #announce(): void {
    if (this.#settle === null || this.#end === null) return;
    if ("error" in this.#end) this.#result?.catch(() => undefined);
    this.#settle(this.#end);
  }
}

type End = { readonly summary: Summary } | { readonly error: unknown };

export class CallSums {
  usage: { -readonly [K in keyof typeof NO_USAGE]: number } = { ...NO_USAGE };
  /** Null as soon as one price is unknown. */
  costUsd: number | null = 0;
  readonly #taken: Set<string> = new Set();
  readonly #last = { c: 0, t: 0 };
  /** Ids that a question names for a call that has not begun. */
  readonly #reserved: Set<string> = new Set();

  /** Goes on after a log with these sums and calls. `reserved`: ids of calls that people were asked about. */
  continueFrom(
    { usage, costUsd }: RunView,
    { taken, reserved }: { taken: Iterable<string>; reserved: Iterable<string> },
  ): void {
    this.usage = { ...usage };
    this.costUsd = costUsd;
    for (const call of taken) this.take(call);
    for (const call of reserved) this.#reserved.add(call);
  }

  /** An id that no call of the run has: `c1`, `c2` … and `t1`, `t2` … */
  next(prefix: "c" | "t"): string {
    for (;;) {
      this.#last[prefix] += 1;
      const id = `${prefix}${this.#last[prefix]}`;
      if (!this.#taken.has(id) && !this.#reserved.has(id)) return id;
    }
  }

  /** Marks an id as used; false when it was. */
  take(call: string): boolean {
    if (this.#taken.has(call)) return false;
    this.#taken.add(call);
    return true;
  }

  /** Adds a model call that has ended. */
  add(call: Pick<LlmFinished | LlmFailed, "usage" | "costUsd">): void {
    addCall(this, call);
  }
}
