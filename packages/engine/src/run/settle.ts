/** How an attempt ends: its output is checked and kept, or its failure is repeated, routed, or ends the run. */
import { isNodeExit, type Json, type ValueRef } from "@millrace/contracts";
import { PORT_ERROR, PORT_OUT } from "../compile/layout.ts";
import { failureOf, toFailure } from "../failures.ts";
import { EXTENSION_BYTES } from "../limits.ts";
import type { Failure, NodeType } from "../node-type.ts";
import { MAX_RETRY_AFTER_MS, retryDelayMs } from "../retry-delay.ts";
import { schemaProblems } from "../schema-check.ts";
import { deepFreeze, INLINE_BYTES, refOf, sizeOf, toOutput } from "../values.ts";
import { Attempt } from "./attempt.ts";
import { cacheResult, leaveCache } from "./cache.ts";
import { wakeToEnd, withdrawConfirmations } from "./confirmations.ts";
import { emitCancelled, emitFailed, emitLog, emitRetrying, emitSucceeded } from "./emit.ts";
import { failRun } from "./fail-run.ts";
import type { StopReason } from "./frame.ts";
import { exitOf, furtherPorts, NO_PORT, nodeEnded, scopeOf } from "./propagate.ts";
import { acquire } from "./slots.ts";
import { giveBack } from "./start.ts";
import { CANCELLED, DEFAULTED, FAILED, RETRYING, ROUTED, SUCCEEDED } from "./states.ts";
import { endRun, stopFrame } from "./stop.ts";
import { thrownBy } from "./thrown.ts";
import { timeoutFailure } from "./timeout.ts";

/** The body has answered `raw`: a record, or an exit. */
export function bodyReturned(attempt: Attempt, raw: unknown): void {
  if (attempt.over) return;
  wakeToEnd(attempt);
  if (attempt.stopping === "timeout") {
    failed(attempt, timeoutFailure(attempt));
    return;
  }
  const { run } = attempt;
  const result: Result = { port: "out", output: null, bytes: 0, cached: false, ref: null };
  try {
    let value = raw;
    if (isNodeExit(raw)) {
      result.port = raw.port;
      value = raw.output;
    }
    result.output = toOutput(value, ({ code, pointer, message }) => {
      const text = `output${pointer}: ${message}`;
      emitLog(run, { level: "warn", channel: "engine", text, code }, attempt);
    });
    result.bytes = sizeOf(result.output);
  } catch (error) {
    failed(attempt, thrownBy(attempt, error));
    return;
  }
  const failure = outputProblem(attempt, result) ?? retryCondition(attempt, result.output);
  if (failure !== null) failed(attempt, failure);
  else succeed(attempt, result);
}

function outputProblem(attempt: Attempt, { port, output, bytes }: Result): Failure | null {
  const { limits } = attempt.run;
  const isExtension = attempt.type.grants !== undefined;
  const most = isExtension ? Math.min(limits.outputBytes, EXTENSION_BYTES) : limits.outputBytes;
  if (bytes > most) {
    const text = `the output has ${bytes} bytes, limit outputBytes is ${most}`;
    return failureOf("output_too_large", text, { reason: "limit" });
  }
  if (attempt.type.core === true) return null;
  if (!declares(attempt, port)) {
    const text = `the type ${attempt.type.entry.type} has no port "${port.slice(0, 64)}"`;
    return failureOf("output_schema", text, { reason: "output" });
  }
  const problem = schemaProblem(attempt.type, output);
  return problem === null ? null : failureOf("output_schema", problem, { reason: "output" });
}

function schemaProblem(type: NodeType, output: Json): string | null {
  if (type.outputProblem !== undefined) return type.outputProblem(output);
  const problem = schemaProblems(type.entry.output, output)[0];
  return problem === undefined ? null : `output${problem.pointer} ${problem.message}`;
}

function declares(attempt: Attempt, port: string): boolean {
  const { ports, portsFrom } = attempt.type.entry;
  if (ports.length === 0 ? port === "out" : ports.some(({ name }) => name === port)) return true;
  return portsFrom !== undefined && port !== "error";
}

function retryCondition(attempt: Attempt, output: Json): Failure | null {
  const { retryIf } = attempt.policy;
  if (retryIf === null) return null;
  const scope = scopeOf(attempt.run, attempt.frame);
  try {
    const extended = {
      reading: retryIf,
      get(root: string) {
        if (root === "output") return output;
        scope.reading = retryIf;
        return scope.get(root);
      },
    };
    if (retryIf.evaluate(extended, attempt.startedAt) !== true) return null;
  } catch (error) {
    return toFailure(error);
  }
  return failureOf("retry_condition", "the result asks for another try (@retry if)", {
    reason: "output",
    retryable: true,
  });
}

/** What a node hands on. `cached`: it was not made by this attempt. `ref`: it is too large for its event. */
export interface Result {
  port: string;
  output: Json;
  bytes: number;
  cached: boolean;
  ref: ValueRef | null;
}

/** Ends the attempt and the node with a result. */
export function succeed(attempt: Attempt, result: Result): void {
  const { run, frame, node } = attempt;
  const { output, bytes } = result;
  if (attempt.policy.cache !== null && !result.cached) cacheResult(attempt, result);
  closeAttempt(attempt);
  frame.setState(node, SUCCEEDED);
  setIdle(attempt, true);
  if (run.engine.options.freeze === true) deepFreeze(output);
  keepPrivate(attempt, output);
  if (bytes > INLINE_BYTES) result.ref = keepLarge(attempt, output);
  if (frame.keep(node, output, bytes)) run.liveBytes += bytes;
  emitSucceeded(run, attempt, result, furtherPorts(frame, node, result.port, output));
  run.count(frame, "succeeded");
  nodeEnded(run, frame, node, exitPort(attempt, result));
  if (run.liveBytes > run.limits.liveBytes) {
    const text = `outputs that are still to be read have more than ${run.limits.liveBytes} bytes`;
    failRun(run, "liveBytes", `${text}, after ${frame.path(node)}`);
  }
}

/** An output that the log shows redacted is kept as it is for `resume`, where nobody else reads it. */
function keepPrivate(attempt: Attempt, output: Json): void {
  const { run, frame, node } = attempt;
  if (run.redactor === null || run.journal === null) return;
  if (run.redactor.clean(output) === output) return;
  run.journal.keepPrivate(`${frame.path(node)}#${frame.attempt(node)}`, output);
}

/** Keeps a value beside the log, without the secrets that the run knows, and answers its name. */
export function keepLarge({ run }: Pick<Attempt, "run">, output: Json): ValueRef {
  const shown = run.redactor?.clean(output) ?? output;
  const ref = refOf(shown, run.engine.host);
  run.journal?.keepValue(ref.ref, shown);
  return ref;
}

function exitPort({ run, frame, node }: Attempt, { port, output }: Result): number {
  if (run.stop !== null || frame.stopping !== null) return NO_PORT;
  return exitOf(frame, node, port, output);
}

/** The body threw, or its promise was rejected. */
export function bodyThrew(attempt: Attempt, error: unknown): void {
  if (attempt.over) return;
  wakeToEnd(attempt);
  if (attempt.stopping === "timeout") failed(attempt, timeoutFailure(attempt));
  else failed(attempt, thrownBy(attempt, error));
}

/** Ends the attempt with a failure: the node is cancelled when it was to stop, tried again, or it fails. */
export function failed(attempt: Attempt, failure: Failure): void {
  const { run, frame } = attempt;
  const stopping = attempt.stopping === "timeout" ? null : attempt.stopping;
  const reason: StopReason | null = stopping ?? frame.stopping ?? run.stop?.reason ?? null;
  if (reason !== null) {
    cancelNode(attempt, reason);
    return;
  }
  const delayMs = retryDelay(attempt, failure);
  if (delayMs !== null) retry(attempt, failure, delayMs);
  else failNode(attempt, failure);
}

/** Ends a live node as cancelled. */
export function cancelNode(attempt: Attempt, reason: StopReason): void {
  const { run, frame, node } = attempt;
  closeAttempt(attempt);
  frame.setState(node, CANCELLED);
  setIdle(attempt, true);
  emitCancelled(run, frame, node, reason);
  run.count(frame, "cancelled");
  nodeEnded(run, frame, node, NO_PORT);
}

/** Milliseconds to the next try; null when there is none. */
function retryDelay(attempt: Attempt, failure: Failure): number | null {
  const { policy, run, frame, node } = attempt;
  const { retry } = policy;
  if (retry === null) return null;
  const interruptions = run.past?.nodes.get(frame.path(node))?.interruptions ?? 0;
  const tried = frame.attempt(node) - interruptions;
  if (tried > (retry.max ?? 0)) return null;
  const { info, reason, sent, retryAfterMs } = failure;
  const listed = retry.on?.some((name) => name === info.code || name === reason);
  if (!(listed ?? info.retryable)) return null;
  if (policy.delivery === "atMostOnce" && sent !== false) return null;
  if (retryAfterMs !== undefined && retryAfterMs > MAX_RETRY_AFTER_MS) return null;
  return retryDelayMs(retry, tried, { random: run.engine.host.random, retryAfterMs });
}

function retry(attempt: Attempt, failure: Failure, delayMs: number): void {
  const { run, frame, node } = attempt;
  closeAttempt(attempt);
  frame.setState(node, RETRYING);
  emitRetrying(run, frame, node, { error: failure.info, delayMs });
  const next = new Attempt(run, frame, node, attempt.limits);
  next.firstStartedAt = attempt.firstStartedAt;
  run.link(next);
  next.timer = run.engine.timers.set(run.now + delayMs, () => {
    next.timer = null;
    run.tick();
    if (acquire(next)) next.granted();
    run.engine.pump(run);
  });
}

/** Ends a node with a failure, by its `onError`. */
export function failNode(attempt: Attempt, failure: Failure): void {
  const { run, frame, node, policy } = attempt;
  const { info } = failure;
  const durationMs = run.now - attempt.startedAt;
  let fallback: { value: Json; bytes: number } | null = null;
  if (policy.onError === "default" && policy.fallback !== null) {
    try {
      const value = policy.fallback.evaluate(scopeOf(run, frame), attempt.startedAt);
      fallback = { value, bytes: sizeOf(value) };
    } catch (error) {
      emitLog(
        run,
        {
          level: "warn",
          channel: "engine",
          text: `the default of @on-error failed: ${toFailure(error).info.message}`,
          code: "default_failed",
        },
        attempt,
      );
    }
  }
  closeAttempt(attempt);
  setIdle(attempt, true);
  run.count(frame, "failed");
  if (fallback !== null) {
    frame.setState(node, DEFAULTED);
    const { value, bytes } = fallback;
    if (frame.keep(node, value, bytes)) run.liveBytes += bytes;
    keepPrivate(attempt, value);
    const large = bytes > INLINE_BYTES;
    const on = large ? { outputRef: keepLarge(attempt, value) } : { output: value };
    emitFailed(run, frame, node, { error: info, routed: "default", durationMs, fallback: on });
    nodeEnded(run, frame, node, PORT_OUT);
    return;
  }
  if (policy.onError === "port") {
    frame.setState(node, ROUTED);
    const record = { error: { ...info } };
    if (frame.keep(node, record, sizeOf(record))) run.liveBytes += frame.heldBytes(node);
    emitFailed(run, frame, node, { error: info, routed: "port", durationMs });
    nodeEnded(run, frame, node, PORT_ERROR);
    return;
  }
  frame.setState(node, FAILED);
  const routed = frame.owner === null ? "none" : "parent";
  emitFailed(run, frame, node, { error: info, routed, durationMs });
  nodeEnded(run, frame, node, NO_PORT);
  if (frame.owner !== null) {
    frame.failure ??= failure;
    stopFrame(run, frame, "sibling");
    return;
  }
  run.failure ??= { ...info, node: frame.path(node) };
  if (run.onFailure === "stop") endRun(run, { reason: "run_failed", cancel: null });
}

/** Counts a node in or out of those that keep the run from pausing. */
export function setIdle(attempt: Attempt, idle: boolean): void {
  if (attempt.idle === idle) return;
  attempt.idle = idle;
  attempt.run.busy += idle ? -1 : 1;
}

/** Takes everything back that the attempt holds. Nothing of it has an effect from here on. */
export function closeAttempt(attempt: Attempt): void {
  const { run } = attempt;
  attempt.context?.flushProgress();
  attempt.asideIfAny?.calls?.close();
  withdrawConfirmations(attempt);
  attempt.over = true;
  run.unlink(attempt);
  const { timers } = run.engine;
  if (attempt.timer !== null) timers.cancel(attempt.timer);
  attempt.timer = null;
  const aside = attempt.asideIfAny;
  if (aside !== null) {
    timers.cancel(aside.wait);
    aside.wait = null;
    aside.onResume = null;
    leaveCache(attempt);
    if (aside.key !== null) run.engine.releaseKey(aside.key);
  }
  giveBack(attempt);
}
