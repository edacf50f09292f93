/**
 * The states of the evaluations of one compiled value. A state serves one evaluation at a time, and holds nothing of it
 * afterwards; the next evaluation has it again.
 */
import type { Json } from "@millrace/contracts";
import { Evaluation, type ExpressionLimits, type Scope, type Slots } from "./budget.ts";
import type { Unit } from "./unit.ts";

const NO_NAMES: Scope = { get: () => undefined };
const NO_SLOTS: (Json | undefined)[] = [];

export class Evaluations {
  readonly #limits: ExpressionLimits;
  /** Slots of an evaluation. */
  readonly #slots: number;
  /** How many of them have their values given; undefined: names are asked for. */
  readonly #given: number | undefined;
  #spare: Evaluation | undefined;

  constructor({ slots, given }: Unit, limits: ExpressionLimits) {
    this.#limits = limits;
    this.#slots = slots;
    this.#given = given;
  }

  /** A state over names or, when the unit was made with roots, over the values of those. */
  begin(names: Scope | Slots, nowEpoch: number): Evaluation {
    const given = this.#given;
    const scope = given === undefined ? (names as Scope) : NO_NAMES;
    const slots = given === undefined ? this.#ownSlots() : this.#givenSlots(names as Slots, given);
    const ev = this.#spare;
    if (ev === undefined) return new Evaluation(this.#limits, scope, nowEpoch, slots);
    this.#spare = undefined;
    ev.steps = this.#limits.steps;
    ev.bytes = this.#limits.bytes;
    ev.written = 0;
    ev.nowEpoch = nowEpoch;
    ev.scope = scope;
    ev.slots = slots;
    return ev;
  }

  /** Takes a state back. That of an evaluation that failed is lost. */
  end(ev: Evaluation): void {
    ev.scope = NO_NAMES;
    ev.slots = NO_SLOTS;
    this.#spare = ev;
  }

  #ownSlots(): (Json | undefined)[] {
    return this.#slots === 0 ? NO_SLOTS : new Array<Json | undefined>(this.#slots);
  }

  /** The list of the caller is never changed: macro variables have their own. */
  #givenSlots(values: Slots, given: number): (Json | undefined)[] {
    return this.#slots === given ? (values as (Json | undefined)[]) : values.slice(0, given);
  }
}
