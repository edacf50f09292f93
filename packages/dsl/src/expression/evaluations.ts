/**
 * Evaluations from their first to their last moment, and their states. A state serves one evaluation at a time, and holds
 * nothing of it afterwards; the next evaluation, of whatever value, has it again.
 */
import type { Json } from "@millrace/contracts";
import type { Span } from "../syntax/ast.ts";
import {
  DEFAULT_EXPRESSION_LIMITS,
  type Evaluation,
  type ExpressionLimits,
  overSteps,
  type Scope,
  type Slots,
} from "./budget.ts";
import type { Closure, Part, Unit } from "./unit.ts";

const NO_NAMES: Scope = { get: () => undefined };
const NO_SLOTS: (Json | undefined)[] = [];

/** An expression to evaluate, with its options. */
interface Evaluator {
  readonly unit: Unit;
  readonly limits: ExpressionLimits;
  readonly part: Part;
  readonly place: Span;
  /** Looks at a result that is not true or false. */
  check(ev: Evaluation, value: Json): void;
}

/** Evaluates over names or, when the unit was made with roots, over the values of those. */
type Evaluate = (names: Scope | Slots, context: Instant) => Json;

interface Instant {
  readonly nowEpoch: number;
}

/** One for all values: an evaluation within another, or after one that failed, replaces it. */
let shared = newEvaluation();

/** The function that evaluates a part, once for names and once for slots: a short one is compiled together with all that it calls. */
export function evaluation({ unit, limits, part, place, check }: Evaluator): Evaluate {
  const { slots, given } = unit;
  // What the part takes whatever the data is taken before it begins.
  const steps = limits.steps - part.steps;
  const compute = steps < 0 ? (ev: Evaluation) => overSteps(ev, place) : part.closure;
  if (given === undefined) {
    const evaluate = slots === 0 ? compute : withSlots(slots, compute);
    return (names, context) => {
      const ev = begin(limits, steps, context);
      ev.scope = names as Scope;
      const value = evaluate(ev);
      if (typeof value !== "boolean") check(ev, value);
      ev.scope = null;
      end(ev);
      return value;
    };
  }
  return (names, context) => {
    const ev = begin(limits, steps, context);
    ev.scope = NO_NAMES;
    // The list of the caller is never changed: macro variables have their own.
    ev.slots = (slots === given ? names : (names as Slots).slice(0, given)) as Json[];
    const value = compute(ev);
    if (typeof value !== "boolean") check(ev, value);
    ev.slots = NO_SLOTS;
    end(ev);
    return value;
  };
}

function withSlots(slots: number, compute: Closure): Closure {
  return (ev) => {
    ev.slots = new Array(slots);
    const value = compute(ev);
    ev.slots = NO_SLOTS;
    return value;
  };
}

function begin(limits: ExpressionLimits, steps: number, instant: Instant): Evaluation {
  let ev = shared;
  if (ev.busy) {
    ev = newEvaluation();
    shared = ev;
  }
  ev.busy = true;
  ev.limits = limits;
  ev.steps = steps;
  ev.bytes = limits.bytes;
  ev.written = 0;
  ev.nowEpoch = instant.nowEpoch;
  return ev;
}

function end(ev: Evaluation): void {
  ev.kept = undefined;
  ev.busy = false;
}

function newEvaluation(): Evaluation {
  return {
    ...{ steps: 0, bytes: 0, written: 0, nowEpoch: 0, busy: false },
    ...{ scope: null, slots: NO_SLOTS, limits: DEFAULT_EXPRESSION_LIMITS, kept: undefined },
  };
}
