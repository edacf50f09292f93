/**
 * What a core body sees of the engine beside the context of extensions: limits and edges of its node, bodies and flows within
 * it, and what `ai` nodes share.
 */
import {
  cutText,
  type FetchLike,
  type FilePort,
  type FlowNode,
  type Json,
  type JsonObject,
  type SpawnPort,
  type ValueRef,
} from "@millrace/contracts";
import { sleep } from "@millrace/contracts/kit";
import { type Layout, localName } from "../compile/layout.ts";
import type { ServiceLink } from "../connections/link.ts";
import { type CheckedInputs, checkInputs } from "../inputs.ts";
import type {
  ActionCall,
  BodyEnd,
  CoreContext,
  Failure,
  FlowCall,
  NodeTools,
  NodeType,
} from "../node-type.ts";
import type { Shared, SharedKey } from "../shared.ts";
import { thrownBy, within } from "./attempt.ts";
import {
  connectionOf,
  guardedFetch,
  guardedFiles,
  guardedShell,
  linkOf,
  secretOf,
  typeFetch,
} from "./capabilities.ts";
import { liveAttempt, NodeContextOf } from "./context.ts";
import { stopRounds } from "./end.ts";
import { callFlow, openRound } from "./flow.ts";
import { parkAsking } from "./people.ts";
import type { Attempt } from "./state.ts";

const NO_TOOLS: NodeTools = Object.freeze({ flows: new Map(), actions: new Map() });

/** One object per attempt, like the context that it extends. */
export class CoreContextOf extends NodeContextOf implements CoreContext {
  readonly #attempt: Attempt;

  constructor(attempt: Attempt) {
    super(attempt);
    this.#attempt = attempt;
  }

  get timeoutMs(): number | undefined {
    return this.#attempt.policy.timeoutMs ?? undefined;
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
    const attempt = liveAttempt(this.#attempt);
    const { inputs } = attempt.frame;
    openRound(attempt, { index, inputs, locals }, done);
    attempt.run.pump();
  }

  checkFlowInputs(inputs: JsonObject): CheckedInputs {
    const { frame, node } = this.#attempt;
    return checkInputs((frame.layout.bodies[node] as Layout).inputs, inputs);
  }

  runFlow(inputs: JsonObject, done: (end: BodyEnd) => void): void {
    const attempt = liveAttempt(this.#attempt);
    openRound(attempt, { index: null, inputs, locals: null }, done);
    attempt.run.pump();
  }

  get bodyName(): string {
    const { frame, node } = this.#attempt;
    return localName(frame.layout.nodes[node] as Parameters<typeof localName>[0]);
  }

  link(connection: string): ServiceLink {
    return linkOf(liveAttempt(this.#attempt), connection);
  }

  within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(liveAttempt(this.#attempt), { ms, signal: this.signal }, work);
  }

  withoutSecrets(text: string, max: number, isWhole: boolean): string {
    const { redactor } = liveAttempt(this.#attempt).run;
    return redactor?.beginning(text, max, isWhole) ?? cutText(text, max).text;
  }

  abortBodies(): void {
    stopRounds(liveAttempt(this.#attempt), "sibling");
  }

  get source(): FlowNode["fields"] {
    const { frame, node } = this.#attempt;
    return (frame.layout.nodes[node] as FlowNode).fields;
  }

  shared<T extends Shared, S>(key: SharedKey<T, S>): T {
    return liveAttempt(this.#attempt).run.engine.shared(key);
  }

  get tools(): NodeTools {
    const { frame, node } = this.#attempt;
    return frame.layout.tools[node] ?? NO_TOOLS;
  }

  fetchWith(signal: AbortSignal, fetch?: FetchLike | null): FetchLike {
    return guardedFetch(liveAttempt(this.#attempt), signal, fetch);
  }

  mask<T extends Json>(value: T): T {
    return liveAttempt(this.#attempt).run.redactor?.clean(value) ?? value;
  }

  turn(): Promise<void> {
    const { host } = liveAttempt(this.#attempt).run.engine;
    return new Promise((go) => host.yield(go));
  }

  learn(secret: string): void {
    liveAttempt(this.#attempt).run.learn(secret);
  }

  keepValue(value: Json): ValueRef {
    return liveAttempt(this.#attempt).run.keepLarge(value);
  }

  after(ms: number, fn: () => void): () => void {
    const { run } = liveAttempt(this.#attempt);
    const { timers } = run.engine;
    run.tick();
    const timer = timers.set(run.now + Math.max(0, ms), fn);
    return () => timers.cancel(timer);
  }

  async working<T>(work: () => Promise<T>): Promise<T> {
    const attempt = liveAttempt(this.#attempt);
    attempt.extras.working += 1;
    try {
      return await work();
    } finally {
      attempt.extras.working -= 1;
      if (attempt.extras.working === 0) queueMicrotask(() => parkAsking(attempt));
    }
  }

  callFlow(ref: string, index: number, inputs: JsonObject): FlowCall {
    return callFlow(liveAttempt(this.#attempt), { ref, index, inputs });
  }

  actionContext(type: NodeType, call: ActionCall): CoreContext {
    return new ActionContext(liveAttempt(this.#attempt), type, call);
  }

  thrownBy(type: NodeType, thrown: unknown): Failure {
    return thrownBy(this.#attempt, thrown, type);
  }
}

/** What an action gets that a model calls as a tool: its own key, signal and configuration, and nothing that speaks for the node. */
class ActionContext extends CoreContextOf {
  readonly #attempt: Attempt;
  readonly #type: NodeType;
  readonly #call: ActionCall;

  constructor(attempt: Attempt, type: NodeType, call: ActionCall) {
    super(attempt);
    this.#attempt = attempt;
    this.#type = type;
    this.#call = call;
  }

  override get idempotencyKey(): string {
    return this.#call.key;
  }

  override get signal(): AbortSignal {
    return this.#call.signal;
  }

  override get timeoutMs(): number {
    return this.#call.timeoutMs;
  }

  override get config(): JsonObject {
    const config = this.#attempt.run.engine.options.config ?? {};
    const id = this.#type.adapter ?? "";
    return (Object.hasOwn(config, id) ? config[id] : undefined) ?? {};
  }

  override get fetch(): FetchLike {
    return typeFetch(liveAttempt(this.#attempt), this.signal, this.#type);
  }

  override get files(): FilePort {
    return guardedFiles(liveAttempt(this.#attempt), this.signal, this.#type);
  }

  override get shell(): SpawnPort {
    return guardedShell(liveAttempt(this.#attempt), this.signal, this.#type);
  }

  override get credentials(): NodeContextOf["credentials"] {
    const attempt = this.#attempt;
    const { signal } = this;
    return {
      secret: (name) => secretOf(attempt, name, this.#type),
      connection: (slug) => connectionOf(attempt, slug, signal),
    };
  }

  override sleep(ms: number): Promise<void> {
    return sleep(ms, this.signal, { setTimer: (fn, after) => this.after(after, fn) });
  }

  /** The progress of a node is that of its own work. */
  override progress(): void {}
}
