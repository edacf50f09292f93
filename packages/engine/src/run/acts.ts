/**
 * What bodies do through their context: keys, lines of log, progress, sleeps, questions, steps, waits. `context.ts` checks first that the
 * attempt still lasts.
 */
import type { ConfirmAnswer, Json } from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import type { ConfirmRequest } from "../node-type.ts";
import { emitLog, emitNode } from "./emit.ts";
import { RUNNING, WAITING } from "./frame.ts";
import { type Notes, PROGRESS_EVERY_MS, takes, takesLine, takesProgress, UNITS } from "./notes.ts";
import { whenUnpaused } from "./pause.ts";
import { giveTogether, park, parkAsking, unpark } from "./people.ts";
import type { RecoveredNode, RecoveredQuestion } from "./recover/recovered-run.ts";
import { scopeOf } from "./scope.ts";
import type { Attempt } from "./state.ts";

/** The key that an effect of the node is sent with: the same for all attempts and after a restart. */
export function idempotencyKeyOf({ run, frame, node, policy, firstStartedAt }: Attempt): string {
  if (policy.idempotencyKey === null) {
    return `${run.id}/${frame.path(node).replace(/~\d+(?=\[|\/|$)/g, "")}`;
  }
  const key = policy.idempotencyKey.evaluate(scopeOf(run, frame), firstStartedAt);
  return typeof key === "string" ? key : JSON.stringify(key);
}

/** Writes a line of log, as far as the node and, for an extension, the second have room for it. */
export function writeLine(
  attempt: Attempt,
  notes: Notes,
  given: Parameters<typeof emitLog>[1],
): void {
  const { run } = attempt;
  takesLine(given.level, given.text);
  const limit = run.limits.logBytes;
  if (attempt.type.core !== true && !mayLog(attempt, notes)) return;
  if (notes.logged > limit || attempt.extrasIfAny?.replaying === true) return;
  notes.logged += given.text.length;
  const line =
    notes.logged > limit
      ? {
          level: "warn" as const,
          channel: "engine" as const,
          text: `limit logBytes: more than ${limit} units of log; the rest of this node is dropped`,
          code: "log_limit",
        }
      : given;
  whenUnpaused(run, () => {
    if (attempt.over) return;
    run.tick();
    emitLog(run, line, attempt);
  });
  run.pump();
}

/** Whether a body of an extension may log another line in this second; the first line beyond the limit is replaced by a warning. */
function mayLog(attempt: Attempt, notes: Notes): boolean {
  const { run } = attempt;
  run.tick();
  const text = notes.count(run.now);
  if (typeof text !== "string") return text;
  emitLog(run, { level: "warn", channel: "engine", text, code: "log_rate" }, attempt);
  return false;
}

/** How far a body has come. */
interface Progress {
  readonly done: number;
  readonly total: number | undefined;
  readonly unit: "items" | "iterations" | "bytes" | undefined;
}

/** Tells of progress, at once or with what follows. */
export function tellProgress(
  attempt: Attempt,
  notes: () => Notes,
  { done, total, unit }: Progress,
): void {
  const { run } = attempt;
  const isKnown = unit === undefined || UNITS.has(unit);
  takesProgress(done, total);
  takes(isKnown, "progress", `a unit of ${[...UNITS]}`);
  run.tick();
  const before = recoveredOf(attempt)?.progress ?? 0;
  if (done <= before && before > 0) return; // before a restart
  const told = notes();
  told.progressed = Math.max(told.progressed, done);
  told.progress = {
    done: told.progressed,
    ...(total !== undefined && { total: Math.max(total, told.progressed) }),
    ...(unit !== undefined && { unit }),
  };
  const last = total !== undefined && done >= total;
  if (!last && run.now - told.progressAt < PROGRESS_EVERY_MS) return;
  flushProgress(attempt, told);
  run.pump();
}

/** Sends the latest progress if it was held back. */
export function flushProgress(attempt: Attempt, notes: Notes): void {
  const { progress } = notes;
  const { run, frame, node } = attempt;
  if (progress === null || attempt.over || frame.state(node) !== RUNNING) return;
  if (run.paused === "confirmation" && run.stop === null) return; // said when somebody works again
  notes.progress = null;
  notes.progressAt = run.now;
  emitNode(run, frame, node, "node.progress", progress);
}

/** Sleeps on the timers of the engine. */
export function sleepFor(
  attempt: Attempt,
  { ms, signal }: { readonly ms: number; readonly signal: AbortSignal },
  notes: () => Notes,
): Promise<void> {
  const { run } = attempt;
  run.tick();
  const due = sleepUntil(attempt, notes, run.now + Math.max(0, ms));
  return sleep(due, signal, {
    setTimer(wake, at) {
      const timer = run.engine.timers.set(at, wake);
      return () => run.engine.timers.cancel(timer);
    },
  });
}

/** When a sleep ends: as the try said before a restart, so that a body that begins again has slept what it slept. */
function sleepUntil(attempt: Attempt, notes: () => Notes, due: number): number {
  const { journal } = attempt.run;
  if (journal === null) return due;
  const told = notes();
  told.sleeps += 1;
  const name = stepName(attempt, `${told.sleeps}`, "~sleep#");
  const before = keptStep(attempt, name);
  if (typeof before === "number") return before;
  void journal.keepStep(name, due);
  return due;
}

/** The same question of this try before an interruption: by the call that it is about, else by its place. */
export function askedBefore(
  attempt: Attempt,
  notes: () => Notes,
  { tool }: ConfirmRequest,
): RecoveredQuestion | undefined {
  const questions = recoveredOf(attempt)?.questions;
  if (questions === undefined) return undefined;
  if (tool === undefined) return questions[notes().questions++];
  return questions.find(({ asked }) => asked.tool?.call === tool.call);
}

/** The answer to a question that was asked before an interruption. */
export function answeredBefore(
  attempt: Attempt,
  { reply, answer, given }: RecoveredQuestion,
): Promise<ConfirmAnswer> {
  if (reply !== null) return reply;
  const known = answer as ConfirmAnswer;
  const parked = attempt.frame.state(attempt.node) === WAITING;
  if (!parked || given) return Promise.resolve(known);
  return new Promise((go) => giveTogether(attempt, () => go(known))); // it came just before the end
}

/** Name in the journal of what belongs to the present try; the mark keeps the engine's own apart from those of bodies. */
export function stepName(attempt: Attempt, key: string, mark = "#"): string {
  const { frame, node } = attempt;
  const first = recoveredOf(attempt)?.tryFrom ?? frame.attempt(node);
  return `${frame.path(node)}#${first}${mark}${key}`;
}

/** The result of a step that an earlier process has written to the journal. */
export function keptStep(attempt: Attempt, name: string): Json | undefined {
  const steps = recoveredOf(attempt) === undefined ? undefined : attempt.run.recovered?.steps;
  return steps !== undefined && Object.hasOwn(steps, name) ? steps[name] : undefined;
}

/** The recovered state of this attempt; `undefined` when no interruption came before it. */
function recoveredOf({ run, frame, node }: Attempt): RecoveredNode | undefined {
  const recovered = run.recovered?.nodes.get(frame.path(node));
  return recovered?.attempt === frame.attempt(node) ? recovered : undefined;
}

/** Runs work during which the node does not wait for people, whatever is asked meanwhile. */
export async function whileWorking<T>(attempt: Attempt, work: () => Promise<T>): Promise<T> {
  const { extras } = attempt;
  extras.working += 1;
  try {
    return await work();
  } finally {
    extras.working -= 1;
    if (extras.working === 0) queueMicrotask(() => parkAsking(attempt));
  }
}

/** Parks the node until the clock has reached `due`; a parked timer keeps its time over a restart. */
export function parkUntil(attempt: Attempt, due: number): Promise<void> {
  const { run, frame, node } = attempt;
  run.tick();
  const recovered = frame.state(node) === WAITING ? recoveredOf(attempt) : undefined;
  const until = recovered?.due ?? due;
  if (recovered === undefined) {
    if (due <= run.now) return Promise.resolve();
    park(attempt, { on: "timer", until });
  }
  return new Promise((wake) => {
    attempt.extras.wait = run.engine.timers.set(until, () => {
      attempt.extras.wait = null;
      run.tick();
      unpark(attempt, wake);
      run.pump();
    });
  });
}
