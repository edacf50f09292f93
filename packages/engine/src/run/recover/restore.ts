/**
 * A frame as the log left it. Nodes that have ended are ended, without an event; what they lead to is decided again. Nodes
 * that had started go on by their effect and their delivery policy; parked ones are parked again.
 */

import { failureOf } from "../../failures.ts";
import { INLINE_BYTES, sizeOf } from "../../values.ts";
import { mayRepeat } from "../attempt.ts";
import { Calls } from "../calls.ts";
import { emitConfirmResolved, emitNode, emitReport, type Placed } from "../emit.ts";
import { failNode, stopFrame } from "../end.ts";
import { closeRound, follow } from "../flow.ts";
import {
  CANCELLED,
  DEFAULTED,
  FAILED,
  type Frame,
  isTerminal,
  NO_PORT,
  RETRYING,
  ROUTED,
  RUNNING,
  SUCCEEDED,
  WAITING,
} from "../frame.ts";
import { adoptConfirmation } from "../people.ts";
import { acquire } from "../slots.ts";
import { Attempt, type RunCore } from "../state.ts";
import { enterAgain, queueAgain } from "../step.ts";
import { interruptedCall, type RecoveredNode, type RecoveredRun } from "./recovered-run.ts";

/** Puts a new frame where the log left it and answers what has not ended: `goOn` with it once the roots are decided. */
export function restoreFrame(run: RunCore, frame: Frame, recovered: RecoveredRun): number[] {
  const ended: { node: number; was: RecoveredNode }[] = [];
  const open: number[] = [];
  for (let node = 0; node < frame.layout.size; node += 1) {
    const was = recovered.nodes.get(frame.path(node));
    if (was === undefined) continue;
    frame.setState(node, was.state);
    frame.setAttempt(node, was.attempt);
    if (isTerminal(was.state)) ended.push({ node, was });
    else open.push(node);
  }
  ended.sort((a, b) => a.was.order - b.was.order);
  for (const { node, was } of ended) restoreEnd(run, frame, node, was);
  return open;
}

function restoreEnd(run: RunCore, frame: Frame, node: number, was: RecoveredNode): void {
  const { state } = was;
  if (state === SUCCEEDED || state === DEFAULTED || state === ROUTED) {
    const bytes = was.ref === null ? sizeOf(was.output) : INLINE_BYTES;
    if (frame.keep(node, was.output, bytes)) run.liveBytes += bytes;
  }
  if (state === FAILED && was.error !== null) {
    if (frame.owner === null) run.failure ??= { ...was.error, node: frame.path(node) };
    else frame.failure ??= { info: was.error };
  }
  run.nodeEnded(frame, node, portOf(frame, node, was));
}

function portOf(frame: Frame, node: number, { state, port, output }: RecoveredNode): number {
  const ports = frame.layout.ports[node] ?? [];
  if (state === SUCCEEDED) return frame.exitOf(node, port, output);
  if (state === DEFAULTED) return ports.indexOf("out");
  return state === ROUTED ? ports.indexOf("error") : NO_PORT;
}

/**
 * Lets the nodes that had started go on. When the run, or this item, is to end, they only stand where they stood, for
 * whoever ends them.
 */
export function goOn(
  run: RunCore,
  frame: Frame,
  open: readonly number[],
  recovered: RecoveredRun,
): void {
  const ending = run.ending || frame.failure !== null;
  for (const node of open) {
    const was = recovered.nodes.get(frame.path(node)) as RecoveredNode;
    run.busy += 1;
    const attempt = new Attempt(run, frame, node, run.slots.of(frame.layout, node));
    attempt.startedAt = was.startedAt;
    attempt.triedAt = was.firstStartedAt === 0 ? null : was.firstStartedAt;
    run.link(attempt);
    adoptCalls(attempt, recovered);
    if (run.isWoken && was.state !== RETRYING && was.waitsFor !== "confirm") keepTimeout(attempt);
    if (frame.layout.tools[node] !== null) endOrphans(attempt, recovered);
    if (was.state === RUNNING && frame.layout.bodies[node] !== null) enterAgain(attempt);
    else if (ending) openAgain(attempt, was);
    else if (was.state === WAITING && was.waitsFor === "slot") queueAgain(attempt);
    else if (was.state === WAITING) {
      openAgain(attempt, was);
      enterAgain(attempt);
    } else if (was.state === RETRYING) {
      if (was.error?.code === "interrupted") continueTry(was);
      waitForRetry(attempt, was.due);
    } else if (asksStill(attempt, was, recovered)) {
      openAgain(attempt, was);
      enterAgain(attempt);
    } else interrupted(attempt, was);
  }
  if (frame.failure === null) return;
  endRestoredBodies(run, frame);
  stopFrame(run, frame, "sibling");
}

/**
 * Ends the bodies within a restored frame that are over, so that what holds them comes as far as it had come: to the rounds
 * that were open. Failed and stopped ones end last, for nothing begins after them. Nothing else is decided.
 */
export function endRestoredBodies(run: RunCore, within: Frame): void {
  for (;;) {
    const over = restoredOver(run, within);
    const fine = over.filter(({ failure, wasStopped }) => failure === null && !wasStopped);
    const next = new Set(fine.length > 0 ? fine : over);
    if (next.size === 0) return;
    const queue = run.ended.slice(0, run.endedSize);
    run.endedSize = 0;
    for (let at = 0; at < queue.length; at += 3) {
      const [id, node, port] = queue.slice(at, at + 3) as [number, number, number];
      const frame = run.frames[id] as Frame;
      if (next.has(frame)) follow(run, frame, node, port);
      else {
        run.ended[run.endedSize++] = id;
        run.ended[run.endedSize++] = node;
        run.ended[run.endedSize++] = port;
      }
    }
    for (const frame of next) {
      frame.ended = true;
      closeRound(run, frame);
    }
  }
}

/** Bodies within a frame whose nodes have all ended. One without nodes has nothing to say and ends by itself. */
function restoredOver(run: RunCore, within: Frame): Frame[] {
  return run.frames.filter((frame): frame is Frame => {
    if (frame === null || frame.open > 0 || frame.ended || frame.layout.size === 0) return false;
    for (let outer = frame.owner?.frame; outer !== undefined; outer = outer.owner?.frame) {
      if (outer === within) return true;
    }
    return false;
  });
}

/**
 * Ends every open node of the flows that this attempt ran as tools, the inner before the outer: the attempt is repeated or
 * ends, and a tool call that begins anew runs its flow anew.
 */
function endOrphans(attempt: Attempt, recovered: RecoveredRun): void {
  const { frame, node } = attempt;
  const tries = frame.attempt(node);
  const within = `${frame.path(node)}${tries > 1 ? `~${tries}` : ""}[`;
  const open = [...recovered.nodes].filter(
    ([path, { state }]) => path.startsWith(within) && !isTerminal(state),
  );
  const depth = ([path]: [string, RecoveredNode]): number => path.split("/").length;
  open.sort((a, b) => depth(b) - depth(a));
  for (const [path, was] of open) endOrphan(attempt, recovered, path, was);
}

function endOrphan(
  { run }: Attempt,
  recovered: RecoveredRun,
  path: string,
  was: RecoveredNode,
): void {
  const place = { run, frame: { path: () => path, attempt: () => was.attempt }, node: 0 };
  for (const call of recovered.openCalls.get(path) ?? []) {
    if (call.kind === "llm") run.calls.add({});
    emitReport(place, interruptedCall(call, { message: "the process ended", durationMs: 0 }));
  }
  withdrawQuestions(run, place.frame, 0, was);
  emitNode(run, place.frame, 0, "node.cancelled", { reason: "parent" });
  was.state = CANCELLED;
  run.countInBody("cancelled");
}

/** Calls that were open end with the attempt that they belong to. */
function adoptCalls(attempt: Attempt, recovered: RecoveredRun): void {
  const open = recovered.openCalls.get(attempt.frame.path(attempt.node));
  if (open === undefined) return;
  const calls = new Calls(attempt);
  attempt.extras.calls = calls;
  for (const call of open) calls.adopt(call);
}

/** Open questions of a node are open from the start, however long its body takes to come to them again. */
function openAgain(attempt: Attempt, { questions }: RecoveredNode): void {
  for (const question of questions) {
    if (question.answer === null) question.reply = adoptConfirmation(attempt, question.asked);
  }
}

/** Restores the remaining timeout of a node that slept. */
function keepTimeout(attempt: Attempt): void {
  const { run, policy, startedAt } = attempt;
  if (policy.timeoutMs === null) return;
  attempt.extras.timeLeftMs = Math.max(0, policy.timeoutMs - (run.now - startedAt));
}

function waitForRetry(attempt: Attempt, due: number): void {
  const { run } = attempt;
  attempt.timer = run.engine.timers.set(due, () => {
    attempt.timer = null;
    run.tick();
    if (acquire(attempt)) attempt.granted();
    run.pump();
  });
}

/**
 * Whether a node had asked and was about to wait when the process died: its question stays what it is, under the id that people
 * have. Not so where a call of it was open, or where something of it may not be done twice.
 */
function asksStill(
  attempt: Attempt,
  { questions }: RecoveredNode,
  recovered: RecoveredRun,
): boolean {
  if (questions.every(({ answer }) => answer !== null)) return false;
  const calls = recovered.openCalls.get(attempt.frame.path(attempt.node)) ?? [];
  return calls.length === 0 && (attempt.policy.delivery !== "atMostOnce" || mayRepeat(attempt));
}

/** A body was at work when the process died. */
function interrupted(attempt: Attempt, was: RecoveredNode): void {
  const { run, frame, node, policy } = attempt;
  const text = "the process ended while the node was at work";
  frame.setState(node, RUNNING);
  attempt.extrasIfAny?.calls?.close();
  withdrawQuestions(run, frame, node, was);
  was.questions = was.questions.filter(({ answer }) => answer !== null);
  if (!mayRepeat(attempt) && policy.delivery === "atMostOnce") {
    failNode(attempt, failureOf("interrupted", text, { reason: "interrupted" }));
    return;
  }
  const error = failureOf("interrupted", text, { reason: "interrupted", retryable: true }).info;
  frame.setState(node, RETRYING);
  emitNode(run, frame, node, "node.retrying", { error, delayMs: 0, next: frame.attempt(node) + 1 });
  continueTry(was);
  if (acquire(attempt)) attempt.granted();
}

/** Withdraws the questions of a node that were open when the process died. */
function withdrawQuestions(run: RunCore, place: Placed, node: number, was: RecoveredNode): void {
  for (const { asked, answer } of was.questions) {
    if (answer !== null) continue;
    emitConfirmResolved(run, place, node, { id: asked.id, outcome: "cancelled" });
    run.resolved ??= new Map();
    run.resolved.set(asked.id, "cancelled");
  }
}

/** The attempt after an interruption has the steps and answers of those before it, and counts as none of the retries. */
function continueTry(was: RecoveredNode): void {
  was.interruptions += 1;
  was.attempt += 1;
}
