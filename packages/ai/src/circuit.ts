/**
 * Models that keep failing are left alone for a while. State of one process, by provider, model and credential.
 *   K1  it opens with the n-th failure within the window; a success forgets all failures.
 *   K2  after the cool-down exactly one call at a time may try; its success closes, its failure opens anew.
 */
import { PASSING } from "./failure.ts";
import type { CircuitOptions } from "./options.ts";

const FAILURES = 5; // a single failure does not open it, and a provider that is down opens it within seconds
const WINDOW_MS = 60_000;
const COOL_DOWN_MS = 30_000;
const MOST_KEPT = 1_000; // models that have failed lately; more are a mistake in a loop

interface State {
  failures: number[];
  openedAt: number | null;
  /** Callers that may try now; null: none. */
  probe: Probe | null;
}

/** The right to try a model that has failed. */
export type Probe = object;

export class Circuits {
  readonly #states: Map<string, State> = new Map();
  readonly #failures: number;
  readonly #windowMs: number;
  readonly #coolDownMs: number;

  constructor(options: CircuitOptions = {}) {
    this.#failures = options.failures ?? FAILURES;
    this.#windowMs = options.windowMs ?? WINDOW_MS;
    this.#coolDownMs = options.coolDownMs ?? COOL_DOWN_MS;
  }

  /** Whether a call has to leave it alone now. */
  isOpen(key: string, now: number): boolean {
    const state = this.#states.get(key);
    if (state === undefined || state.openedAt === null) return false;
    const ms = now - state.openedAt;
    return state.probe !== null || (ms >= 0 && ms < this.#coolDownMs); // below 0: the clock was set back
  }

  /** When it opened; undefined: it is closed. */
  openedAt(key: string): number | undefined {
    return this.#states.get(key)?.openedAt ?? undefined;
  }

  /** A call is to begin: nobody else tries what has failed, until this one ends or is given back. Null: nothing has failed, or somebody tries already. */
  claim(key: string): Probe | null {
    const state = this.#states.get(key);
    if (state === undefined || state.openedAt === null || state.probe !== null) return null;
    state.probe = {};
    return state.probe;
  }

  /** Gives back what no call came of. */
  release(key: string, probe: Probe): void {
    const state = this.#states.get(key);
    if (state?.probe === probe) state.probe = null;
  }

  /** A call ended: well (`null`), or for a reason. */
  end(key: string, reason: string | null, now: number): void {
    const state = this.#states.get(key);
    if (reason === null) {
      this.#states.delete(key);
      return;
    }
    const wasProbe = (state?.probe ?? null) !== null;
    if (state !== undefined) state.probe = null;
    if (!PASSING.has(reason)) return;
    const known = state ?? { failures: [], openedAt: null, probe: null };
    known.failures = [...known.failures.filter((at) => now - at < this.#windowMs), now];
    if (wasProbe || known.failures.length >= this.#failures) known.openedAt = now;
    this.#keep(key, known);
  }

  #keep(key: string, state: State): void {
    this.#states.delete(key);
    this.#states.set(key, state);
    for (const oldest of this.#states.keys()) {
      if (this.#states.size <= MOST_KEPT) break;
      this.#states.delete(oldest);
    }
  }
}
