/** State of a run and of the attempts of its nodes: data, and small operations on it. */
import type {
  CancelReason,
  ConfirmAnswer,
  ErrorInfo,
  Json,
  KeyHolder,
  ValueRef,
} from "@millrace/contracts";
import type { Plan } from "../compile/plan.ts";
import type { NodePolicy } from "../compile/policy.ts";
import type { EngineCore } from "../engine-core.ts";
import type { EngineError } from "../errors.ts";
import type { NodeType } from "../node-type.ts";
import type { OpenConfirmation } from "../options.ts";
import { refOf } from "../values.ts";
import { type AttemptContext, type AttemptExtras, createExtras } from "./attempt-parts.ts";
import type { Frame, FrameOwner, StopReason } from "./frame.ts";
import type { JournalWriter } from "./journal.ts";
import type { RecoveredRun } from "./recover/recovered-run.ts";
import type { Reused } from "./recover/reuse.ts";
import { RunBase, type RunStart } from "./run-base.ts";
import { type Claimant, type Limit, ReadyRing, RunSlots, release } from "./slots.ts";
import type { Timer } from "./timers.ts";

/**
 * One try of one node: its slots, its timers, its signal, its place among the live ones.
 *   A1  after `over` nothing of it has an effect: late results are dropped, its context refuses.
 *   A2  it holds its slots exactly while the node works.
 */
export class Attempt implements Claimant, FrameOwner {
  readonly run: RunCore;
  readonly frame: Frame;
  readonly node: number;
  readonly limits: readonly Limit[];
  startedAt = 0;
  /** When the first attempt of the node began, if this is another one. */
  triedAt: number | null = null;
  /** Slots are held. */
  holds = false;
  /** The body has ended, or its result is no longer awaited. */
  over = false;
  /** Does not keep the run from pausing: it waits for a person, or its rounds do the work. */
  idle = false;
  /** Neighbours among the live attempts of the run, in start order. */
  prev: Attempt | null = null;
  next: Attempt | null = null;
  /** Why it is to stop; its signal is aborted. */
  stopping: StopReason | "timeout" | null = null;
  controller: AbortController | null = null;
  /** Called once, when its signal fires; null: no listener. */
  onAbort: (() => void) | null = null;
  /** Ends the attempt, the pause before it, or its time to settle. */
  timer: Timer | null = null;
  /** Made when the body is called. */
  context: AttemptContext | null = null;
  /** Open rounds of its body. */
  rounds = 0;
  #extras: AttemptExtras | null = null;

  constructor(run: RunCore, frame: Frame, node: number, limits: readonly Limit[]) {
    this.run = run;
    this.frame = frame;
    this.node = node;
    this.limits = limits;
  }

  /** When the first attempt of the node began, also before a restart: what keys are made with must not change. */
  get firstStartedAt(): number {
    return this.triedAt ?? this.startedAt;
  }

  get type(): NodeType {
    return this.frame.layout.types[this.node] as NodeType;
  }

  get policy(): NodePolicy {
    return this.frame.layout.policies[this.node] as NodePolicy;
  }

  /** Made at the first use. */
  get extras(): AttemptExtras {
    this.#extras ??= createExtras();
    return this.#extras;
  }

  /** The same, where nothing is to be kept. */
  get extrasIfAny(): AttemptExtras | null {
    return this.#extras;
  }

  get entered(): boolean {
    return this.context !== null;
  }

  get gone(): boolean {
    return this.over;
  }

  /** Tells the body to stop; a reason is made where somebody has asked for a signal, or may now. */
  abort(why: Attempt["stopping"]): void {
    const { onAbort } = this;
    if (onAbort !== null) this.controller ??= new AbortController();
    this.controller?.abort(abortReason(why));
    this.onAbort = null;
    onAbort?.();
  }

  /** Slots came free for an attempt that had to queue. */
  granted(): void {
    this.holds = true;
    this.run.queue(this);
    this.run.loop.wakeSoon(this.run);
  }

  /** Who it is, where keys are kept for several engines. */
  holder(): KeyHolder {
    return { runId: this.run.id, node: this.frame.path(this.node) };
  }

  /** Calls `then` when all that the run has said so far is stored; at once where nothing is. */
  whenStored(then: () => void): void {
    const { journal, log } = this.run;
    if (journal === null || journal.isStored(log.seq)) then();
    else journal.whenStored(log.seq, then);
  }

  /** Gives the slots back. */
  giveBack(): void {
    if (!this.holds) return;
    this.holds = false;
    release(this.limits);
  }

  /** Counts the node in or out of those that keep the run from pausing. */
  setIdle(idle: boolean): void {
    if (this.idle === idle) return;
    this.idle = idle;
    this.run.busy += idle ? -1 : 1;
  }

  /** Stops the clock of the attempt and keeps the time that is left. */
  holdTimeout(): void {
    const { timer, run } = this;
    if (timer === null) return;
    this.extras.timeLeftMs = Math.max(0, timer.due - run.now);
    run.engine.timers.cancel(timer);
    this.timer = null;
  }
}

/** The value of `signal.reason`; a new object each time, because its stack should name this stop. */
export function abortReason(why: Attempt["stopping"]): DOMException {
  return why === "timeout"
    ? new DOMException("the attempt took too long", "TimeoutError")
    : new DOMException("the run or the node around it stops", "AbortError");
}

const RUN_SLOTS = 64; // enough to hide waiting, few enough that a fan of ten thousand requests is not one burst

/** Name of the credentials of a run among its private values; no path of a node is like it. */
export const USED_SECRETS = "~secrets";

const NO_FRAMES: (Frame | null)[] = [];
const NOTHING_USED: readonly string[] = [];
/** Shared by the runs in which no node has ended since they last paused; never changed. */
export const NO_ENDED: number[] = [];
/** Shared by the runs in which at most one attempt waits to go on; never changed. */
const NO_ATTEMPTS: Attempt[] = [];

/** Shared by the runs without a question; never changed. */
const NO_CONFIRMATIONS: readonly Confirmation[] = [];

/** An open confirmation and the node behind it. */
export interface Confirmation {
  readonly open: OpenConfirmation;
  readonly attempt: Attempt;
  readonly answer: (answer: ConfirmAnswer) => void;
  timer: Timer | null;
  /** The handler of the run knows of it. */
  asked: boolean;
}

/** The loop over the runs of an engine, as a run sees it; `schedule.ts` implements it. */
export interface RunLoop {
  readonly engine: EngineCore;
  /** The run that is being entered: its entry ends with `pump`, so that `wakeSoon` need not queue it. */
  entered: RunCore | null;
  /** Lets a run go on until nothing can. Does nothing when it is called from within. */
  pump(run: RunCore): void;
  /** Pumps the run after the present work, without growing the stack. */
  wakeSoon(run: RunCore): void;
  /** Starts a frame: decides the nodes that wait for nothing. */
  seed(run: RunCore, frame: Frame): void;
  /** Stops a run whose journal is lost: its bodies are aborted, nothing is written, its result is an error. */
  abandon(run: RunCore, error: EngineError): void;
  /** Drops a run that has ended or is left. */
  forget(run: RunCore): void;
}

/** Why a run stops before its nodes have ended. */
export interface Stop {
  readonly reason: "run_cancelled" | "run_failed";
  readonly cancel: CancelReason | null;
}

/** The state of a run: frames, attempts, what is ready and what has ended. */
export class RunCore extends RunBase {
  readonly loop: RunLoop;
  readonly slots: RunSlots;
  readonly onFailure: "stop" | "finish";
  /** State read from the log when the run was resumed. */
  recovered: RecoveredRun | null = null;
  /** It was left while it waited for times: it goes on as if it had not been left. */
  isWoken = false;
  /** Ordinary nodes take the fast lane: nothing is kept, taken over or cached. */
  isFast = false;
  /** The run was about to end when its process died, and does nothing else any more. */
  ending = false;
  /** The earlier run of which this is another try, and what it takes over. */
  resumedFrom: { readonly runId: string; readonly seq: number } | null = null;
  reused: Reused | null = null;

  /** The run's own, then those of bodies. */
  frames: (Frame | null)[] = NO_FRAMES;
  freeFrames: number[] | null = null;
  readonly ring: ReadyRing = new ReadyRing();
  /** Attempts that have their slots and go on: queued ones, due retries, resumed ones. Mostly there is one at a time. */
  #next: Attempt | null = null;
  #again: Attempt[] = NO_ATTEMPTS;
  /** Nodes that have ended and whose readers and edges do not know it yet: frame id, node, port in turn. */
  ended: number[] = NO_ENDED;
  /** How many numbers of `ended` count; the list itself keeps its memory. */
  endedSize = 0;
  endedFrames: Frame[] | null = null;
  firstLive: Attempt | null = null;
  lastLive: Attempt | null = null;
  /** Nodes that are ready, running, retrying, or waiting for something that is not a person. */
  busy = 0;
  /** Nodes of all frames that have not ended. */
  open = 0;
  executions = 0;
  liveBytes = 0;

  stop: Stop | null = null;
  /** A cancel that came before the first event. */
  cancelEarly: {
    readonly stop: { readonly reason: "run_cancelled"; readonly cancel: CancelReason };
    readonly graceMs: number;
    readonly by: string | undefined;
    readonly note: string | undefined;
  } | null = null;
  /** The operator has asked for a pause that a confirmation's pause still hides. */
  held = false;
  /** The run is being left: nothing starts any more. */
  leaving = false;
  /** Called after each drain; null: no listener. */
  onDrained: (() => void) | null = null;
  /** Deferred calls of bodies of parked nodes while the run is paused for a confirmation. */
  deferred: (() => void)[] | null = null;
  yielding = false;
  /** `seq` when the run last handed over. */
  yieldedAt = 0;
  pumping = false;
  failure: (ErrorInfo & { readonly node?: string }) | null = null;
  /** Open ones, in the order of requests. */
  confirmations: readonly Confirmation[] = NO_CONFIRMATIONS;
  /** How confirmations ended that are no longer open. */
  resolved: Map<string, string> | null = null;
  confirmationCount = 0;
  announced = false;
  grace: Timer | null = null;
  clock: Timer | null = null;
  clockLeftMs: number;
  /** The clock has run out, and the scheduler has not ended the run yet. */
  isLate = false;
  journal: JournalWriter | null = null;
  /** Undoes what `run` set up outside: the listener on the caller's signal. */
  detach: (() => void) | null = null;

  /** Credentials that it has used, for the process that takes it up. */
  #used: readonly string[] = NOTHING_USED;

  constructor(loop: RunLoop, plan: Plan, given: RunStart) {
    const { engine } = loop;
    super(engine, plan, given);
    this.loop = loop;
    const { policy } = this.parts.graph;
    this.onFailure = given.options.onFailure ?? policy?.onFailure ?? "stop";
    const timeout = given.options.timeoutMs ?? policy?.timeoutMs ?? Number.POSITIVE_INFINITY;
    this.clockLeftMs = Math.min(timeout, this.limits.wallClockMs);
    const slots = engine.options.concurrency?.run ?? RUN_SLOTS;
    const most = given.options.concurrency ?? policy?.concurrency ?? slots;
    this.slots = new RunSlots(most, engine);
  }

  /** A credential: no run shows it, nor this one after an interruption, when it may hold answers that quote it. */
  learn(secret: string): void {
    if (!this.hide(secret)) return;
    this.engine.secrets.add(secret);
    this.#used = [...this.#used, secret];
    this.journal?.keepPrivate(USED_SECRETS, this.#used);
  }

  /** Keeps a value beside the log, without the secrets that the run knows, and answers its reference. */
  keepLarge(value: Json): ValueRef {
    const shown = this.redactor?.clean(value) ?? value;
    const ref = refOf(shown, this.engine.host);
    this.journal?.keepValue(ref.ref, shown);
    return ref;
  }

  /** A way into the run that surely ends with `pump`: what comes free meanwhile needs no call of its own. */
  enter(): void {
    this.loop.entered = this;
    this.tick();
  }

  pump(): void {
    this.loop.pump(this);
  }

  abandon(error: EngineError): void {
    this.loop.abandon(this, error);
  }

  /** Lets an attempt that has its slots go on after those that wait for it already. */
  queue(attempt: Attempt): void {
    if (this.#next === null) this.#next = attempt;
    else if (this.#again === NO_ATTEMPTS) this.#again = [attempt];
    else this.#again.push(attempt);
  }

  /** The attempt that goes on next; null: none. */
  takeNext(): Attempt | null {
    const next = this.#next;
    if (next !== null) this.#next = this.#again.length > 0 ? (this.#again.shift() ?? null) : null;
    return next;
  }

  /** Those that wait to go on give their slots back. */
  dropQueue(): void {
    for (let next = this.takeNext(); next; next = this.takeNext()) next.giveBack();
  }

  /** Puts an attempt at the end of the live ones. */
  link(attempt: Attempt): void {
    if (attempt.prev !== null || this.firstLive === attempt) return;
    attempt.prev = this.lastLive;
    if (this.lastLive === null) this.firstLive = attempt;
    else this.lastLive.next = attempt;
    this.lastLive = attempt;
  }

  unlink(attempt: Attempt): void {
    const { prev, next } = attempt;
    if (prev === null && this.firstLive !== attempt) return;
    if (prev === null) this.firstLive = next;
    else prev.next = next;
    if (next === null) this.lastLive = prev;
    else next.prev = prev;
    attempt.prev = null;
    attempt.next = null;
  }

  /** Live attempts in start order, as they are now. */
  liveAttempts(): Attempt[] {
    const list: Attempt[] = [];
    for (let a = this.firstLive; a !== null; a = a.next) list.push(a);
    return list;
  }

  /** Queues a node that has ended through `port`; `propagate` does the rest. */
  nodeEnded(frame: Frame, node: number, port: number): void {
    frame.open -= 1;
    this.open -= 1;
    if (this.ended === NO_ENDED) this.ended = [0, 0, 0]; // room for one: an empty list that grows takes room for five
    const { ended } = this;
    ended[this.endedSize++] = frame.id;
    ended[this.endedSize++] = node;
    ended[this.endedSize++] = port;
  }

  /** Queues a frame whose nodes have all ended; the scheduler closes it. */
  frameEnded(frame: Frame): void {
    if (this.endedFrames === null) this.endedFrames = [frame];
    else this.endedFrames.push(frame);
  }
}
