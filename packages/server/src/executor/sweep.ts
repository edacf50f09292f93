/**
 * The sweep of one server: runs whose wake-up was lost are rung once more, and runs of servers that are dead or stand still are taken
 * over, as many as there is room for. The others are left to servers that have room.
 */
import type { Bells } from "@millrace/store";
import type { Logger } from "../ports.ts";

/** How late a bell may be before it is rung once more: longer than a ring takes, shorter than a person waits. */
const LATE_MS = 5_000;
const SWEEP_MS = 2_000;

/** What a sweep works with. */
export interface SweepParts {
  readonly bells: Pick<Bells, "takeLate">;
  /** How many more runs may be driven here; less than 0: too many are. */
  readonly room: () => number;
  readonly ring: (runId: string) => void;
  readonly takeOver: (runId: string) => void;
  readonly log?: Pick<Logger, "warn">;
}

/** Begins. One sweep follows the other, however long one takes; the answer ends them. */
export function startSweep({ bells, room, ring, takeOver, log }: SweepParts): () => void {
  let timer: NodeJS.Timeout;
  let isOver = false;
  const sweep = async (): Promise<void> => {
    try {
      const maxOrphans = Math.max(0, room());
      for (const { runId, isOrphan } of await bells.takeLate(LATE_MS, { maxOrphans })) {
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
