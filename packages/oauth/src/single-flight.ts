/**
 * One piece of work for all who ask for it at the same time.
 *   F1  Per (owner, key) there is at most one flight that has departed or still may.
 *   F2  Who aborts leaves at once; the flight goes on for the others.
 *   F3  A flight that all have left is called off, unless it has departed: then it ends as if they were there.
 */
import { withDeadline } from "./deadline.ts";

/** What the work is told, and tells. */
export interface Departure {
  /** Aborts when nobody waits any more. It never does after `depart`. */
  readonly signal: AbortSignal;
  /** The point of no return: from here the work is finished whoever leaves. Throws when the flight was called off. */
  depart(): void;
}

/** A flight under way. */
export interface Flight<T> {
  /** What the one who started it asked for. */
  readonly forced: string | undefined;
  /** Waits for the result; aborting leaves. */
  join(signal: AbortSignal | undefined): Promise<T>;
}

/** The flights of one kind of work, by owner and key. Owners are held weakly. */
export class SingleFlight<T> {
  readonly #flights = new WeakMap<object, Map<string, Flight<T>>>();

  /** The flight under way, else a new one that does `work`. `forced` is what the new one is marked with. */
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
    result.catch(() => {}); // perhaps nobody is left to hear it

    const flight: Flight<T> = {
      forced,
      join: async (signal) => {
        waiting++;
        try {
          return await (signal ? withDeadline({ signal }, () => result) : result);
        } finally {
          waiting--;
          if (waiting === 0 && !departed) {
            end(); // who comes now starts anew
            calledOff.abort();
          }
        }
      },
    };
    ofOwner.set(key, flight);
    return flight;
  }
}
