/**
 * Appends of many runs, together in one transaction where there are more of them than transactions at work: a COMMIT costs a write to the
 * disk, however much it holds. A batch with an append that is refused is written again, each by itself, because refusals are rare.
 */
import type { Links } from "../connect/links.ts";
import { append, Cut } from "./transaction.ts";
import { type Unit, unitOf } from "./unit.ts";

const MAX_BYTES = 1_048_576; // of one batch: the first of it does not wait for ever

interface Waiting {
  readonly unit: Unit;
  /** Writes it by itself. `wasSent`: it may have been committed already. */
  alone(wasSent: boolean): Promise<void>;
  done(): void;
}

/** Options of batches. `max`: at work at one time. */
export interface BatchParts {
  readonly links: Links;
  readonly max: number;
  /** Writes one append until it is known what became of it. */
  readonly alone: (unit: Unit, wasSent: boolean) => Promise<unknown>;
}

/** Writes appends; each promise is that of one. */
export function createBatches({ links, max, alone }: BatchParts): (unit: Unit) => Promise<void> {
  let waiting: Waiting[] = [];
  let atWork = 0;

  const pump = (): void => {
    while (atWork < max && waiting.length > 0) {
      const batch = take();
      atWork += 1;
      void write(batch).finally(() => {
        atWork -= 1;
        pump();
      });
    }
  };

  return (unit) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(pump); // those of one turn go together
      waiting.push({
        unit,
        alone: (wasSent) => alone(unit, wasSent).then(() => resolve(), reject),
        done: resolve,
      });
    });

  function take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const { unit } of waiting) {
      bytes += unit.bytes;
      if (count > 0 && bytes > MAX_BYTES) break;
      count += 1;
    }
    const batch = waiting.slice(0, count);
    waiting = waiting.slice(count);
    return batch;
  }

  async function write(batch: readonly Waiting[]): Promise<void> {
    const [first] = batch;
    const unit =
      batch.length === 1 && first !== undefined
        ? first.unit
        : unitOf(
            batch.flatMap((each) => each.unit.ops),
            { quiet: true },
          );
    try {
      const link = await links.pick();
      await link.exclusively((leave) => append(unit, link, leave));
    } catch (error) {
      const turns = new Map<number, Promise<void>>(); // those of one run keep their order
      for (const { unit: one, alone: again } of batch) {
        const before = turns.get(runOf(one)) ?? Promise.resolve();
        turns.set(
          runOf(one),
          before.then(() => again(error instanceof Cut)),
        );
      }
      return;
    }
    for (const each of batch) each.done();
  }
}

function runOf({ ops }: Unit): number {
  return ops.find(({ lines }) => lines !== undefined)?.lines?.run ?? 0;
}
