/**
 * One try of one node: its slots, its timers, its signal, its place among the live ones.
 *   A1  after `over` nothing of it has an effect: late results are dropped, its context refuses.
 *   A2  it holds its slots exactly while the node works.
 */
import type { NodePolicy } from "../compile/policy.ts";
import type { NodeType } from "../node-type.ts";
import type { Calls } from "./calls.ts";
import type { NodeContextOf } from "./context.ts";
import type { Frame, StopReason } from "./frame.ts";
import type { RunCore } from "./run-core.ts";
import type { Claimant, KeyClaim, Limit } from "./slots.ts";
import type { Timer } from "./timers.ts";

/** What only few attempts have. */
export interface Aside {
  /** Place among the holders of a key. */
  key: KeyClaim | null;
  cacheKey: string | null;
  /** What is left of the timeout while the node waits for a person. */
  timeLeftMs: number | null;
  /** What a parked node waits for. */
  wait: Timer | null;
  /** What goes on when a parked node has its slots back. */
  onResume: (() => void)[] | null;
  /** Answers that are there while other questions of the node are open. */
  readonly answers: (() => void)[];
  /** Model and tool calls; null: none. */
  calls: Calls | null;
  /** Tools that are at work while the body may ask a person. */
  working: number;
  /** Flows among them, which work with slots of their own. */
  flows: number;
  /** The body was entered again and has not come to the place where it was parked: what it says was said before. */
  replaying: boolean;
}

export class Attempt implements Claimant {
  readonly run: RunCore;
  readonly frame: Frame;
  readonly node: number;
  readonly limits: readonly Limit[];
  startedAt = 0;
  /** When the first attempt of the node began, also before a restart: what keys are made with must not change. */
  firstStartedAt = 0;
  /** Slots are held. */
  holds = false;
  /** The body has ended, or nobody waits for it any more. */
  over = false;
  /** Does not keep the run from pausing: it waits for a person, or its rounds do the work. */
  idle = false;
  /** Neighbours among the live attempts of the run, in start order. */
  prev: Attempt | null = null;
  next: Attempt | null = null;
  /** Why it is to stop; its body has been told. */
  stopping: StopReason | "timeout" | null = null;
  controller: AbortController | null = null;
  /** Ends the attempt, the pause before it, or its time to settle. */
  timer: Timer | null = null;
  /** Made when the body is called. */
  context: NodeContextOf | null = null;
  /** Open rounds of its body. */
  rounds = 0;
  #aside: Aside | null = null;

  constructor(run: RunCore, frame: Frame, node: number, limits: readonly Limit[]) {
    this.run = run;
    this.frame = frame;
    this.node = node;
    this.limits = limits;
  }

  get type(): NodeType {
    return this.frame.layout.types[this.node] as NodeType;
  }

  get policy(): NodePolicy {
    return this.frame.layout.policies[this.node] as NodePolicy;
  }

  /** Made at the first use. */
  get aside(): Aside {
    this.#aside ??= {
      key: null,
      cacheKey: null,
      timeLeftMs: null,
      wait: null,
      onResume: null,
      answers: [],
      calls: null,
      working: 0,
      flows: 0,
      replaying: false,
    };
    return this.#aside;
  }

  /** The same, where nothing is to be kept. */
  get asideIfAny(): Aside | null {
    return this.#aside;
  }

  get entered(): boolean {
    return this.context !== null;
  }

  get gone(): boolean {
    return this.over;
  }

  /** Slots came free for an attempt that had to queue. */
  granted(): void {
    this.holds = true;
    this.run.again.push(this);
    this.run.engine.wakeSoon(this.run);
  }
}
