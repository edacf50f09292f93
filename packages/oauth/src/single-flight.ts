/**
 * Concurrent calls for the same work share one run of it.
 *   F1  Per (owner, key) there is at most one flight that has departed or still may.
 *   F2  A caller that aborts is rejected at once; the flight goes on for the others.
 *   F3  A flight that all have left is called off, unless it has departed: then it ends as if they were there.
 */
import { withDeadline } from "./deadline.ts";

/** The link between the work and its callers. */
export interface Departure {
  /** Aborts when the last caller has left, but never after `depart`. */
  readonly signal: AbortSignal;
  /** Point of no return: from here the work is finished even if all callers leave. Throws when the flight was cancelled. */
  depart(): void;
}

export interface Flight<T> {
  /** The mark given by its first caller. */
  readonly forced: string | undefined;
  /** Waits for the result; aborting leaves. */
  join(signal: AbortSignal | undefined): Promise<T>;
}

/** The flights of one kind of work, by owner and key. Owners are held weakly. */
export class SingleFlight<T> {
  readonly #flights = new WeakMap<object, Map<string, Flight<T>>>();

  /** The flight under way, else a new one that does `work`. A new one gets the mark `forced`. */
  joinOrStart(
    owner: object,
    key: string,
    forced: string | undefined,
    work: (departure: Departure) => Promise<T>,
  ): Flight<T> {
    const ofOwner = this.#flights.get(owner) ?? new Map<string, Flight<T>>();
    this.#flights.set(owner, ofOwner);
    const underWay = ofOwner.get(key);
    if (underWay) return underWay;

    const calledOff = new AbortController();
    let departed = false;
    let waiting = 0;
    const end = (): void => {
      if (ofOwner.get(key) === flight) ofOwner.delete(key);
    };
    const result = Promise.resolve()
      .then(() =>
        work({
          signal: calledOff.signal,
          depart: () => {
            calledOff.signal.throwIfAborted();
            departed = true;
          },
        }),
      )
      .finally(end);
    result.catch(() => {}); // all callers may have left

    const flight: Flight<T> = {
      forced,
      join: async (signal) => {
        waiting++;
        try {
          return await (signal ? withDeadline({ signal }, () => result) : result);
        } finally {
          waiting--;
          if (waiting === 0 && !departed) {
            end(); // the next caller starts a new flight
            calledOff.abort();
          }
        }
      },
    };
    ofOwner.set(key, flight);
    return flight;
  }
}
