/** What the closures of one compiled value share: slots for names, and what is known of its result. */
import type { Json } from "@millrace/contracts";
import { ExpressionError } from "../errors.ts";
import type { Span } from "../syntax/ast.ts";
import type { Evaluation } from "./budget.ts";

/** A compiled part of an expression. */
export type Closure = (ev: Evaluation) => Json;

/** A name that is asked of the scope. One that is read once needs no place to keep its value. */
export interface Root {
  readonly name: string;
  /** Where its value is kept, -1 when it is not. */
  slot: number;
}

/** The shared state while the expressions of one value are compiled. */
export class Unit {
  /** Slots taken so far. */
  slots = 0;
  /** Some part reads the clock. */
  readsClock = false;
  /** Some part puts data into new data, which may then be too deep. */
  nests = false;
  /** Some part may put one value into the result many times. */
  multiplies = false;
  readonly roots: Map<string, Root> = new Map();
  readonly constants: Map<Closure, Json> = new Map();
  readonly locals: readonly string[];

  constructor(locals: readonly string[]) {
    this.locals = locals;
  }

  /** A root, the same for every read of it; `repeats`: this read can happen many times. */
  root(name: string, repeats: boolean): Root {
    const known = this.roots.get(name);
    const root = known ?? { name, slot: -1 };
    if (known === undefined) this.roots.set(name, root);
    if (root.slot < 0 && (known !== undefined || repeats)) root.slot = this.newSlot();
    return root;
  }

  newSlot(): number {
    this.slots += 1;
    return this.slots - 1;
  }

  /** Nothing that it reads can change. */
  get constant(): boolean {
    return this.roots.size === 0 && !this.readsClock;
  }
}

/** Macro variables around a place, innermost first. */
export interface Variables {
  readonly name: string;
  readonly slot: number;
  readonly outer: Variables | null;
}

/** The slot of a macro variable, undefined for a root. */
export function findVariable(variables: Variables | null, name: string): number | undefined {
  for (let at = variables; at !== null; at = at.outer) if (at.name === name) return at.slot;
  return undefined;
}

/** Ends compilation: the source has an error. */
export function syntaxError(place: Span, message: string): never {
  throw new ExpressionError("syntax", message, place.start, place.end - place.start);
}
