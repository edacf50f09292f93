/**
 * The way of an ordinary node in a run without a journal: from ready to its body, and from its result to its end, in one go each.
 *   Q1  It makes the events of `step.ts` and `end.ts`, byte for byte and in their order.
 *   Q2  What it does not know it leaves to them before it has changed anything.
 */
import { isNodeExit } from "@millrace/contracts";
import type { FastType } from "../compile/fast.ts";
import type { FieldSet } from "../compile/fields.ts";
import { PORT_OUT } from "../compile/layout.ts";
import type { Fields } from "../node-type.ts";
import { boundOf, deepFreeze, INLINE_BYTES, plainCopy } from "../values.ts";
import { emitNodeStarted, emitOut } from "./emit.ts";
import { checkLiveBytes } from "./end.ts";
import { type Frame, READY, RUNNING, SUCCEEDED } from "./frame.ts";
import { scopeOf } from "./scope.ts";
import { acquire } from "./slots.ts";
import { Attempt, type RunCore } from "./state.ts";
import { begin, bodyReturned, callBody, enter } from "./step.ts";

/** `startNode` of such a node. */
export function startFast(run: RunCore, frame: Frame, node: number): void {
  if (frame.state(node) !== READY) return;
  const limits = run.slots.of(frame.layout, node);
  const attempt = new Attempt(run, frame, node, limits);
  if (!acquire(attempt)) return;
  attempt.holds = true;
  beginFast(attempt);
}

/** `begin` of its first attempt. */
export function beginFast(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  if (attempt.over || frame.state(node) !== READY || run.executions >= run.limits.executions) {
    begin(attempt);
    return;
  }
  run.executions += 1;
  attempt.startedAt = run.now;
  frame.setAttempt(node, 1);
  frame.setState(node, RUNNING);
  emitNodeStarted(run, frame, node, null);
  const fields = readyFields(attempt);
  if (fields === null) enter(attempt, null);
  else callBody(attempt, fields, settle);
}

/** Null: something is wrong with them, which `enter` finds again and reports. */
function readyFields({ run, frame, node, startedAt }: Attempt): Fields | null {
  const set = frame.layout.fields[node] as FieldSet;
  if (set.isSound) return set.constant;
  try {
    const fields = set.constant ?? set.evaluate(scopeOf(run, frame), startedAt);
    return set.check(fields).length === 0 ? fields : null;
  } catch {
    return null;
  }
}

/** Ends the node with the record of its body, if nothing has come between. */
function settle(attempt: Attempt, raw: unknown): void {
  const { run, frame, node } = attempt;
  const output = isUndisturbed(attempt) ? plainCopy(raw) : undefined;
  const bytes = output === undefined ? 0 : boundOf(output, 0);
  if (
    output === undefined ||
    (output["port"] !== undefined && isNodeExit(raw)) ||
    bytes > INLINE_BYTES ||
    bytes > run.limits.outputBytes ||
    !(frame.layout.fast[node] as FastType).fits(output)
  ) {
    bodyReturned(attempt, raw);
    return;
  }
  attempt.over = true;
  run.unlink(attempt);
  if (attempt.timer !== null) run.engine.timers.cancel(attempt.timer);
  attempt.giveBack();
  frame.setState(node, SUCCEEDED);
  attempt.setIdle(true);
  if (run.engine.options.freeze === true) deepFreeze(output);
  if (frame.keep(node, output, bytes)) run.liveBytes += bytes;
  emitOut(run, attempt, output, bytes);
  run.count(frame, "succeeded");
  run.nodeEnded(frame, node, PORT_OUT);
  checkLiveBytes(run, frame, node);
}

/** Whether the attempt did nothing but work, and nobody wants it to stop. */
function isUndisturbed(attempt: Attempt): boolean {
  const { run, frame, node } = attempt;
  return (
    !attempt.over &&
    attempt.extrasIfAny === null &&
    attempt.stopping === null &&
    run.stop === null &&
    frame.stopping === null &&
    frame.state(node) === RUNNING &&
    run.confirmations.length === 0 &&
    attempt.context?.heldProgress !== true
  );
}
