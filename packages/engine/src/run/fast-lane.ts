/**
 * The way of an ordinary node in a run without a journal: from ready to its body, and from its result to its end, in one go each.
 *   Q1  It makes the events of `step.ts` and `end.ts`, byte for byte and in their order.
 *   Q2  What it does not know it leaves to them before it has changed anything.
 */
import { isNodeExit } from "@millrace/contracts";
import type { FastType } from "../compile/fast.ts";
import type { FieldSet } from "../compile/fields.ts";
import { PORT_OUT } from "../compile/layout.ts";
import type { Fields, NodeType } from "../node-type.ts";
import { boundOf, deepFreeze, INLINE_BYTES, isPromise, plainCopy } from "../values.ts";
import { armTimeout } from "./attempt.ts";
import { CoreContextOf } from "./core-context.ts";
import { emitNodeStarted, emitOut } from "./emit.ts";
import { checkLiveBytes } from "./end.ts";
import { type Frame, READY, RUNNING, SUCCEEDED } from "./frame.ts";
import { scopeOf } from "./scope.ts";
import { acquire } from "./slots.ts";
import { Attempt, type RunCore } from "./state.ts";
import { begin, bodyReturned, bodyThrew, enter } from "./step.ts";

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
  attempt.firstStartedAt = run.now;
  frame.setAttempt(node, 1);
  frame.setState(node, RUNNING);
  emitNodeStarted(run, frame, node, null);
  const fields = readyFields(attempt);
  if (fields === null) enter(attempt, null);
  else callBody(attempt, fields);
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

function callBody(attempt: Attempt, given: Fields): void {
  const { run, frame, node } = attempt;
  const type = frame.layout.types[node] as NodeType;
  const context = new CoreContextOf(attempt);
  attempt.context = context;
  let result: unknown;
  let waits: boolean;
  try {
    result = type.run(type.parseFields === undefined ? given : type.parseFields(given), context);
    waits = isPromise(result);
  } catch (error) {
    bodyThrew(attempt, error);
    return;
  }
  if (!waits) {
    settle(attempt, result);
    return;
  }
  run.link(attempt);
  if (attempt.policy.timeoutMs !== null) armTimeout(attempt);
  const { done, fail } = waiterFor(attempt);
  Promise.resolve(result).then(done, fail);
}

/** Takes the result of a promise for an attempt, then for another one: a pair of functions for each would cost more than both. */
class Waiter {
  attempt: Attempt | null = null;
  readonly done = (value: unknown): void => {
    const attempt = this.#leave();
    const { run } = attempt;
    run.enter();
    settle(attempt, value);
    run.pump();
  };
  readonly fail = (error: unknown): void => {
    const attempt = this.#leave();
    const { run } = attempt;
    run.enter();
    bodyThrew(attempt, error);
    run.pump();
  };

  #leave(): Attempt {
    const attempt = this.attempt as Attempt;
    this.attempt = null;
    if (idle.length < MOST_IDLE) idle.push(this);
    return attempt;
  }
}

const MOST_IDLE = 256; // as many as wait at once in a few runs
const idle: Waiter[] = [];

function waiterFor(attempt: Attempt): Waiter {
  const waiter = idle.pop() ?? new Waiter();
  waiter.attempt = attempt;
  return waiter;
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
    run.confirmations.size === 0 &&
    attempt.context?.heldProgress !== true
  );
}
