/** State that the parts of one compiled value share: slots for names, and facts about its result. */
import type { Json } from "@millrace/contracts";
import { ExpressionError } from "../errors.ts";
import type { Span } from "../syntax/ast.ts";
import { type Evaluation, lacks, overSteps } from "./budget.ts";

/** The code of a part. */
export type Closure = (ev: Evaluation) => Json;

/** A compiled part of an expression: a straight piece as far as its first branch or loop. */
export class Part {
  /** Set anew when a name that was read once is read again. */
  closure: Closure;
  /** Fixed cost, independent of the data: `pay` charges it once for the whole piece; the closure charges only the rest. */
  readonly steps: number;
  /** The value of a literal; undefined for other expressions. */
  readonly constant: Json | undefined;

  constructor(closure: Closure, steps: number, constant?: Json) {
    this.closure = closure;
    this.steps = steps;
    this.constant = constant;
  }
}

/** Texts of this length and more are rarely compared with others, so they stay as they are. */
const KEY_LENGTH = 64;

/** A part of a frozen value. */
export function constantPart(value: Json): Part {
  const constant = typeof value === "string" && value.length < KEY_LENGTH ? asKey(value) : value;
  return new Part(() => constant, 1, constant);
}

/** Pays for a part that is about to be evaluated. */
export function pay(ev: Evaluation, part: Part, place: Span): void {
  if (lacks(ev, part.steps)) overSteps(ev, place);
}

/** The steps of some parts that are all evaluated. */
export function stepsOf(parts: readonly Part[]): number {
  return parts.reduce((steps, part) => steps + part.steps, 0);
}

/** A name that is asked of the scope. One that is read once needs no place to keep its value. */
export interface Root {
  readonly name: string;
  /** Where its value is kept, -1 when it is not. */
  slot: number;
  /** Makes its first read take the value from the slot that a second one brought. */
  onRepeat?: () => void;
}

/** The shared state while the expressions of one value are compiled. */
export class Unit {
  /** Slots taken so far: those of given roots, then those of names and macro variables. */
  slots: number;
  /** Some part reads a name or the clock. */
  reads = false;
  /** Some part puts data into new data, which may then be too deep. */
  nests = false;
  /** Some part may put one value into the result many times. */
  multiplies = false;
  readonly locals: readonly string[];
  /** How many roots have their values given; undefined: all are asked for. */
  readonly given: number | undefined;
  readonly #roots: Map<string, Root>;

  /** `roots`: the names that have a slot already, in the order of the slots. */
  constructor(locals: readonly string[], roots?: readonly string[]) {
    this.locals = locals;
    this.given = roots?.length;
    this.slots = roots?.length ?? 0;
    this.#roots = new Map(roots?.map((name, slot) => [name, { name, slot }]));
  }

  /** A root, the same for every read of it; `repeats`: this read can happen many times. */
  root(name: string, repeats: boolean): Root {
    this.reads = true;
    const known = this.#roots.get(name);
    const root: Root = known ?? { name: asKey(name), slot: -1 };
    if (known === undefined) this.#roots.set(name, root);
    if (root.slot < 0 && (known !== undefined || repeats)) {
      root.slot = this.newSlot();
      root.onRepeat?.();
    }
    return root;
  }

  newSlot(): number {
    this.slots += 1;
    return this.slots - 1;
  }
}

/** A text as engines of JavaScript hold keys: one that was cut out of a longer text is compared letter by letter each time. */
function asKey(text: string): string {
  return Object.keys({ [text]: null })[0] as string;
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
