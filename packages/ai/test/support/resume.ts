/** Runs on a journal whose process dies, and goes on in another one. */

import { aiSettings } from "@millrace/ai";
import { assertLog, type ExecutionEvent, type Journal, type Summary } from "@millrace/contracts";
import {
  createEngine,
  createMemoryJournal,
  type Plan,
  type Run,
  type RunOptions,
} from "@millrace/engine";
import { createSimClock, type SimClock } from "@millrace/engine/testing";
import type { Scripted } from "@millrace/test-support/models";
import { HMAC_KEY } from "@millrace/test-support/models";

export interface Life {
  readonly run: Run;
  readonly clock: SimClock;
  readonly events: ExecutionEvent[];
}

/** A journal and the lives of one run on it. */
export interface Lives {
  readonly journal: Journal;
  /** A new process begins the run, or takes it up. */
  begin(providers: readonly Scripted[], options?: RunOptions): Promise<Life>;
  /** Its process dies: nothing it still does counts. */
  kill(): Promise<void>;
  /** Lets time pass to the end of the run. */
  end(life: Life): Promise<Summary>;
  /** Whole log. */
  log(): ExecutionEvent[];
}

const RUN = "r";

export function livesOf(plan: Plan): Lives {
  const clock0 = createSimClock();
  let epoch = 0;
  let all: ExecutionEvent[] = [];
  let at = clock0.now();
  const memory = createMemoryJournal({ now: () => at });
  // A dead process writes nothing: every life has a door of its own, which is closed when it dies.
  let door = { isOpen: true };
  const through = (mine: { isOpen: boolean }): Journal => ({
    ...memory,
    append: (...args) => (mine.isOpen ? memory.append(...args) : new Promise(() => {})),
    putValue: (...args) => (mine.isOpen ? memory.putValue(...args) : new Promise(() => {})),
    release: (...args) => (mine.isOpen ? memory.release(...args) : new Promise(() => {})),
  });
  return {
    journal: memory,
    async begin(providers, options = {}) {
      door = { isOpen: true };
      const clock = createSimClock({ start: at });
      const engine = createEngine({
        host: clock,
        journal: through(door),
        settings: [aiSettings({ providers, hmacKey: HMAC_KEY })],
      });
      const run =
        epoch === 0
          ? engine.run(plan, {}, { runId: RUN, ...options })
          : await engine.resume(RUN, { plan, ...options });
      epoch += 1;
      const events: ExecutionEvent[] = [];
      all = [];
      void (async () => {
        for await (const batch of run.batches()) events.push(...batch);
      })().catch(() => undefined);
      await clock.settle();
      return { run, clock, events };
    },
    async kill() {
      door.isOpen = false;
      at += 1;
      await memory.release(RUN, epoch);
    },
    async end({ run, clock, events }) {
      await clock.run();
      const summary = await run.result;
      await clock.settle();
      at = Math.max(at, clock.now());
      all = events;
      assertLog(events);
      return summary;
    },
    log: () => all,
  };
}
