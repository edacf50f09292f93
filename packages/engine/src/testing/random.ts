/** Reproducible randomness: a seed gives the same numbers on every platform and in every version. */

/** Numbers in [0, 1) with helpers that draw from the same sequence. */
export interface Random {
  /** Next number in [0, 1). */
  (): number;
  /** Integer from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** One of a list that is not empty. */
  pick<T>(from: readonly T[]): T;
  /** A sequence of its own that follows from this one; drawing from it leaves this one where it is. */
  fork(): Random;
}

/** A generator seeded by a 32-bit integer (mulberry32: one word of state, good enough to choose test data). */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return Object.assign(next, {
    integer: (min: number, max: number) => min + Math.floor(next() * (max - min + 1)),
    chance: (probability: number) => next() < probability,
    pick: <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T,
    fork: () => createRandom(Math.floor(next() * 4_294_967_296)),
  });
}
