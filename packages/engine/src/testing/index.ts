export { createRandom, type Random } from "./random.ts";
export { createSimClock, type SimClock, type SimClockOptions } from "./sim-clock.ts";
