/** The moment of a run that a person looks at: now, or after one of its events. */
import type { RunView } from "@millrace/contracts";
import { computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { RunSession } from "../../state/run-session.ts";

/** Pause after the last move of the slider before a past that is not in the page is read, in milliseconds. */
const SETTLE_MS = 150;

/** Where a person looks. */
export interface Moment {
  /** `seq` of the event; undefined: now. */
  readonly at: ReadonlySignal<number | undefined>;
  /** The state of the run then; while it is read, the state that was shown before. Read again at each revision of the run. */
  readonly shown: ReadonlySignal<Shown>;
  /** Why that state could not be read. */
  readonly error: ReadonlySignal<unknown>;
  goTo(seq: number | undefined): void;
  close(): void;
}

/** A state of a run. `at`: undefined for the present one. `revision` tells two states in one object apart. */
export interface Shown {
  readonly view: RunView;
  readonly at: number | undefined;
  readonly revision: number;
}

/** Follows a run, and goes back in it. */
export function createMoment(session: RunSession, first?: number): Moment {
  const at = signal(first);
  const past = signal<Shown | undefined>(undefined);
  const error = signal<unknown>(undefined);
  const shown = computed((): Shown => {
    const revision = session.revision.value;
    const now = { view: session.view, at: undefined, revision };
    return at.value === undefined ? now : (past.value ?? now);
  });
  // An address may name a moment before the log has come so far.
  const isKnown = computed(() => session.revision.value > 0 && session.log.last >= (at.value ?? 0));

  const stop = effect(() => {
    const seq = at.value;
    if (seq === undefined || !isKnown.value) {
      past.value = undefined;
      return undefined;
    }
    error.value = undefined;
    const kept = session.log.viewAt(seq);
    if (kept !== undefined) {
      past.value = { view: kept, at: seq, revision: 0 };
      return undefined;
    }
    const reading = new AbortController();
    const timer = setTimeout(() => {
      session.viewAt(seq, reading.signal).then(
        (view) => {
          if (!reading.signal.aborted) past.value = { view, at: seq, revision: 0 };
        },
        (failure: unknown) => {
          if (!reading.signal.aborted) error.value = failure;
        },
      );
    }, SETTLE_MS);
    return () => {
      clearTimeout(timer);
      reading.abort();
    };
  });

  return {
    at,
    shown,
    error,
    goTo(seq) {
      at.value = seq;
    },
    close: stop,
  };
}
