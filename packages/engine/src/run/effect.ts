/** The effect of a node, and whether the node may be repeated. */
import type { Effect } from "@millrace/contracts";
import type { Fields } from "../node-type.ts";
import { serviceOf } from "./credentials.ts";
import { scopeOf } from "./scope.ts";
import type { Attempt } from "./state.ts";

/** Effect of a node; of a type whose effect depends on fields that are not known yet, the strongest. */
export function effectOf(attempt: Attempt, fields: Fields | null): Effect {
  const { type } = attempt;
  if (type.effectOf === undefined) return type.entry.effect;
  return fields === null ? "destructive" : type.effectOf(fields, serviceOf(attempt));
}

/** Whether doing it again does no harm, whatever `delivery` says. */
export function mayRepeat(attempt: Attempt): boolean {
  const { run, frame, node, type } = attempt;
  let fields: Fields | null = null;
  try {
    fields = frame.layout.fields[node]?.evaluate(scopeOf(run, frame), attempt.startedAt) ?? null;
  } catch {
    return true; // it fails before it does anything
  }
  const effect = effectOf(attempt, fields);
  if (effect === "pure" || effect === "read" || type.entry.idempotent === true) return true;
  return fields !== null && type.idempotentOf?.(fields, serviceOf(attempt)) === true;
}
