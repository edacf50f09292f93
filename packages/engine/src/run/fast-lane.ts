/**
 * The way of an ordinary node in a run without a journal: from ready to its body, and from its result to its end, in one go each.
 *   Q1  It makes the events of `step.ts` and `end.ts`, byte for byte and in their order.
 *   Q2  What it does not know it leaves to them before it has changed anything.
 * Its functions are long because they run once for every node: V8 takes small callees into a caller until that has reached a size, and
 * steps that are written out here are not compiled as calls.
 */
import { isNodeExit } from "@millrace/contracts";
import type { FastType } from "../compile/fast.ts";
import type { FieldSet } from "../compile/fields.ts";
import type * as layouts from "../compile/layout.ts";
import type { Fields, NodeType } from "../node-type.ts";
import type * as values from "../values.ts";
import { copiedBytes, copiedPort, deepFreeze, isPromise, plainCopy } from "../values.ts";
import { armTimeout } from "./attempt.ts";
import { ContextOf } from "./context.ts";
import { add, since } from "./emit.ts";
import { checkLiveBytes } from "./end.ts";
import { NodeStarted, NodeSucceeded } from "./event-makers.ts";
import type * as frames from "./frame.ts";
import type { Frame } from "./frame.ts";
import { scopeOf } from "./scope.ts";
import { acquire, release } from "./slots.ts";
import { Attempt, type RunCore } from "./state.ts";
import { begin, bodyReturned, bodyThrew, enter } from "./step.ts";

// Written again, as in `flow.ts`.
const PORT_OUT: typeof layouts.PORT_OUT = 0;
const READY: typeof frames.READY = 1;
const RUNNING: typeof frames.RUNNING = 2;
const SUCCEEDED: typeof frames.SUCCEEDED = 5;
const INLINE_BYTES: typeof values.INLINE_BYTES = 65_536;

/** `startNode` of such a node. */
export function startFast(run: RunCore, frame: Frame, node: number): void {
  if (frame.state(node) !== READY) return;
  const limits = run.slots.of(frame.layout, node);
  const attempt = new Attempt(run, frame, node, limits);
  if (!acquire(attempt)) return;
  attempt.holds = true;
  beginFast(attempt);
}

/** `begin` of its first attempt, and its body. */
export function beginFast(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  if (attempt.over || frame.state(node) !== READY || run.executions >= run.limits.executions) {
    begin(attempt);
    return;
  }
  const { layout } = frame;
  run.executions += 1;
  attempt.startedAt = run.now;
  frame.begin(node);
  const seq = run.log.seq + 1;
  const typeName = layout.typeNames[node] as string;
  add(run, new NodeStarted(run.id, seq, run.now, frame.path(node), 1, typeName), 0);
  const set = layout.fields[node] as FieldSet;
  const given = set.isSound ? set.constant : readyFields(attempt, set);
  if (given === null) {
    enter(attempt, null);
    return;
  }
  const type = layout.types[node] as NodeType;
  const context = new ContextOf(attempt);
  attempt.context = context;
  let result: unknown;
  let waits: boolean;
  try {
    const fields = type.parseFields === undefined ? given : type.parseFields(given);
    result = type.run(fields, context);
    waits = isPromise(result);
  } catch (error) {
    bodyThrew(attempt, error);
    return;
  }
  if (!waits) {
    settle(attempt, result);
    return;
  }
  if (attempt.prev === null && run.firstLive !== attempt) {
    const last = run.lastLive; // `link`, of a node that is not parked already
    attempt.prev = last;
    if (last === null) run.firstLive = attempt;
    else last.next = attempt;
    run.lastLive = attempt;
  }
  if (layout.policies[node]?.timeoutMs !== null) armTimeout(attempt);
  // A native promise answers itself here, without a second one; everything else becomes one that settles once.
  Promise.resolve(result).then(
    (value) => {
      attempt.run.enter();
      settle(attempt, value);
      attempt.run.pump();
    },
    (error) => {
      attempt.run.enter();
      bodyThrew(attempt, error);
      attempt.run.pump();
    },
  );
}

/** Null: something is wrong with them, which `enter` finds again and reports. */
function readyFields({ run, frame, startedAt }: Attempt, set: FieldSet): Fields | null {
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
  const isUndisturbed =
    !attempt.over &&
    attempt.extrasIfAny === null &&
    attempt.stopping === null &&
    run.stop === null &&
    frame.stopping === null &&
    frame.state(node) === RUNNING &&
    run.confirmations.length === 0 &&
    attempt.context?.heldProgress !== true;
  const output = isUndisturbed ? plainCopy(raw) : undefined;
  const bytes = copiedBytes;
  if (
    output === undefined ||
    (copiedPort && isNodeExit(raw)) ||
    bytes > INLINE_BYTES ||
    bytes > run.limits.outputBytes ||
    !(frame.layout.fast[node] as FastType).fits(output)
  ) {
    bodyReturned(attempt, raw);
    return;
  }
  attempt.over = true;
  const { prev, next } = attempt;
  if (prev !== null || run.firstLive === attempt) {
    if (prev === null)
      run.firstLive = next; // `unlink`
    else prev.next = next;
    if (next === null) run.lastLive = prev;
    else next.prev = prev;
    attempt.prev = null;
    attempt.next = null;
  }
  if (attempt.timer !== null) run.engine.timers.cancel(attempt.timer);
  if (attempt.holds) {
    attempt.holds = false;
    release(attempt.limits);
  }
  frame.setState(node, SUCCEEDED);
  if (!attempt.idle) {
    attempt.idle = true;
    run.busy -= 1;
  }
  if (run.engine.options.freeze === true) deepFreeze(output);
  if (frame.keep(node, output, bytes)) run.liveBytes += bytes;
  const { id, now } = run;
  const seq = run.log.seq + 1;
  const ms = since(attempt.startedAt, now);
  add(
    run,
    new NodeSucceeded(id, seq, now, frame.path(node), frame.attempt(node), output, ms),
    bytes,
  );
  if (frame.owner === null) run.counts.succeeded += 1;
  else run.countInBody("succeeded");
  run.nodeEnded(frame, node, PORT_OUT);
  if (run.liveBytes > run.limits.liveBytes) checkLiveBytes(run, frame, node);
}
