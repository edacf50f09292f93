/**
 * One step of a node, from ready to its end: slots, `node.started`, key, cache, fields, body; then a result that fits its type, or a
 * failure. A synchronous body completes inline; a promise gets exactly one `then`.
 */

import { isNodeExit, type Json } from "@millrace/contracts";
import type { FieldSet } from "../compile/fields.ts";
import { failureOf, timeoutFailure, toFailure } from "../failures.ts";
import { EXTENSION_BYTES } from "../limits.ts";
import type { Failure, Fields, NodeType } from "../node-type.ts";
import { schemaProblems } from "../schema-check.ts";
import { digestOf, isPromise, sizeOf, toOutput } from "../values.ts";
import { armTimeout, effectOf } from "./attempt.ts";
import type { Result } from "./attempt-parts.ts";
import { cacheKeyOf, plainFields, readEntry, warnOfCache } from "./cache.ts";
import { ContextOf } from "./context.ts";
import { emitLog, emitNode, emitNodeStarted } from "./emit.ts";
import { failed, failRun, succeed } from "./end.ts";
import { type Frame, READY, RETRYING, RUNNING, WAITING } from "./frame.ts";
import { wakeToEnd } from "./people.ts";
import { evaluateWhen, scopeOf } from "./scope.ts";
import { acquire, nameOfKey } from "./slots.ts";
import { Attempt, type RunCore } from "./state.ts";
import { thrownBy } from "./thrown.ts";

/** Takes a ready node out of the ring: starts it, or queues it for a slot. */
export function startNode(run: RunCore, frame: Frame, node: number): void {
  if (frame.state(node) !== READY) return;
  const attempt = new Attempt(run, frame, node, run.slots.of(frame.layout, node));
  if (!acquire(attempt)) return;
  attempt.holds = true;
  begin(attempt);
}

/** An attempt that has its slots: the next try of a node, with everything that its policy asks for first. */
export function begin(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  const state = frame.state(node);
  if (attempt.over || (state !== READY && state !== RETRYING)) {
    attempt.giveBack();
    return;
  }
  run.executions += 1;
  if (run.executions > run.limits.executions) {
    attempt.giveBack();
    failRun(run, "executions", `a run starts at most ${run.limits.executions} nodes`);
    return;
  }
  frame.setAttempt(node, frame.attempt(node) + 1);
  frame.setState(node, RUNNING);
  attempt.startedAt = run.now;
  if (attempt.triedAt === null) {
    const first = run.recovered?.nodes.get(frame.path(node))?.firstStartedAt ?? 0;
    if (first !== 0) attempt.triedAt = first;
  }
  if (run.journal !== null || run.engine.options.cache !== undefined) {
    beginWithDigest(attempt);
    return;
  }
  emitNodeStarted(run, frame, node, null);
  prepare(attempt, null);
}

/** With a journal the start says what it starts with; so fields are evaluated before the event, at the same instant. */
function beginWithDigest(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  const set = fieldsOf(attempt);
  let fields: Fields | null = null;
  try {
    fields = set.evaluate(scopeOf(run, frame), run.now);
  } catch {
    // evaluated again, and reported, after the start
  }
  const plain = fields === null ? null : plainFields(fields);
  let digest: string | null = null;
  if (plain !== null && set.constant !== null) {
    digest = run.engine.sharedDigest(set.constant, plain);
  } else if (plain !== null) digest = digestOf(plain, run.engine.host);
  emitNodeStarted(run, frame, node, digest);
  prepare(attempt, fields, digest);
}

/** After `node.started`: `when` that errs, a key that is taken, a cached result; then the body. */
function prepare(attempt: Attempt, fields: Fields | null, digest: string | null = null): void {
  const { run, frame, node, policy } = attempt;
  if (run.reused !== null) {
    const result = run.reused.get(frame.path(node));
    if (result !== undefined && (result.inputs === undefined || result.inputs === digest)) {
      const { port, output } = result;
      succeed(attempt, { port, output, bytes: sizeOf(output), cached: true, ref: null });
      return;
    }
  }
  try {
    if (policy.when !== null) evaluateWhen(run, frame, node);
    if (policy.keyed !== null && attempt.extrasIfAny === null) claimKey(attempt);
  } catch (error) {
    failed(attempt, toFailure(error, { core: true }));
    return;
  }
  const key = attempt.extrasIfAny?.key ?? null;
  if (key === null || key.held) {
    enter(attempt, fields);
    return;
  }
  run.link(attempt);
  if (!key.isAsking) {
    waitForKey(attempt, key.name);
    return;
  }
  key.onAnswer = (held) => {
    key.onAnswer = null;
    if (attempt.over || run.leaving) return;
    run.enter();
    if (held) enter(attempt, fields);
    else waitForKey(attempt, key.name);
    run.pump();
  };
}

/** Parks a node whose key others have. */
function waitForKey(attempt: Attempt, key: string): void {
  const { run, frame, node } = attempt;
  attempt.giveBack();
  frame.setState(node, WAITING);
  emitNode(run, frame, node, "node.waiting", { on: "slot", key });
  attempt.extras.onResume = [() => enter(attempt, null)];
}

/** Queues for the key of the policy, or takes it. `heldBefore`: the node had it when its process died, and has it again. */
function claimKey(attempt: Attempt, heldBefore = false): void {
  const { run, frame, policy } = attempt;
  if (policy.keyed === null) return;
  const { key, max } = policy.keyed;
  const name = nameOfKey(key.evaluate(scopeOf(run, frame), attempt.startedAt), run.engine.host);
  attempt.extras.key = run.engine.claimKey(name, { max, heldBefore }, attempt);
}

/** Evaluates the fields and enters the body, when nothing has to be waited for any more. */
export function enter(attempt: Attempt, known: Fields | null): void {
  const { run } = attempt;
  if (attempt.over) return;
  if (run.journal !== null && mustBeStored(attempt, known) && !run.journal.isStored(run.log.seq)) {
    run.link(attempt);
    run.journal.whenStored(run.log.seq, () => {
      if (!attempt.over && !run.leaving) enterNow(attempt, known);
    });
    return;
  }
  enterNow(attempt, known);
}

function enterNow(attempt: Attempt, known: Fields | null): void {
  const { run, frame } = attempt;
  const set = fieldsOf(attempt);
  let fields: Fields;
  try {
    fields = known ?? set.constant ?? set.evaluate(scopeOf(run, frame), attempt.startedAt);
  } catch (error) {
    failed(attempt, toFailure(error));
    return;
  }
  const problem = set.check(fields)[0];
  if (problem !== undefined) {
    const where = `${problem.pointer === "" ? "the fields" : problem.pointer.slice(1)}`;
    failed(
      attempt,
      failureOf("field_invalid", `${where}: ${problem.message}`, { reason: "input" }),
    );
    return;
  }
  if (attempt.policy.cache === null) {
    callBody(attempt, fields);
    return;
  }
  let key: string;
  try {
    key = cacheKeyOf(attempt, fields);
  } catch (error) {
    failed(attempt, toFailure(error));
    return;
  }
  answerFromCache(attempt, key, () => callBody(attempt, fields));
}

/** Ends the attempt with a kept result, or calls `make`. */
function answerFromCache(attempt: Attempt, key: string, make: () => void): void {
  const { run } = attempt;
  const { cache } = run.engine;
  attempt.extras.cacheKey = key;
  const entry = cache.get(key, run.now);
  if (entry !== undefined) {
    const { port, output, bytes } = entry;
    succeed(attempt, { port, output, bytes, cached: true, ref: null });
    return;
  }
  const again = () => {
    if (attempt.over) return;
    run.tick();
    answerFromCache(attempt, key, make);
    run.pump();
  };
  if (!cache.claim(key, attempt, again)) {
    run.link(attempt);
    return;
  }
  const port = run.engine.options.cache;
  if (port === undefined) {
    make();
    return;
  }
  run.link(attempt);
  const settled = (found: Result | null) => {
    if (attempt.over) return;
    run.tick();
    if (found === null) make();
    else succeed(attempt, found);
    run.pump();
  };
  const read = async () => readEntry(attempt, await port.get(key));
  read().then(settled, () => {
    warnOfCache(attempt);
    settled(null);
  });
}

/** A parked node, or one with a body of its own, after a restart: its code is entered again in the same attempt. */
export function enterAgain(attempt: Attempt): void {
  const { run, frame, node } = attempt;
  const recovered = run.recovered?.nodes.get(frame.path(node));
  const parked = frame.state(node) === WAITING;
  if (parked) attempt.extras.replaying = true;
  if (parked && recovered?.questions.some(({ answer }) => answer === null)) attempt.setIdle(true);
  let fields: Fields;
  try {
    if (!parked) evaluateWhen(run, frame, node, attempt.startedAt);
    claimKey(attempt, true);
    fields = fieldsOf(attempt).evaluate(scopeOf(run, frame), attempt.startedAt);
  } catch (error) {
    wakeToEnd(attempt);
    failed(attempt, toFailure(error));
    return;
  }
  callBody(attempt, fields);
  if (recovered?.waitsFor === "confirm" && frame.state(node) === WAITING) attempt.holdTimeout();
}

/** A node that waited for its key when the process died waits on. */
export function queueAgain(attempt: Attempt): void {
  attempt.extras.onResume = [() => enter(attempt, null)];
  try {
    claimKey(attempt);
  } catch (error) {
    wakeToEnd(attempt);
    failed(attempt, toFailure(error));
    return;
  }
  if (attempt.extras.key?.held !== false && acquire(attempt)) attempt.granted();
}

/** Calls the body, whose answer may come now or later. */
function callBody(attempt: Attempt, given: Fields): void {
  const { type } = attempt;
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
    bodyReturned(attempt, result);
    return;
  }
  attempt.run.link(attempt);
  armTimeout(attempt);
  // A native promise answers itself here, without a second one; everything else becomes one that settles once.
  Promise.resolve(result).then(
    (value) => {
      attempt.run.enter();
      bodyReturned(attempt, value);
      attempt.run.pump();
    },
    (error) => {
      attempt.run.enter();
      bodyThrew(attempt, error);
      attempt.run.pump();
    },
  );
}

/** Whether the body may only begin once its start is on disk. */
function mustBeStored(attempt: Attempt, fields: Fields | null): boolean {
  const effect = effectOf(attempt, fields ?? fieldsOf(attempt).constant);
  return effect === "write" || effect === "destructive";
}

function fieldsOf(attempt: Attempt): FieldSet {
  return attempt.frame.layout.fields[attempt.node] as FieldSet;
}

/** The body has answered `raw`: a record, or an exit. */
export function bodyReturned(attempt: Attempt, raw: unknown): void {
  if (attempt.over) return;
  wakeToEnd(attempt);
  if (attempt.stopping === "timeout") {
    failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
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
    const { type, ports } = attempt.type.entry;
    const known = ports.map(({ name }) => name).join(", ") || "out";
    const text = `the type ${type} has no port "${port.slice(0, 64)}"; it has ${known}`;
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

/** The body threw, or its promise was rejected. */
export function bodyThrew(attempt: Attempt, error: unknown): void {
  if (attempt.over) return;
  wakeToEnd(attempt);
  if (attempt.stopping === "timeout") failed(attempt, timeoutFailure(attempt.policy.timeoutMs));
  else failed(attempt, thrownBy(attempt, error));
}
