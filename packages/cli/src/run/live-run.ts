/** A run that a command drives: it shows its events, answers what it asks, and can stop it. Where the run is does not matter. */

import type { CancelReason, ExecutionEvent } from "@millrace/contracts";
import type { Answer } from "@millrace/engine";

/** A question that is open. */
export interface Question {
  readonly id: string;
  /** Path of the node that asks. */
  readonly node: string;
  readonly prompt: string;
  /** When it expires, in epoch milliseconds; absent: never. */
  readonly deadline?: number;
}

export interface LiveRun {
  readonly id: string;
  /** Pages of its events to the summary. Throws `ClientError` when the log cannot be followed any further. */
  events(): AsyncGenerator<readonly ExecutionEvent[], void>;
  /** Resolves with a question that cannot be answered here; never, when there is none. */
  readonly parked: Promise<Question>;
  /** The oldest open question. */
  open(): Question | undefined;
  /** Answers a question; resolves to why it was not taken, if it was not. */
  answer(id: string, answer: Answer): Promise<string | undefined>;
  /**
   * Stops the run where it is, so that `resume` goes on; its events end then. Steps whose repetition may do harm have `graceMs` to
   * end. Absent where the run is not kept, or is a server's.
   */
  readonly pause?: (graceMs: number) => Promise<void>;
  /** Tells whether the run waits for room on the disk, until the answer is called; absent where it never does. */
  readonly watchRoom?: (told: (isFull: boolean) => void) => () => void;
  /** Asks the run to stop; its summary says how it did. */
  cancel(reason: CancelReason, graceMs: number): void;
  /** Reads no further; the run does not notice. */
  leave(): void;
  /** The command that answers an open question, for a message. */
  readonly nextSteps: (node: string) => string;
  /** The command that reads on when the events end early; absent where the run is in this process. */
  readonly again?: string;
  /** The command that repeats a cancelled run with its results; absent where none are kept. */
  readonly retry?: string;
}
