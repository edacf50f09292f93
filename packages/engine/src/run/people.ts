/**
 * Questions to people, and nodes that wait. Each question is asked once and answered once, by `run.confirm`, the handler of the run, or its
 * deadline; a node or a model cannot answer. Ids count per run: `k1`, `k2` … A node that waits gives its slots back, and goes on
 * only when it has them again and the run is not paused.
 */

import {
  type ConfirmAnswer,
  type ConfirmRequested,
  type Json,
  NodeError,
  type Outcome,
  type Problem,
} from "@millrace/contracts";
import type { ConfirmRequest } from "../node-type.ts";
import type { Answer, ConfirmReply, OpenConfirmation } from "../options.ts";
import { schemaProblems } from "../schema-check.ts";
import { deepFreeze, INLINE_BYTES, isPromise, sizeOf, toOutput } from "../values.ts";
import {
  emitConfirmRequested,
  emitConfirmResolved,
  emitLog,
  emitNode,
  emitWaiting,
} from "./emit.ts";
import type { Said } from "./event-makers.ts";
import { RUNNING, WAITING } from "./frame.ts";
import { confirmationAnswered, isParked, whenUnpaused } from "./pause.ts";
import { acquire } from "./slots.ts";
import type { Attempt, Confirmation, RunCore } from "./state.ts";
import { reportThrown } from "./thrown.ts";

/**
 * Asks. The promise is answered once the node works again, which is when all that it has asked at once is answered; it never
 * settles when the node is stopped.
 */
export function openConfirmation(
  attempt: Attempt,
  request: ConfirmRequest,
): Promise<ConfirmAnswer> {
  const { run } = attempt;
  if (run.confirmations.length >= run.limits.confirmations) {
    const text = `limit confirmations: at most ${run.limits.confirmations} are open at once`;
    return Promise.reject(new NodeError("limit_exceeded", text, { reason: "limit" }));
  }
  return new Promise((answer) => {
    if (!isParked(run)) ask(attempt, request, answer);
    else {
      whenUnpaused(run, () => {
        if (!attempt.over && attempt.stopping === null) ask(attempt, request, answer);
      });
    }
  });
}

const FIRST_ID = "k1"; // the same text for all runs: most ask once, and many wait at once

/** Whether questions of this node are open. */
function isAsking(attempt: Attempt): boolean {
  return attempt.run.confirmations.some((other) => other.attempt === attempt);
}

function ask(
  attempt: Attempt,
  { prompt, schema, expiresInMs, tool }: ConfirmRequest,
  answer: (answer: ConfirmAnswer) => void,
): void {
  const { run, frame, node } = attempt;
  if (frame.state(node) === WAITING) {
    frame.setState(node, RUNNING); // one more question of a node that waits already
    attempt.setIdle(false);
    emitNode(run, frame, node, "node.resumed", {});
  }
  run.confirmationCount += 1;
  const open = openOf({
    id: run.confirmationCount === 1 ? FIRST_ID : `k${run.confirmationCount}`,
    node: frame.path(node),
    attempt: frame.attempt(node),
    prompt,
    schema,
    deadline: expiresInMs === undefined ? undefined : run.now + expiresInMs,
    ts: run.now,
  });
  emitConfirmRequested(run, frame, node, { ...open, ...(tool !== undefined && { tool }) });
  register(run, { open, attempt, answer, timer: null, asked: false });
  run.link(attempt);
  queueMicrotask(() => parkAsking(attempt));
}

/** A question from before a restart: it stays open, with its deadline, and nothing is said again. */
export function adoptConfirmation(
  attempt: Attempt,
  asked: ConfirmRequested,
): Promise<ConfirmAnswer> {
  return new Promise((answer) => {
    register(attempt.run, { open: openOf(asked), attempt, answer, timer: null, asked: false });
  });
}

type Asked = Pick<ConfirmRequested, "id" | "node" | "attempt" | "prompt" | "ts"> & {
  readonly schema?: ConfirmRequested["schema"] | undefined;
  readonly deadline?: number | undefined;
};

function openOf({ id, node, attempt, prompt, schema, deadline, ts }: Asked): OpenConfirmation {
  const isPlain = schema === undefined && deadline === undefined;
  if (isPlain) return { id, node, attempt, prompt, requestedAt: ts }; // without a spread, which takes room
  return {
    ...{ id, node, attempt, prompt },
    ...(schema !== undefined && { schema }),
    ...(deadline !== undefined && { deadline }),
    requestedAt: ts,
  };
}

/** Keeps an open confirmation and sets its deadline. */
function register(run: RunCore, confirmation: Confirmation): void {
  const { open } = confirmation;
  run.confirmations = run.confirmations.concat(confirmation); // no room for more: most ask once
  if (open.deadline === undefined) return;
  confirmation.timer = run.engine.timers.set(open.deadline, () => {
    confirmation.timer = null;
    run.tick();
    resolveConfirmation(run, confirmation, "expired", {});
    run.pump();
  });
}

/** Asks the handler of the run about everything that it has not heard of, in the order of requests. */
export function askAll(run: RunCore, among: readonly Confirmation[] = run.confirmations): void {
  const open = among.filter(({ asked }) => !asked);
  open.sort((a, b) => Number(a.open.id.slice(1)) - Number(b.open.id.slice(1)));
  for (const confirmation of open) {
    if (!run.confirmations.includes(confirmation)) continue;
    confirmation.asked = true;
    askHandler(run, confirmation);
  }
}

/** A node that has asked waits, once its body has said all that it says in one go, and nothing else of it goes on. */
export function parkAsking(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  if (attempt.over || attempt.stopping !== null || frame.state(node) !== RUNNING) return;
  const open = run.confirmations.filter((one) => one.attempt === attempt);
  if (open.length === 0) return;
  run.tick();
  if ((attempt.extrasIfAny?.working ?? 0) > 0) {
    askAll(run, open);
    run.pump();
    return;
  }
  park(attempt, { on: "confirm", ids: open.map((one) => one.open.id) });
  run.pump(); // the run pauses first, if this was all that it did: the handler may answer at once
  askAll(run, open);
}

/** The handler of the run is asked first, once. What it throws leaves the question open, and goes to `onError`. */
function askHandler(run: RunCore, confirmation: Confirmation): void {
  const { confirm } = run.options;
  if (confirm === undefined) return;
  const { id } = confirmation.open;
  const answered = (answer: Answer | undefined) => {
    if (answer === undefined) return;
    const reply = answerConfirmation(run, id, answer);
    if (!reply.ok && reply.code === "value_invalid") broken();
  };
  const broken = () => {
    if (run.state === "over" || run.summary !== null) return;
    run.tick();
    const text = `the confirm handler failed or gave no valid answer; ${id} stays open`;
    emitLog(run, { level: "warn", channel: "engine", text, code: "confirm_handler_failed" });
    run.pump();
  };
  const failed = (thrown: unknown) => {
    const { attempt } = confirmation;
    reportThrown(attempt, thrown, attempt.type.entry.type);
    broken();
  };
  try {
    const answer = confirm(confirmation.open);
    if (isPromise(answer)) Promise.resolve(answer).then(answered).catch(failed);
    else answered(answer);
  } catch (error) {
    failed(error);
  }
}

/** Answers an open confirmation. The first valid answer wins. */
export function answerConfirmation(run: RunCore, id: string, answer: Answer): ConfirmReply {
  const confirmation = run.confirmations.find(({ open }) => open.id === id);
  if (confirmation === undefined) {
    const outcome = run.resolved?.get(id);
    if (outcome === undefined) return { ok: false, code: "not_found" };
    const code = outcome === "expired" ? "confirmation_expired" : "already_resolved";
    return { ok: false, code };
  }
  run.tick();
  const problem = answerProblem(answer);
  if (problem !== null) return { ok: false, code: "value_invalid", problems: [problem] };
  const { deadline } = confirmation.open;
  if (deadline !== undefined && deadline <= run.now) {
    resolveConfirmation(run, confirmation, "expired", {});
    run.pump();
    return { ok: false, code: "confirmation_expired" };
  }
  const checked = checkedValue(confirmation.open, answer);
  if (Array.isArray(checked)) return { ok: false, code: "value_invalid", problems: checked };
  const outcome = answer.decision === "approve" ? "approved" : "rejected";
  resolveConfirmation(run, confirmation, outcome, { ...answer, ...checked });
  run.pump();
  return { ok: true };
}

/** The problem of the shape of an answer, which may come from untyped code. */
function answerProblem(answer: Answer | null | undefined): Problem | null {
  const invalid = (pointer: string, message: string) => ({
    pointer,
    code: "value_invalid",
    message,
  });
  const { decision, by, comment } = answer ?? {};
  if (decision !== "approve" && decision !== "reject") {
    return invalid("/decision", 'must be "approve" or "reject"');
  }
  if (by !== undefined && typeof by !== "string") return invalid("/by", "must be text");
  if (comment !== undefined && typeof comment !== "string")
    return invalid("/comment", "must be text");
  return null;
}

/** The value of an answer as JSON; problems when an approval does not fit its schema. An absent one counts as `{}`. */
function checkedValue(
  open: OpenConfirmation,
  answer: Answer,
): readonly Problem[] | { value?: Json } {
  let value: Json | undefined;
  if (answer.value !== undefined) {
    try {
      value = toOutput(answer.value);
    } catch {
      return [{ pointer: "", code: "value_invalid", message: "the value is not JSON" }];
    }
    if (sizeOf(value) > INLINE_BYTES) {
      const message = `the value has more than ${INLINE_BYTES} bytes`;
      return [{ pointer: "", code: "value_invalid", message }];
    }
  }
  if (answer.decision === "approve" && open.schema !== undefined) {
    const problems = schemaProblems(open.schema, value ?? {});
    if (problems.length > 0) {
      return problems.map(({ pointer, message }) => ({ pointer, code: "value_invalid", message }));
    }
  }
  return value === undefined ? {} : { value };
}

function resolveConfirmation(
  run: RunCore,
  confirmation: Confirmation,
  outcome: Exclude<Outcome, "cancelled">,
  answer: { value?: Json; by?: string; comment?: string },
): void {
  const { attempt } = confirmation;
  close(run, confirmation, outcome, answer);
  const record: ConfirmAnswer = {
    outcome,
    value: answer.value ?? null,
    by: answer.by ?? null,
    comment: answer.comment ?? null,
    at: new Date(run.now).toISOString(),
  };
  deepFreeze(record.value);
  const give = () => confirmation.answer(record);
  if (attempt.frame.state(attempt.node) === WAITING) giveTogether(attempt, give);
  else giveAtOnce(attempt, give);
}

/** Gives a node that works an answer. Before it may wait for others it has a turn to begin what it was allowed. */
function giveAtOnce(attempt: Attempt, give: () => void): void {
  const { extras, run } = attempt;
  extras.working += 1;
  give();
  run.engine.host.yield(() => {
    extras.working -= 1;
    if (extras.working === 0) parkAsking(attempt);
  });
}

/** Gives a parked node an answer, once all that it has asked at once is answered and it works again. */
export function giveTogether(attempt: Attempt, give: () => void): void {
  const { answers } = attempt.extras;
  answers.push(give);
  if (isAsking(attempt)) return;
  unpark(attempt, () => {
    for (const each of answers.splice(0)) each();
  });
}

function close(
  run: RunCore,
  confirmation: Confirmation,
  outcome: Outcome,
  answer: { value?: Json; by?: string; comment?: string },
): void {
  const { attempt, open } = confirmation;
  run.engine.timers.cancel(confirmation.timer);
  run.confirmations = run.confirmations.filter((one) => one !== confirmation);
  run.resolved ??= new Map();
  run.resolved.set(open.id, outcome);
  const { value, by, comment } = answer;
  emitConfirmResolved(run, attempt.frame, attempt.node, {
    id: open.id,
    outcome,
    by,
    value,
    comment,
  });
  confirmationAnswered(run, open.id);
}

/** Withdraws every question of a node that stops. */
export function withdrawConfirmations(attempt: Attempt): void {
  const { run } = attempt;
  for (const confirmation of run.confirmations) {
    if (confirmation.attempt === attempt) close(run, confirmation, "cancelled", {});
  }
}

/** A body that ends while its node is parked: the node works again, and its questions are withdrawn. */
export function wakeToEnd(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  if (frame.state(node) !== WAITING) return;
  withdrawConfirmations(attempt);
  frame.setState(node, RUNNING);
  attempt.setIdle(false);
  emitNode(run, frame, node, "node.resumed", {});
}

/** Parks a running node. Waiting for a person does not count as work, and stops the clock of the attempt. */
export function park(attempt: Attempt, on: Said<"node.waiting">): void {
  const { run, frame, node } = attempt;
  run.link(attempt);
  frame.setState(node, WAITING);
  emitWaiting(run, frame, node, on);
  if (on.on === "confirm") {
    attempt.setIdle(true);
    attempt.holdTimeout();
  }
  attempt.giveBack();
}

/** Continues a parked node with `then` as soon as it has its slots. */
export function unpark(attempt: Attempt, then: () => void): void {
  if (attempt.over) return;
  const { extras } = attempt;
  if (extras.onResume !== null) {
    extras.onResume.push(then);
    return;
  }
  extras.onResume = [then];
  attempt.setIdle(false);
  if (acquire(attempt)) attempt.granted();
}
