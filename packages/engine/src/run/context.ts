/**
 * What a body sees of the engine. One object per attempt, made of getters over it; what a body never asks for is never made.
 * After the attempt has ended every member refuses with `attempt_over`, but those that only name things and the signal.
 */

import {
  type ConfirmAnswer,
  type Connection,
  type ControlContext,
  type FetchLike,
  type FilePort,
  type Json,
  type JsonObject,
  NodeError,
  type Secret,
  type SpawnPort,
} from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import type { ConfirmRequest, Report } from "../node-type.ts";
import { Calls } from "./calls.ts";
import { connectionOf, guardedFiles, guardedShell, secretOf, typeFetch } from "./capabilities.ts";
import { emitLog, emitNode } from "./emit.ts";
import { RUNNING, WAITING } from "./frame.ts";
import type { StepOptions } from "./journal.ts";
import {
  cutData,
  isAmount,
  isText,
  LEVELS,
  Notes,
  PROGRESS_EVERY_MS,
  takes,
  UNITS,
} from "./notes.ts";
import { whenUnpaused } from "./pause.ts";
import { giveTogether, openConfirmation, park, unpark } from "./people.ts";
import type { RecoveredNode, RecoveredQuestion } from "./recover/recovered-run.ts";
import { scopeOf } from "./scope.ts";
import type { Attempt } from "./state.ts";

/** The attempt behind a context; a body cannot ask for it. */
export let attemptOf: (context: NodeContextOf) => Attempt;

export class NodeContextOf implements ControlContext {
  readonly #attempt: Attempt;
  /** Keys of questions and steps so far: most bodies have none, or one. */
  #keys: string | string[] | null = null;
  #notesIfAny: Notes | null = null;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
  }

  static {
    attemptOf = (context) => context.#attempt;
  }

  get #notes(): Notes {
    this.#notesIfAny ??= new Notes();
    return this.#notesIfAny;
  }

  get runId(): string {
    return this.#attempt.run.id;
  }

  get node(): string {
    return this.#attempt.frame.path(this.#attempt.node);
  }

  get attempt(): number {
    return this.#attempt.frame.attempt(this.#attempt.node);
  }

  get idempotencyKey(): string {
    const attempt = this.#live();
    const { run, frame, policy } = attempt;
    if (policy.idempotencyKey === null) {
      return `${run.id}/${this.node.replace(/~\d+(?=\[|\/|$)/g, "")}`;
    }
    const key = policy.idempotencyKey.evaluate(scopeOf(run, frame), attempt.firstStartedAt);
    return typeof key === "string" ? key : JSON.stringify(key);
  }

  get signal(): AbortSignal {
    const attempt = this.#attempt;
    if (attempt.controller === null) {
      attempt.controller = new AbortController();
      if (attempt.over || attempt.stopping !== null) attempt.controller.abort();
    }
    return attempt.controller.signal;
  }

  get fetch(): FetchLike {
    const attempt = this.#live();
    return typeFetch(attempt, this.signal, attempt.type);
  }

  get files(): FilePort {
    const attempt = this.#live();
    return guardedFiles(attempt, this.signal, attempt.type);
  }

  get shell(): SpawnPort {
    const attempt = this.#live();
    return guardedShell(attempt, this.signal, attempt.type);
  }

  get config(): JsonObject {
    const { run, type } = this.#live();
    const config = run.engine.options.config ?? {};
    const id = type.adapter ?? "";
    return (Object.hasOwn(config, id) ? config[id] : undefined) ?? {};
  }

  get credentials(): {
    secret(name: string): Promise<Secret>;
    connection(slug: string): Promise<Connection>;
  } {
    const attempt = this.#live();
    const { signal } = this;
    return {
      secret: (name) => secretOf(attempt, name),
      connection: (slug) => connectionOf(attempt, slug, signal),
    };
  }

  now(): number {
    return this.#live().run.engine.host.now();
  }

  random(): number {
    return this.#live().run.engine.host.random();
  }

  sleep(ms: number): Promise<void> {
    const attempt = this.#live();
    takes(Number.isFinite(ms), "sleep", "milliseconds");
    const { signal } = this;
    const { run } = attempt;
    run.tick();
    const due = this.#sleepUntil(run.now + Math.max(0, ms));
    return sleep(due, signal, {
      setTimer(wake, at) {
        const timer = run.engine.timers.set(at, wake);
        return () => run.engine.timers.cancel(timer);
      },
    });
  }

  /** When a sleep ends: as the try said before a restart, so that a body that begins again has slept what it slept. */
  #sleepUntil(due: number): number {
    const { run } = this.#attempt;
    if (run.journal === null) return due;
    this.#notes.sleeps += 1;
    const name = this.#stepName(`${this.#notes.sleeps}`, "~sleep#");
    const before = this.#kept(name);
    if (typeof before === "number") return before;
    void run.journal.keepStep(name, due);
    return due;
  }

  log(level: "debug" | "info" | "warn" | "error", text: string, data?: JsonObject): void {
    this.#write({ level, channel: "node", text, ...cutData(data) });
  }

  warn(code: string, text: string, data?: JsonObject): void {
    this.#write({ level: "warn", channel: "engine", text, code, ...cutData(data) });
  }

  #write(given: Parameters<typeof emitLog>[1]): void {
    const attempt = this.#live();
    const { run } = attempt;
    takes(LEVELS.has(given.level) && isText(given.text), "log", `${[...LEVELS]}, and text`);
    const limit = run.limits.logBytes;
    if (attempt.type.core !== true && !this.#mayLog(attempt)) return;
    const notes = this.#notes;
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

  /** Whether a body of an extension may log another line in this second; the first one too many is told. */
  #mayLog({ run }: Attempt): boolean {
    run.tick();
    const text = this.#notes.count(run.now);
    if (typeof text !== "string") return text;
    emitLog(run, { level: "warn", channel: "engine", text, code: "log_rate" }, this.#attempt);
    return false;
  }

  progress(done: number, total?: number, unit?: "items" | "iterations" | "bytes"): void {
    const attempt = this.#live();
    const { run } = attempt;
    const isKnown = unit === undefined || UNITS.has(unit);
    const isTotal = total === undefined || isAmount(total);
    takes(isAmount(done) && isTotal && isKnown, "progress", `numbers from 0, and ${[...UNITS]}`);
    run.tick();
    const before = this.#recovered()?.progress ?? 0;
    if (done <= before && before > 0) return; // before a restart
    const notes = this.#notes;
    notes.progressed = Math.max(notes.progressed, done);
    notes.progress = {
      done: notes.progressed,
      ...(total !== undefined && { total: Math.max(total, notes.progressed) }),
      ...(unit !== undefined && { unit }),
    };
    const last = total !== undefined && done >= total;
    if (!last && run.now - notes.progressAt < PROGRESS_EVERY_MS) return;
    this.flushProgress();
    run.pump();
  }

  get heldProgress(): boolean {
    return this.#notesIfAny !== null && this.#notesIfAny.progress !== null;
  }

  /** Sends the latest progress if it was held back. */
  flushProgress(): void {
    const notes = this.#notesIfAny;
    if (notes === null || notes.progress === null) return;
    const { progress } = notes;
    const attempt = this.#attempt;
    const { run, frame, node } = attempt;
    if (attempt.over || frame.state(node) !== RUNNING) return;
    if (run.paused === "confirmation" && run.stop === null) return; // said when somebody works again
    notes.progress = null;
    notes.progressAt = run.now;
    emitNode(run, frame, node, "node.progress", progress);
  }

  confirm(key: string, request: ConfirmRequest): Promise<ConfirmAnswer> {
    const attempt = this.#live();
    this.#once(key);
    const { expiresInMs } = request;
    const isTime = expiresInMs === undefined || isAmount(expiresInMs);
    takes(isText(request.prompt) && isTime, "confirm", "a prompt, and milliseconds from 0");
    if (attempt.stopping !== null) return Promise.reject(this.signal.reason);
    attempt.run.tick();
    const before = this.#askedBefore(request);
    if (before !== undefined) {
      if (before.reply !== null) return before.reply;
      const answer = before.answer as ConfirmAnswer;
      const parked = attempt.frame.state(attempt.node) === WAITING;
      if (!parked || before.given) return Promise.resolve(answer);
      return new Promise((go) => giveTogether(attempt, () => go(answer))); // it came just before the end
    }
    const asked = openConfirmation(attempt, request);
    attempt.run.pump();
    return asked;
  }

  /** The same question of this try before an interruption: by the call that it is about, else by its place. */
  #askedBefore({ tool }: ConfirmRequest): RecoveredQuestion | undefined {
    const questions = this.#recovered()?.questions;
    if (questions === undefined) return undefined;
    if (tool === undefined) return questions[this.#notes.questions++];
    return questions.find(({ asked }) => asked.tool?.call === tool.call);
  }

  emit(report: Report): void {
    const attempt = this.#live();
    const { extras, run } = attempt;
    run.tick();
    extras.calls ??= new Calls(attempt);
    extras.calls.report(report);
    run.pump();
  }

  newCall(prefix: "c" | "t"): string {
    return this.#live().run.calls.next(prefix);
  }

  async step<T extends Json>(
    key: string,
    fn: () => Promise<T> | T,
    options: StepOptions = {},
  ): Promise<T> {
    const attempt = this.#live();
    this.#once(key);
    const name = this.#stepName(key);
    const before = this.#kept(name);
    if (before !== undefined) return before as T;
    const { journal } = attempt.run;
    if (journal !== null) await journal.stored(); // a step of an attempt that the log does not know would be lost
    this.#live();
    let result: T;
    try {
      result = await fn();
    } catch (error) {
      // Nothing was kept: it may be tried again.
      this.#keys = Array.isArray(this.#keys) ? this.#keys.filter((one) => one !== key) : null;
      throw error;
    }
    await journal?.keepStep(name, result, options);
    return result;
  }

  /** Name in the journal of what belongs to the present try; the mark keeps the engine's own apart from those of bodies. */
  #stepName(key: string, mark = "#"): string {
    return `${this.node}#${this.#recovered()?.tryFrom ?? this.attempt}${mark}${key}`;
  }

  /** What the try has left in the journal before an interruption. */
  #kept(name: string): Json | undefined {
    const steps = this.#recovered() === undefined ? undefined : this.#attempt.run.recovered?.steps;
    return steps !== undefined && Object.hasOwn(steps, name) ? steps[name] : undefined;
  }

  /** What the log of an interrupted run says of this attempt; `undefined` for every other. */
  #recovered(): RecoveredNode | undefined {
    const recovered = this.#attempt.run.recovered?.nodes.get(this.node);
    return recovered?.attempt === this.attempt ? recovered : undefined;
  }

  waitUntil(due: number): Promise<void> {
    const attempt = this.#live();
    const { run } = attempt;
    if (attempt.stopping !== null) return Promise.reject(this.signal.reason);
    run.tick();
    const recovered = attempt.frame.state(attempt.node) === WAITING ? this.#recovered() : undefined;
    const until = recovered?.due ?? due; // a parked timer keeps its time over a restart
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

  #once(key: string): void {
    takes(isText(key), "step and ctx.confirm", "a text as their key");
    if (this.#keys === key || (Array.isArray(this.#keys) && this.#keys.includes(key))) {
      throw new NodeError(
        "extension_key_reused",
        `the key "${key}" was used before in this attempt`,
      );
    }
    if (this.#keys === null) this.#keys = key;
    else if (typeof this.#keys === "string") this.#keys = [this.#keys, key];
    else this.#keys.push(key);
  }

  #live(): Attempt {
    return liveAttempt(this.#attempt);
  }
}

/** The attempt, as long as it lasts; throws `attempt_over` after it. */
export function liveAttempt(attempt: Attempt): Attempt {
  if (!attempt.over) return attempt;
  throw new NodeError("attempt_over", "the attempt of this node has ended", {
    reason: "internal",
  });
}
