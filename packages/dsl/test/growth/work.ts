/**
 * How much work a call is, as a count that is the same on every machine: how often each block of the package's code was
 * entered, as V8 counts it for coverage, and how many elements and characters the built-in functions went over, which
 * no block shows.
 */
import { Session } from "node:inspector/promises";
import { setFlagsFromString } from "node:v8";

const SOURCES = /\/packages\/[a-z-]+\/(?:src|dist)\//;

/** The work of one kind of call; the number means nothing but by comparison. */
export type Work = (call: () => unknown) => Promise<number>;

/** Starts to count. The package has to be imported after it: code that is compiled before has no counters. */
export async function countWork(): Promise<{ work: Work; stop: () => Promise<void> }> {
  // Code that was not called for a while is thrown away, and the counts of its functions with it.
  setFlagsFromString("--no-flush-bytecode");
  // V8 keeps the code of a module for the next module of the same text: functions that the tests before have called would be
  // as they were compiled then, without counters, and what is counted would depend on those tests.
  setFlagsFromString("--no-compilation-cache");
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: true });
  const entered = async (): Promise<number> => {
    const { result } = await session.post("Profiler.takePreciseCoverage");
    let count = 0;
    for (const { url, functions } of result) {
      if (!SOURCES.test(url)) continue;
      for (const { ranges } of functions) for (const range of ranges) count += range.count;
    }
    return count;
  };
  let count = 0;
  return {
    work: async (call) => {
      const builtIns = countBuiltIns();
      try {
        call();
      } finally {
        builtIns.restore();
        count = await entered(); // counters start anew each time that they are read
      }
      return count + builtIns.count();
    },
    stop: async () => {
      await session.post("Profiler.stopPreciseCoverage");
      session.disconnect();
      setFlagsFromString("--flush-bytecode");
      setFlagsFromString("--compilation-cache");
    },
  };
}

interface Sized {
  readonly length: number;
}

/** What a call of a built-in function goes over: of the length that its subject had, its result, and its arguments. */
type Cost = (length: number, result: unknown, args: readonly unknown[]) => number;

const whole: Cost = (length) => length;
const made: Cost = (_, result) => (result as Sized).length;
/** What was cut off: blanks at the ends. */
const cut: Cost = (length, result) => length - (result as Sized).length;
/** As far as the place that was found. */
const found: Cost = (length, result, args) => {
  const from = typeof args[1] === "number" ? args[1] : 0;
  return typeof result === "number" && result >= 0 ? result - from : length - from;
};
/** From the first element that moves to the end. */
const tail: Cost = (length, _, args) => length - (args[0] as number);

const ARRAY_COSTS: { readonly [name: string]: Cost } = {
  ...{ concat: made, slice: made, splice: tail, join: whole, reverse: whole, shift: whole },
  ...{ unshift: whole, fill: whole, includes: whole, indexOf: found, lastIndexOf: whole },
  // A list that is spread out or gone through asks for this.
  values: whole,
};
const STRING_COSTS: { readonly [name: string]: Cost } = {
  ...{ includes: whole, indexOf: found, split: whole, replaceAll: whole, padStart: made },
  ...{ trim: cut, trimEnd: cut, toLowerCase: whole, isWellFormed: whole },
};
const OBJECT_COSTS: { readonly [name: string]: Cost } = { keys: made, values: made, entries: made };

/** Counts what the built-in functions go over until `restore`. */
function countBuiltIns(): { count: () => number; restore: () => void } {
  let count = 0;
  const undo: (() => void)[] = [];
  const wrap = (owner: object, name: PropertyKey, cost: Cost): void => {
    const known = Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor;
    const original = known.value as (...args: unknown[]) => unknown;
    Object.defineProperty(owner, name, {
      ...known,
      value(this: Sized, ...args: unknown[]) {
        const { length } = this;
        const result = Reflect.apply(original, this, args);
        count += cost(length, result, args);
        return result;
      },
    });
    undo.push(() => Object.defineProperty(owner, name, known));
  };
  for (const [name, cost] of Object.entries(ARRAY_COSTS)) wrap(Array.prototype, name, cost);
  for (const [name, cost] of Object.entries(STRING_COSTS)) wrap(String.prototype, name, cost);
  for (const [name, cost] of Object.entries(OBJECT_COSTS)) wrap(Object, name, cost);
  wrap(Array.prototype, Symbol.iterator, whole);
  return {
    count: () => count,
    restore: () => {
      for (const one of undo) one();
    },
  };
}
