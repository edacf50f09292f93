/**
 * The sweep of one server: runs whose wake-up was lost are rung once more, and runs of servers that are dead or stand still are taken
 * over, as many as there is room for. The others are left to servers that have room.
 */
import type { Dispatcher } from "@millrace/contracts";
import type { Bells } from "@millrace/store";
import type { Logger } from "../ports.ts";

/** How late a bell may be before it is rung once more: longer than a ring takes, shorter than a person waits. */
const LATE_MS = 5_000;
const SWEEP_MS = 2_000;
/** The same where rings are not taken: others see each bell before it, or it would take the same one again and again. */
const UNHEARD_LATE_MS = 3 * LATE_MS;

export interface SweepParts {
  readonly bells: Pick<Bells, "takeLate">;
  /** How many more runs may be driven here; less than 0: too many are. */
  readonly room: () => number;
  readonly dispatcher: Pick<Dispatcher, "condition">;
  readonly ring: (runId: string) => void;
  readonly takeOver: (runId: string) => void;
  readonly log?: Pick<Logger, "warn">;
}

/** Begins. One sweep follows the other, however long one takes; the answer ends them. */
export function startSweep(parts: SweepParts): () => void {
  const { bells, room, dispatcher, ring, takeOver, log } = parts;
  let timer: NodeJS.Timeout;
  let isOver = false;
  const sweep = async (): Promise<void> => {
    try {
      const maxOrphans = Math.max(0, room());
      const lateMs = dispatcher.condition === "ok" ? LATE_MS : UNHEARD_LATE_MS;
      for (const { runId, isOrphan } of await bells.takeLate(lateMs, { maxOrphans })) {
        ring(runId);
        if (isOrphan) takeOver(runId);
      }
    } catch (error) {
      log?.warn({ err: error }, "bells.not_read");
    }
    if (!isOver) next();
  };
  const next = (): void => {
    timer = setTimeout(sweep, SWEEP_MS).unref();
  };
  next();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}
