/**
 * The states of evaluations. A state serves one evaluation at a time, and holds nothing of it afterwards; the next evaluation,
 * of whatever value, has it again.
 */
import type { Json } from "@millrace/contracts";
import type { Evaluation, ExpressionLimits, Scope, Slots } from "./budget.ts";
import type { Unit } from "./unit.ts";

const NO_NAMES: Scope = { get: () => undefined };
const NO_SLOTS: (Json | undefined)[] = [];

export interface Evaluations {
  /** A state over names or, when the unit was made with roots, over the values of those. */
  begin(names: Scope | Slots, nowEpoch: number): Evaluation;
  /** Takes a state back. That of an evaluation that failed is lost. */
  end(ev: Evaluation): void;
}

/** One for all values: an evaluation within another makes its own. */
let spare: Evaluation | undefined;

/** The states for what a unit holds. */
export function createEvaluations({ slots, given }: Unit, limits: ExpressionLimits): Evaluations {
  return {
    begin(names, nowEpoch) {
      const { steps, bytes } = limits;
      const ev: Evaluation = spare ?? newEvaluation(limits);
      spare = undefined;
      ev.limits = limits;
      ev.steps = steps;
      ev.bytes = bytes;
      ev.written = 0;
      ev.nowEpoch = nowEpoch;
      if (given === undefined) {
        ev.scope = names as Scope;
        if (slots > 0) ev.slots = new Array(slots);
      } else {
        // The list of the caller is never changed: macro variables have their own.
        ev.slots = (slots === given ? names : (names as Slots).slice(0, given)) as Json[];
      }
      return ev;
    },
    end(ev) {
      ev.scope = NO_NAMES;
      ev.slots = NO_SLOTS;
      ev.kept = undefined;
      spare = ev;
    },
  };
}

function newEvaluation(limits: ExpressionLimits): Evaluation {
  return {
    ...{ steps: 0, bytes: 0, written: 0, nowEpoch: 0 },
    ...{ scope: NO_NAMES, slots: NO_SLOTS, limits, kept: undefined },
  };
}
