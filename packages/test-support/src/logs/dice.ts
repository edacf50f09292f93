/** A reproducible source of chance. */

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export interface Dice {
  chance(probability: number): boolean;
  /** An integer from `min` to `max`, both included. */
  between(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
}

export function createDice(random: () => number): Dice {
  const between = (min: number, max: number): number =>
    min + Math.floor(random() * (max - min + 1));
  return {
    chance: (probability) => random() < probability,
    between,
    pick: (list) => list[between(0, list.length - 1)] as (typeof list)[number],
  };
}
