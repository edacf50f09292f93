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
import { attemptOf, liveAttempt, NodeContextOf } from "./context.ts";
import { stopRounds } from "./end.ts";
import { callFlow, openRound } from "./flow.ts";
import { parkAsking } from "./people.ts";
import type { Attempt } from "./state.ts";

const NO_TOOLS: NodeTools = Object.freeze({ flows: new Map(), actions: new Map() });

/** One object per attempt, like the context that it extends. */
export class CoreContextOf extends NodeContextOf implements CoreContext {
  get timeoutMs(): number | undefined {
    return attemptOf(this).policy.timeoutMs ?? undefined;
  }

  get concurrency(): number | undefined {
    return attemptOf(this).policy.concurrency ?? undefined;
  }

  get collects(): boolean {
    return attemptOf(this).policy.onError === "collect";
  }

  limit(name: "map.items" | "loop.max" | "outputBytes"): number {
    return attemptOf(this).run.limits[name];
  }

  hasEdge(port: string): boolean {
    const { frame, node } = attemptOf(this);
    return frame.layout.ports[node]?.includes(port) === true;
  }

  liveSources(): readonly string[] {
    const { frame, node } = attemptOf(this);
    const sources = frame.arrivals?.get(node) ?? [];
    return sources.map((source) => frame.layout.ids[source] as string);
  }

  runBody(index: number, locals: JsonObject, done: (end: BodyEnd) => void): void {
    const attempt = liveAttempt(attemptOf(this));
    const { inputs } = attempt.frame;
    openRound(attempt, { index, inputs, locals }, done);
    attempt.run.pump();
  }

  checkFlowInputs(inputs: JsonObject): CheckedInputs {
    const { frame, node } = attemptOf(this);
    return checkInputs((frame.layout.bodies[node] as Layout).inputs, inputs);
  }

  runFlow(inputs: JsonObject, done: (end: BodyEnd) => void): void {
    const attempt = liveAttempt(attemptOf(this));
    openRound(attempt, { index: null, inputs, locals: null }, done);
    attempt.run.pump();
  }

  get bodyName(): string {
    const { frame, node } = attemptOf(this);
    return localName(frame.layout.nodes[node] as Parameters<typeof localName>[0]);
  }

  link(connection: string): ServiceLink {
    return linkOf(liveAttempt(attemptOf(this)), connection);
  }

  within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return within(liveAttempt(attemptOf(this)), { ms, signal: this.signal }, work);
  }

  withoutSecrets(text: string, max: number, isWhole: boolean): string {
    const { redactor } = liveAttempt(attemptOf(this)).run;
    return redactor?.beginning(text, max, isWhole) ?? cutText(text, max).text;
  }

  abortBodies(): void {
    stopRounds(liveAttempt(attemptOf(this)), "sibling");
  }

  get source(): FlowNode["fields"] {
    const { frame, node } = attemptOf(this);
    return (frame.layout.nodes[node] as FlowNode).fields;
  }

  shared<T extends Shared, S>(key: SharedKey<T, S>): T {
    return liveAttempt(attemptOf(this)).run.engine.shared(key);
  }

  get tools(): NodeTools {
    const { frame, node } = attemptOf(this);
    return frame.layout.tools[node] ?? NO_TOOLS;
  }

  fetchWith(signal: AbortSignal, fetch?: FetchLike | null): FetchLike {
    return guardedFetch(liveAttempt(attemptOf(this)), signal, fetch);
  }

  mask<T extends Json>(value: T): T {
    return liveAttempt(attemptOf(this)).run.redactor?.clean(value) ?? value;
  }

  turn(): Promise<void> {
    const { host } = liveAttempt(attemptOf(this)).run.engine;
    return new Promise((go) => host.yield(go));
  }

  learn(secret: string): void {
    liveAttempt(attemptOf(this)).run.learn(secret);
  }

  keepValue(value: Json): ValueRef {
    return liveAttempt(attemptOf(this)).run.keepLarge(value);
  }

  after(ms: number, fn: () => void): () => void {
    const { run } = liveAttempt(attemptOf(this));
    const { timers } = run.engine;
    run.tick();
    const timer = timers.set(run.now + Math.max(0, ms), fn);
    return () => timers.cancel(timer);
  }

  async working<T>(work: () => Promise<T>): Promise<T> {
    const attempt = liveAttempt(attemptOf(this));
    attempt.extras.working += 1;
    try {
      return await work();
    } finally {
      attempt.extras.working -= 1;
      if (attempt.extras.working === 0) queueMicrotask(() => parkAsking(attempt));
    }
  }

  callFlow(ref: string, index: number, inputs: JsonObject): FlowCall {
    return callFlow(liveAttempt(attemptOf(this)), { ref, index, inputs });
  }

  actionContext(type: NodeType, call: ActionCall): CoreContext {
    return new ActionContext(liveAttempt(attemptOf(this)), type, call);
  }

  thrownBy(type: NodeType, thrown: unknown): Failure {
    return thrownBy(attemptOf(this), thrown, type);
  }
}

/** What an action gets that a model calls as a tool: its own key, signal and configuration, and nothing that speaks for the node. */
class ActionContext extends CoreContextOf {
  readonly #type: NodeType;
  readonly #call: ActionCall;

  constructor(attempt: Attempt, type: NodeType, call: ActionCall) {
    super(attempt);
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
    const config = attemptOf(this).run.engine.options.config ?? {};
    const id = this.#type.adapter ?? "";
    return (Object.hasOwn(config, id) ? config[id] : undefined) ?? {};
  }

  override get fetch(): FetchLike {
    return typeFetch(liveAttempt(attemptOf(this)), this.signal, this.#type);
  }

  override get files(): FilePort {
    return guardedFiles(liveAttempt(attemptOf(this)), this.signal, this.#type);
  }

  override get shell(): SpawnPort {
    return guardedShell(liveAttempt(attemptOf(this)), this.signal, this.#type);
  }

  override get credentials(): NodeContextOf["credentials"] {
    const attempt = attemptOf(this);
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
