/**
 * The loop over the runs of an engine. A run is entered from outside (a promise, a timer, a caller), never re-enters itself,
 * and goes on until nothing is ready, the run pauses, or other work of the process is due.
 */

import { UnorderedMap } from "@millrace/contracts/kit";
import type { EngineCore } from "../engine-core.ts";
import type { EngineError } from "../errors.ts";
import { armTimeout } from "./attempt.ts";
import { emitNode } from "./emit.ts";
import { failRun } from "./end.ts";
import { abandonRun, cancelLate, finishRun } from "./end-run.ts";
import { beginFast, startFast } from "./fast-lane.ts";
import { closeRound, decideRoots, propagate } from "./flow.ts";
import { type Frame, RUNNING, WAITING } from "./frame.ts";
import { pauseForPeople } from "./pause.ts";
import { goOn, restoreFrame } from "./recover/restore.ts";
import type { Attempt, RunCore, RunLoop } from "./state.ts";
import { begin, startNode } from "./step.ts";

const CHECK_EVERY = 64; // node starts between two looks at the clock, which costs as much as a start
const BUDGET_MS = 5; // what timers and sockets may have to wait for
const BUDGET_EVENTS = 4_096; // readers of the window get their turn before it moves on
const EVENTS_KEPT = 64; // for the end of a run that has reached its limit of events

export class Scheduler implements RunLoop {
  readonly engine: EngineCore;
  readonly runs: UnorderedMap<RunCore> = new UnorderedMap();
  entered: RunCore | null = null;
  /** Stops listening to the journal. */
  readonly unwatch: () => void;
  /** The journal waits for room: runs that write to it start nothing. */
  #isFull = false;
  /** Node starts since the clock was last looked at, over all runs. */
  #starts = 0;
  #awake: Set<RunCore> | null = null;

  constructor(engine: EngineCore) {
    this.engine = engine;
    this.unwatch =
      engine.options.journal?.watchRoom?.((isFull) => {
        this.#isFull = isFull;
        if (!isFull) for (const run of this.runs.values()) this.wakeSoon(run);
      }) ?? (() => {});
  }

  wakeSoon(run: RunCore): void {
    if (this.entered === run || run.pumping) return; // its pump is on the way
    if (this.#awake === null) {
      this.#awake = new Set();
      queueMicrotask(() => {
        const awake = this.#awake ?? [];
        this.#awake = null;
        for (const one of awake) {
          one.tick();
          this.pump(one);
        }
      });
    }
    this.#awake.add(run);
  }

  pump(run: RunCore): void {
    if (run.pumping || run.state === "pending") return;
    run.pumping = true;
    try {
      if (!run.isFast || !this.#drainFast(run)) this.#drain(run);
    } finally {
      run.pumping = false;
      this.entered = null;
    }
    if (run.journal !== null) run.journal.flush();
    else run.log.publish(run.log.seq, run.summary !== null);
    if (run.summary !== null) this.#announceEnd(run);
    if (run.onDrained !== null) run.onDrained();
  }

  seed(run: RunCore, frame: Frame): void {
    run.open += frame.open;
    const { recovered } = run;
    const open = recovered === null ? null : restoreFrame(run, frame, recovered);
    decideRoots(run, frame);
    // What was skipped here waits in `run.ended`, and `propagate` ends the frame; a frame without nodes has nobody else.
    if (frame.layout.size === 0) run.frameEnded(frame);
    if (recovered !== null && open !== null) goOn(run, frame, open, recovered);
  }

  abandon(run: RunCore, error: EngineError): void {
    abandonRun(run, error);
  }

  forget(run: RunCore): void {
    if (this.runs.get(run.id) === run) this.runs.delete(run.id);
    run.detach?.();
    run.detach = null;
    this.engine.endRun(run.id);
  }

  /** Resolves the result of a run, once every reader may know it; a run that is lost or left has its result already. */
  #announceEnd(run: RunCore): void {
    if (run.summary === null || !run.log.ended || run.log.lost !== null || run.announced) return;
    run.announced = true;
    this.forget(run);
    run.finish(run.summary);
    run.journal?.end();
  }

  /** `#drain` while nothing but nodes that end and begin goes on in the run; false: something else does, or it is at its end. */
  #drainFast(run: RunCore): boolean {
    for (;;) {
      if (isInterrupted(run)) return false;
      if (run.endedSize > 0) propagate(run);
      if (run.endedFrames !== null) {
        closeFrames(run);
        continue;
      }
      if (!this.#startNext(run)) {
        return run.stop === null && !run.yielding && run.busy > 0 && run.frames[0]?.open !== 0;
      }
    }
  }

  #drain(run: RunCore): void {
    for (;;) {
      if (run.isLate) cancelLate(run);
      if (run.endedSize > 0) propagate(run);
      if (run.endedFrames !== null) {
        closeFrames(run);
        continue;
      }
      if (run.state === "over") break;
      if (run.stop !== null) {
        run.dropQueue();
        break;
      }
      if (run.deferred !== null && run.paused !== "confirmation") {
        const acts = run.deferred;
        run.deferred = null;
        for (const act of acts) act();
        continue;
      }
      if (run.paused === "operator" || run.yielding || this.#mayNotStart(run)) break;
      if (!this.#startNext(run)) break;
    }
    if (run.state === "over" || run.endedSize > 0) return;
    if (run.frames[0]?.open === 0) finishRun(run);
    else if (run.stop === null && !run.yielding) pauseForPeople(run);
  }

  /** Whether the run is left, its journal waits for room, or a reader is waited for: what works may end, and nothing starts. */
  #mayNotStart(run: RunCore): boolean {
    if (run.leaving || (this.#isFull && run.journal !== null)) return true;
    if (!run.log.isAwaited()) return false;
    run.log.onCaughtUp = () => this.wakeSoon(run);
    return true;
  }

  /** Starts or resumes one node; false when there is none, or when it is time to hand over. */
  #startNext(run: RunCore): boolean {
    const granted = run.takeNext();
    if (granted !== null) {
      if (granted.frame.state(granted.node) === WAITING) resumeParked(granted);
      else if (isFast(run, granted.frame, granted.node)) beginFast(granted);
      else begin(granted);
      return true;
    }
    if (run.ring.size === 0) return false;
    if (run.log.seq + EVENTS_KEPT + run.open > run.limits.events) {
      failRun(run, "events", `a run makes at most ${run.limits.events} events`);
      return true;
    }
    if (this.#isOverBudget(run)) {
      this.#handOver(run);
      return false;
    }
    const frame = run.frames[run.ring.peekFrame()];
    const node = run.ring.takeNode();
    if (frame === null || frame === undefined) return true;
    if (isFast(run, frame, node)) startFast(run, frame, node);
    else startNode(run, frame, node);
    return true;
  }

  #isOverBudget(run: RunCore): boolean {
    this.#starts += 1;
    if (this.#starts < CHECK_EVERY) return false;
    this.#starts = 0;
    if (run.log.seq - run.yieldedAt > BUDGET_EVENTS) return true;
    const { engine } = this;
    const now = engine.host.now();
    if (engine.turnSeen > 0) return now - engine.turnSeen > BUDGET_MS;
    // answers of a journal and of nodes begin turns, too, and say nothing of it
    engine.turnSeen = now;
    engine.host.yield(() => {
      engine.turnSeen = 0;
    });
    return false;
  }

  /** Lets timers, sockets and readers have their turn, then goes on. */
  #handOver(run: RunCore): void {
    const { engine } = this;
    run.yielding = true;
    run.yieldedAt = run.log.seq;
    engine.host.yield(() => {
      engine.turnSeen = 0;
      run.yielding = false;
      run.tick();
      this.pump(run);
    });
  }
}

/** Whether a run wants more than its next nodes to start. */
function isInterrupted(run: RunCore): boolean {
  return (
    run.isLate ||
    run.stop !== null ||
    run.state === "over" ||
    run.deferred !== null ||
    run.paused !== null ||
    run.yielding ||
    run.leaving ||
    run.log.isHeld
  );
}

function isFast(run: RunCore, frame: Frame, node: number): boolean {
  return run.isFast && frame.layout.fast[node] !== null;
}

/** Ended frames, the run's own excepted: its end is the end of the run. */
function closeFrames(run: RunCore): void {
  const frames = run.endedFrames ?? [];
  run.endedFrames = null;
  for (const frame of frames) {
    frame.ended = true;
    if (frame.owner !== null) closeRound(run, frame);
  }
}

/** Lets a parked node that has its slots work again. */
function resumeParked(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  const { onResume } = attempt.extras;
  if (attempt.over || frame.state(node) !== WAITING) {
    attempt.giveBack();
    return;
  }
  attempt.extras.onResume = null;
  attempt.extras.replaying = false;
  frame.setState(node, RUNNING);
  emitNode(run, frame, node, "node.resumed", {});
  if (run.recovered !== null) attempt.extras.calls?.closeRecovered();
  armTimeout(attempt);
  for (const then of onResume ?? []) then();
}
