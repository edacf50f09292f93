/** Everything that one run holds. The modules beside this file are its verbs; this one is data and small moves of it. */
import type { CancelReason, Counts, ErrorInfo, JsonObject, Summary } from "@millrace/contracts";
import type { Layout } from "../compile/layout.ts";
import { type Plan, type PlanParts, partsOf } from "../compile/plan.ts";
import type { NodePolicy } from "../compile/policy.ts";
import type { EngineCore } from "../engine-core.ts";
import { type Limits, lowerLimits } from "../limits.ts";
import type { NodeType } from "../node-type.ts";
import type { RunOptions } from "../options.ts";
import type { Attempt } from "./attempt.ts";
import { CallSums } from "./call-sums.ts";
import type { Confirmation } from "./confirmations.ts";
import { EventLog } from "./event-log.ts";
import type { Frame } from "./frame.ts";
import type { JournalWriter } from "./journal-writer.ts";
import type { Past } from "./past.ts";
import { ReadyRing } from "./ready-ring.ts";
import { Redactor } from "./redact.ts";
import type { Reused } from "./reuse.ts";
import { Limit } from "./slots.ts";
import type { Timer } from "./timers.ts";

const RUN_SLOTS = 64; // enough to hide waiting, few enough that a fan of ten thousand requests is not one burst

/** Name of the credentials of a run among its private values; no path of a node is like it. */
export const USED_SECRETS = "~secrets";

const NO_LIMITS: readonly Limit[] = [];
const NO_FRAMES: (Frame | null)[] = [];

/** Shared by the runs that have asked nobody; never changed. */
export const NO_CONFIRMATIONS: Map<string, Confirmation> = new Map();

/** Why a run stops before its nodes have ended. */
export interface Stop {
  readonly reason: "run_cancelled" | "run_failed";
  readonly cancel: CancelReason | null;
}

type MutableCounts = { -readonly [K in keyof Counts]: Counts[K] };

export class RunCore {
  readonly engine: EngineCore;
  readonly id: string;
  readonly plan: Plan;
  readonly parts: PlanParts;
  readonly options: RunOptions;
  readonly inputs: JsonObject;
  readonly inputsDigest: string;
  readonly limits: Limits;
  readonly log: EventLog;
  readonly onFailure: "stop" | "finish";
  /** What the log said when the run was taken up again. */
  past: Past | null = null;
  /** The run was about to end when its process died, and does nothing else any more. */
  ending = false;
  /** The earlier run of which this is another try, and what it takes over. */
  resumedFrom: { readonly runId: string; readonly seq: number } | null = null;
  reused: Reused | null = null;
  /** Time of the current entry; events carry it. Never falls. */
  now: number;

  /** The run's own, then those of bodies. */
  frames: (Frame | null)[] = NO_FRAMES;
  freeFrames: number[] | null = null;
  readonly ring: ReadyRing = new ReadyRing();
  /** Attempts that have their slots and go on: queued ones, due retries, resumed ones. */
  again: Attempt[] = [];
  /** Nodes that have ended and whose readers and edges do not know it yet: frame id, node, port in turn. */
  readonly ended: number[] = [0, 0, 0]; // room for one: an empty list that grows takes room for five
  /** How many numbers of `ended` count; the list itself keeps its memory. */
  endedSize = 0;
  readonly endedFrames: Frame[] = [];
  firstLive: Attempt | null = null;
  lastLive: Attempt | null = null;
  /** Nodes that are ready, running, retrying, or waiting for something that is not a person. */
  busy = 0;
  /** Nodes of all frames that have not ended. */
  open = 0;
  executions = 0;
  liveBytes = 0;

  state: "pending" | "running" | "over" = "pending";
  stop: Stop | null = null;
  /** A cancel that came before the first event. */
  cancelEarly: {
    readonly stop: { readonly reason: "run_cancelled"; readonly cancel: CancelReason };
    readonly graceMs: number;
    readonly by: string | undefined;
    readonly note: string | undefined;
  } | null = null;
  paused: "confirmation" | "operator" | null = null;
  /** The operator has asked for a pause that a confirmation's pause still hides. */
  held = false;
  /** The run is being left: nothing starts any more. */
  leaving = false;
  /** Called after each drain; null: nobody waits for one. */
  onDrained: (() => void) | null = null;
  /** What bodies of parked nodes do while the run is paused for a confirmation. */
  deferred: (() => void)[] | null = null;
  yielding = false;
  /** `seq` when the run last handed over. */
  yieldedAt = 0;
  pumping = false;
  failure: (ErrorInfo & { readonly node?: string }) | null = null;
  /** Open ones by id; most runs have none. */
  confirmations: Map<string, Confirmation> = NO_CONFIRMATIONS;
  /** How confirmations ended that are no longer open. */
  resolved: Map<string, string> | null = null;
  confirmationCount = 0;
  startedAt = 0;
  /** Ended nodes, kept here because a whole fold would cost more than the run. */
  readonly counts: MutableCounts = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
  readonly bodyCounts: MutableCounts = { succeeded: 0, failed: 0, skipped: 0, cancelled: 0 };
  #calls: CallSums | null = null;
  summary: Summary | null = null;
  announced = false;
  grace: Timer | null = null;
  clock: Timer | null = null;
  clockLeftMs: number;
  journal: JournalWriter | null = null;
  readonly finished: Promise<Summary>;
  finish!: (summary: Summary) => void;
  #reject!: (error: unknown) => void;
  #info: JsonObject | null = null;
  /** Undoes what `run` set up outside: the listener on the caller's signal. */
  detach: (() => void) | null = null;

  /** What this run alone must not show. */
  #secrets: Redactor | null = null;
  /** Credentials that it has used, for who takes it up. */
  readonly #used: string[] = [];
  readonly #slots: readonly Limit[];
  /** The slots of the type that was asked for last: neighbours are often alike. */
  #lastType: NodeType | null = null;
  #lastSlots: readonly Limit[] = NO_LIMITS;
  /** Slots by type name, or by the policy of a node that has a limit of its own. */
  #slotSets: Map<unknown, readonly Limit[]> | null = null;

  constructor(
    engine: EngineCore,
    plan: Plan,
    parts: { id: string; inputs: JsonObject; inputsDigest: string; options: RunOptions },
  ) {
    this.engine = engine;
    this.plan = plan;
    this.parts = partsOf(plan);
    this.id = parts.id;
    this.inputs = parts.inputs;
    this.inputsDigest = parts.inputsDigest;
    this.options = parts.options;
    this.limits = lowerLimits(engine.limits, parts.options.limits);
    this.log = new EventLog(parts.id, this.parts.layout.size, engine);
    this.now = engine.host.now();
    const policy = this.parts.graph.policy;
    this.onFailure = parts.options.onFailure ?? policy?.onFailure ?? "stop";
    const timeout = parts.options.timeoutMs ?? policy?.timeoutMs ?? Number.POSITIVE_INFINITY;
    this.clockLeftMs = Math.min(timeout, this.limits.wallClockMs);
    const slots = engine.options.concurrency?.run ?? RUN_SLOTS;
    this.#slots = [new Limit(parts.options.concurrency ?? policy?.concurrency ?? slots)];
    this.finished = new Promise((resolve, reject) => {
      this.finish = resolve;
      this.#reject = reject;
    });
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

  /** A credential: no run shows it, nor this one after an interruption, when it may hold answers that quote it. */
  learn(secret: string): void {
    if (!this.hide(secret)) return;
    this.engine.secrets.add(secret);
    this.#used.push(secret);
    this.journal?.keepPrivate(USED_SECRETS, [...this.#used]);
  }

  /** What expressions read as `run`. */
  get info(): JsonObject {
    this.#info ??= Object.freeze({
      id: this.id,
      startedAt: new Date(this.startedAt).toISOString(),
      flow: this.parts.graph.id,
    });
    return this.#info;
  }

  /** Model and tool calls; made when there is one. */
  get calls(): CallSums {
    this.#calls ??= new CallSums();
    return this.#calls;
  }

  get callsIfAny(): CallSums | null {
    return this.#calls;
  }

  /** Rejects the result. A caller that never asks for it causes no unhandled rejection. */
  fail(error: unknown): void {
    this.finished.catch(() => undefined);
    this.#reject(error);
  }

  /** A way into the run that surely ends with `pump`: what comes free meanwhile needs no call of its own. */
  enter(): void {
    this.engine.entered = this;
    this.tick();
  }

  /** Reads the clock. Every way into the run from outside begins with it. */
  tick(): void {
    const now = this.engine.host.now();
    if (now > this.now) this.now = now;
  }

  /** The slots that a node needs to work. */
  slotsOf(layout: Layout, node: number): readonly Limit[] {
    const type = layout.types[node] as Layout["types"][number];
    const policy = layout.policies[node] as Layout["policies"][number];
    if (policy.concurrency !== null || type !== this.#lastType) return this.#find(type, policy);
    return this.#lastSlots;
  }

  #find(type: NodeType, policy: NodePolicy): readonly Limit[] {
    const slots = type.slots === "none" ? NO_LIMITS : this.#make(type, policy);
    if (policy.concurrency === null) {
      this.#lastType = type;
      this.#lastSlots = slots;
    }
    return slots;
  }

  #make(type: NodeType, policy: NodePolicy): readonly Limit[] {
    const { type: name } = type.entry;
    const ofType = this.engine.typeSlots.get(name);
    const own = policy.concurrency;
    if (own === null && ofType === undefined) return this.#slots;
    this.#slotSets ??= new Map();
    const key = own === null ? name : policy;
    let slots = this.#slotSets.get(key);
    if (slots === undefined) {
      slots = [...this.#slots];
      if (ofType !== undefined) slots = [...slots, ofType];
      if (own !== null) slots = [...slots, new Limit(own)];
      this.#slotSets.set(key, slots);
    }
    return slots;
  }

  /** Puts an attempt at the end of the live ones. */
  link(attempt: Attempt): void {
    if (this.#isLive(attempt)) return;
    attempt.prev = this.lastLive;
    if (this.lastLive === null) this.firstLive = attempt;
    else this.lastLive.next = attempt;
    this.lastLive = attempt;
  }

  #isLive(attempt: Attempt): boolean {
    return attempt.prev !== null || this.firstLive === attempt;
  }

  unlink(attempt: Attempt): void {
    if (!this.#isLive(attempt)) return;
    if (attempt.prev === null) this.firstLive = attempt.next;
    else attempt.prev.next = attempt.next;
    if (attempt.next === null) this.lastLive = attempt.prev;
    else attempt.next.prev = attempt.prev;
    attempt.prev = null;
    attempt.next = null;
  }

  /** Live attempts in start order, as they are now. */
  liveAttempts(): Attempt[] {
    const list: Attempt[] = [];
    for (let a = this.firstLive; a !== null; a = a.next) list.push(a);
    return list;
  }

  /** Counts a node that has ended. */
  count(frame: Frame, how: keyof Counts): void {
    if (frame.owner === null) this.counts[how] += 1;
    else this.bodyCounts[how] += 1;
  }
}
