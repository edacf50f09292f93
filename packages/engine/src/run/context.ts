/**
 * What a body sees of the engine. One object per attempt, made of getters over it; what a body never asks for is never made.
 * After the attempt has ended every member refuses with `attempt_over`, but those that only name things and the signal.
 */

import {
  type ConfirmAnswer,
  type Connection,
  cutText,
  type FetchLike,
  type FilePort,
  type FlowNode,
  type Json,
  type JsonObject,
  NodeError,
  type Secret,
  type SpawnPort,
  type ValueRef,
} from "@millrace/contracts";
import { sleep, whenAborted } from "@millrace/contracts/kit";
import { type Layout, localName } from "../compile/layout.ts";
import type { ServiceLink } from "../connections/link.ts";
import { type CheckedInputs, checkInputs } from "../inputs.ts";
import type {
  ActionCall,
  BodyEnd,
  ConfirmRequest,
  CoreContext,
  Failure,
  FlowCall,
  NodeTools,
  NodeType,
  Report,
} from "../node-type.ts";
import type { Shared, SharedKey } from "../shared.ts";
import {
  answeredBefore,
  askedBefore,
  flushProgress,
  idempotencyKeyOf,
  keptStep,
  parkUntil,
  sleepFor,
  stepName,
  tellProgress,
  whileWorking,
  writeLine,
} from "./acts.ts";
import { signalOf, within } from "./attempt.ts";
import { Calls } from "./calls.ts";
import {
  connectionOf,
  guardedFetch,
  guardedFiles,
  guardedShell,
  linkOf,
  secretOf,
  typeFetch,
} from "./capabilities.ts";
import { stopRounds } from "./end.ts";
import { callFlow, openRound } from "./flow.ts";
import type { StepOptions } from "./journal.ts";
import { cutData, isAmount, isText, Notes, takes, withKey } from "./notes.ts";
import { openConfirmation } from "./people.ts";
import type { Attempt } from "./state.ts";
import { thrownBy } from "./thrown.ts";

const NO_TOOLS: NodeTools = Object.freeze({ flows: new Map(), actions: new Map() });

/** An action that a model calls as a tool: its own key, signal and configuration, and nothing that speaks for the node. */
interface Tool {
  readonly type: NodeType;
  readonly call: ActionCall;
  /** Removes the listener of its signal; null: there is none. */
  unhear: (() => void) | null;
}

export class ContextOf implements CoreContext {
  readonly #attempt: Attempt;
  /** Keys of questions and steps so far: most bodies have none, or one. */
  #keys: string | string[] | null = null;
  #notesIfAny: Notes | null = null;
  readonly #tool: Tool | null;

  constructor(attempt: Attempt, tool: Tool | null = null) {
    this.#attempt = attempt;
    this.#tool = tool;
  }

  get #notes(): Notes {
    this.#notesIfAny ??= new Notes();
    return this.#notesIfAny;
  }

  get #type(): NodeType {
    return this.#tool?.type ?? this.#attempt.type;
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
    if (this.#tool !== null) return this.#tool.call.key;
    return idempotencyKeyOf(attempt);
  }

  get signal(): AbortSignal {
    return this.#tool?.call.signal ?? signalOf(this.#attempt);
  }

  get fetch(): FetchLike {
    return typeFetch(this.#live(), this.signal, this.#type);
  }

  get files(): FilePort {
    return guardedFiles(this.#live(), this.signal, this.#type);
  }

  get shell(): SpawnPort {
    return guardedShell(this.#live(), this.signal, this.#type);
  }

  get config(): JsonObject {
    const config = this.#live().run.engine.options.config ?? {};
    const id = this.#type.adapter ?? "";
    return (Object.hasOwn(config, id) ? config[id] : undefined) ?? {};
  }

  get credentials(): {
    secret(name: string): Promise<Secret>;
    connection(slug: string): Promise<Connection>;
  } {
    const attempt = this.#live();
    const { signal } = this;
    return {
      secret: (name) => secretOf(attempt, name, this.#type),
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
    if (this.#tool !== null) return sleep(ms, signal, { setTimer: (fn, at) => this.after(at, fn) });
    return sleepFor(attempt, { ms, signal }, () => this.#notes);
  }

  log(level: "debug" | "info" | "warn" | "error", text: string, data?: JsonObject): void {
    const line = { level, channel: "node", text, ...cutData(data) } as const;
    writeLine(this.#live(), this.#notes, line);
  }

  warn(code: string, text: string, data?: JsonObject): void {
    const line = { level: "warn", channel: "engine", text, code, ...cutData(data) } as const;
    writeLine(this.#live(), this.#notes, line);
  }

  progress(done: number, total?: number, unit?: "items" | "iterations" | "bytes"): void {
    if (this.#tool !== null) return; // the progress of a node is that of its own work
    tellProgress(this.#live(), () => this.#notes, { done, total, unit });
  }

  get heldProgress(): boolean {
    return this.#notesIfAny !== null && this.#notesIfAny.progress !== null;
  }

  /** Sends the latest progress if it was held back. */
  flushProgress(): void {
    if (this.#notesIfAny !== null) flushProgress(this.#attempt, this.#notesIfAny);
  }

  confirm(key: string, request: ConfirmRequest): Promise<ConfirmAnswer> {
    const attempt = this.#live();
    this.#keys = withKey(this.#keys, key, "confirm");
    const { expiresInMs } = request;
    const isTime = expiresInMs === undefined || isAmount(expiresInMs);
    takes(isText(request.prompt) && isTime, "confirm", "a prompt, and milliseconds from 0");
    if (attempt.stopping !== null) return Promise.reject(this.signal.reason);
    attempt.run.tick();
    const before = askedBefore(attempt, () => this.#notes, request);
    if (before !== undefined) return answeredBefore(attempt, before);
    const asked = openConfirmation(attempt, request);
    attempt.run.pump();
    return asked;
  }

  emit(report: Report): void {
    const attempt = this.#live();
    const { extras, run } = attempt;
    extras.calls ??= new Calls(attempt);
    if (extras.calls.gathers(report)) return; // most of a stream: nothing is said yet
    run.tick();
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
    this.#keys = withKey(this.#keys, key, "step");
    const name = stepName(attempt, key);
    const before = keptStep(attempt, name);
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

  waitUntil(due: number): Promise<void> {
    const attempt = this.#live();
    if (attempt.stopping !== null) return Promise.reject(this.signal.reason);
    return parkUntil(attempt, due);
  }

  get timeoutMs(): number | undefined {
    return this.#tool?.call.timeoutMs ?? this.#attempt.policy.timeoutMs ?? undefined;
  }

  get concurrency(): number | undefined {
    return this.#attempt.policy.concurrency ?? undefined;
  }

  get collects(): boolean {
    return this.#attempt.policy.onError === "collect";
  }

  limit(name: "map.items" | "loop.max" | "outputBytes"): number {
    return this.#attempt.run.limits[name];
  }

  hasEdge(port: string): boolean {
    const { frame, node } = this.#attempt;
    return frame.layout.ports[node]?.includes(port) === true;
  }

  liveSources(): readonly string[] {
    const { frame, node } = this.#attempt;
    const sources = frame.arrivals?.get(node) ?? [];
    return sources.map((source) => frame.layout.ids[source] as string);
  }

  runBody(index: number, locals: JsonObject, done: (end: BodyEnd) => void): void {
    const attempt = this.#live();
    const { inputs } = attempt.frame;
    openRound(attempt, { index, inputs, locals }, done);
    attempt.run.pump();
  }

  checkFlowInputs(inputs: JsonObject): CheckedInputs {
    const { frame, node } = this.#attempt;
    return checkInputs((frame.layout.bodies[node] as Layout).inputs, inputs);
  }

  runFlow(inputs: JsonObject, done: (end: BodyEnd) => void): void {
    const attempt = this.#live();
    openRound(attempt, { index: null, inputs, locals: null }, done);
    attempt.run.pump();
  }

  get bodyName(): string {
    const { frame, node } = this.#attempt;
    return localName(frame.layout.nodes[node] as Parameters<typeof localName>[0]);
  }

  link(connection: string): ServiceLink {
    return linkOf(this.#live(), connection);
  }

  onAbort(listener: (() => void) | null): void {
    const attempt = this.#attempt;
    const tool = this.#tool;
    if (tool !== null) {
      // It has a signal of its own, and leaves who hears of its node alone.
      tool.unhear?.();
      tool.unhear = listener === null ? null : whenAborted(tool.call.signal, listener);
    } else if (listener !== null && (attempt.over || attempt.stopping !== null)) listener();
    else attempt.onAbort = listener;
  }

  within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(this.#live(), { ms, ctx: this }, work);
  }

  withoutSecrets(text: string, max: number, isWhole: boolean): string {
    const { redactor } = this.#live().run;
    return redactor?.beginning(text, max, isWhole) ?? cutText(text, max).text;
  }

  abortBodies(): void {
    stopRounds(this.#live(), "sibling");
  }

  get source(): FlowNode["fields"] {
    const { frame, node } = this.#attempt;
    return (frame.layout.nodes[node] as FlowNode).fields;
  }

  shared<T extends Shared, S>(key: SharedKey<T, S>): T {
    return this.#live().run.engine.shared(key);
  }

  get tools(): NodeTools {
    const { frame, node } = this.#attempt;
    return frame.layout.tools[node] ?? NO_TOOLS;
  }

  fetchWith(signal: AbortSignal, fetch?: FetchLike | null): FetchLike {
    return guardedFetch(this.#live(), signal, fetch);
  }

  mask<T extends Json>(value: T): T {
    return this.#live().run.redactor?.clean(value) ?? value;
  }

  turn(): Promise<void> {
    const { host } = this.#live().run.engine;
    return new Promise((go) => host.yield(go));
  }

  learn(secret: string): void {
    this.#live().run.learn(secret);
  }

  keepValue(value: Json): ValueRef {
    return this.#live().run.keepLarge(value);
  }

  after(ms: number, fn: () => void): () => void {
    const { run } = this.#live();
    const { timers } = run.engine;
    run.tick();
    const timer = timers.set(run.now + Math.max(0, ms), fn);
    return () => timers.cancel(timer);
  }

  async working<T>(work: () => Promise<T>): Promise<T> {
    return whileWorking(this.#live(), work);
  }

  callFlow(ref: string, index: number, inputs: JsonObject): FlowCall {
    return callFlow(this.#live(), { ref, index, inputs });
  }

  actionContext(type: NodeType, call: ActionCall): CoreContext {
    return new ContextOf(this.#live(), { type, call, unhear: null });
  }

  thrownBy(type: NodeType, thrown: unknown): Failure {
    return thrownBy(this.#attempt, thrown, type);
  }

  #live(): Attempt {
    if (!this.#attempt.over) return this.#attempt;
    throw new NodeError("attempt_over", "the attempt of this node has ended", {
      reason: "internal",
    });
  }
}
