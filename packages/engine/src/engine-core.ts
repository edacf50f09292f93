/** What the runs of one engine share: host, timers, slots, cache, and the runs themselves. */
import type { FetchLike, FilePort, JsonObject } from "@millrace/contracts";
import { AiRuntime } from "./ai/runtime.ts";
import type { EngineError } from "./errors.ts";
import type { Host, ProgramsPort } from "./host.ts";
import { engineLimits, type Limits } from "./limits.ts";
import type { Grants, NodeType } from "./node-type.ts";
import type { EngineOptions } from "./options.ts";
import { createPortableHost } from "./portable-host.ts";
import type { Attempt } from "./run/attempt.ts";
import { ResultCache } from "./run/cache.ts";
import type { EventLog } from "./run/event-log.ts";
import { pump } from "./run/pump.ts";
import { Redactor } from "./run/redact.ts";
import type { RunCore } from "./run/run-core.ts";
import { closeAttempt } from "./run/settle.ts";
import { type KeyClaim, Keys, Limit } from "./run/slots.ts";
import { giveBack } from "./run/start.ts";
import { Timers } from "./run/timers.ts";
import { Renewals } from "./services/renewals.ts";
import { digestOf } from "./values.ts";

/** Nodes of a type at once, in the whole engine: what a machine and the other side of a wire bear well. */
const TYPE_SLOTS: { readonly [type: string]: number } = {
  ai: 16,
  "http.request": 64,
  "file.read": 32,
  "file.write": 32,
  "file.list": 32,
  "shell.exec": 4,
};

/** Credentials that all runs know: each costs every text some time, and older ones have been renewed. */
const SHARED_SECRETS = 16;

export class EngineCore {
  readonly options: EngineOptions;
  readonly host: Host;
  readonly timers: Timers;
  readonly limits: Limits;
  readonly cache: ResultCache = new ResultCache();
  readonly runs: Map<string, RunCore> = new Map();
  readonly typeSlots: ReadonlyMap<string, Limit>;
  readonly fetch: FetchLike | null;
  readonly files: FilePort | null;
  readonly renewals: Renewals;
  /** The newest credentials that any run has used; none of them shows in the log of another. */
  readonly secrets: Redactor = new Redactor(null, SHARED_SECRETS);
  #ai: AiRuntime | null = null;
  readonly shell: ProgramsPort | null;
  /** Node starts since the clock was last looked at, over all runs. */
  starts = 0;
  /** When the process last got a turn for its timers and sockets. */
  lastMacrotask: number;
  closed = false;
  /** The journal waits for room: runs that write to it start nothing. */
  isFull = false;
  /** Stops listening to the journal. */
  readonly unwatch: () => void;
  readonly #granted: WeakMap<Grants, FetchLike | null> = new WeakMap();
  /** The run that is being worked on. */
  entered: RunCore | null = null;
  readonly #keys: Keys = new Keys();
  #noInputs: string | null = null;
  readonly #toWake: Set<EventLog> = new Set();
  #isYielding = false;
  #awake: Set<RunCore> | null = null;

  constructor(options: EngineOptions) {
    this.options = options;
    this.host = options.host ?? createPortableHost();
    this.timers = new Timers(this.host);
    this.limits = engineLimits(options.limits);
    this.renewals = new Renewals(() => this.host.now());
    this.lastMacrotask = this.host.now();
    this.fetch = this.host.openFetch?.(options.egress ?? {}) ?? null;
    this.files = (options.files && this.host.openFiles?.(options.files)) ?? null;
    this.shell = (options.shell && this.host.openSpawn?.(options.shell)) ?? null;
    const slots = { ...TYPE_SLOTS, ...options.concurrency?.types };
    this.typeSlots = new Map(Object.entries(slots).map(([type, max]) => [type, new Limit(max)]));
    this.unwatch =
      options.journal?.watchRoom?.((isFull) => {
        this.isFull = isFull;
        if (!isFull) for (const run of this.runs.values()) this.wakeSoon(run);
      }) ?? (() => {});
  }

  /** What `ai` nodes share; made when there is one. */
  get ai(): AiRuntime {
    const { providers = [], ai = {}, egress } = this.options;
    this.#ai ??= new AiRuntime(providers, ai, { host: this.host, egress });
    return this.#ai;
  }

  pump(run: RunCore): void {
    pump(run);
  }

  /** The network as a type may use it: core's is the engine's, an extension's ends at the hosts that it was granted. */
  fetchOf({ grants }: NodeType): FetchLike | null {
    if (grants === undefined) return this.fetch;
    let fetch = this.#granted.get(grants);
    if (fetch === undefined) {
      fetch = this.host.openFetch?.({ ...this.options.egress, only: grants.net }) ?? null;
      this.#granted.set(grants, fetch);
    }
    return fetch;
  }

  /** Digest of the inputs of a run; most often there are none. */
  inputsDigest(inputs: JsonObject): string {
    if (Object.keys(inputs).length > 0) return digestOf(inputs, this.host);
    this.#noInputs ??= digestOf({}, this.host);
    return this.#noInputs;
  }

  /** Lets a run go on after the present one, without growing the stack. */
  wakeSoon(run: RunCore): void {
    if (this.entered === run || run.pumping) return; // its pump is on the way
    if (this.#awake === null) {
      this.#awake = new Set();
      queueMicrotask(() => {
        const awake = this.#awake ?? [];
        this.#awake = null;
        for (const one of awake) {
          one.tick();
          pump(one);
        }
      });
    }
    this.#awake.add(run);
  }

  /** Wakes the readers of a log with the next macrotask; all logs of one tick together. */
  wakeReaders(log: EventLog): void {
    this.#toWake.add(log);
    if (this.#isYielding) return;
    this.#isYielding = true;
    this.host.yield(() => {
      this.#isYielding = false;
      this.lastMacrotask = this.host.now();
      for (const one of [...this.#toWake]) one.wakeNow();
    });
  }

  /** The readers of a log are awake: it need not be kept for them. */
  readersAwake(log: EventLog): void {
    this.#toWake.delete(log);
  }

  claimKey(key: string, how: { max: number; heldBefore: boolean }, attempt: Attempt): KeyClaim {
    return this.#keys.claim(key, how, attempt);
  }

  releaseKey(claim: KeyClaim): void {
    this.#keys.release(claim);
  }

  /** Stops a run whose journal is lost: bodies are told, nothing is written, the result is an error. */
  abandon(run: RunCore, error: EngineError): void {
    this.halt(run);
    this.leave(run);
    run.log.abandon(error);
    run.fail(error);
  }

  /** Bodies are told, and what they still do has no effect. */
  halt(run: RunCore): void {
    run.state = "over";
    const live = run.liveAttempts();
    for (const attempt of live) attempt.controller?.abort();
    for (const attempt of live) closeAttempt(attempt);
    for (const attempt of run.again.splice(0)) giveBack(attempt);
    this.timers.cancel(run.clock);
    this.timers.cancel(run.grace);
  }

  /** Forgets a run that has ended. */
  leave(run: RunCore): void {
    if (this.runs.get(run.id) === run) this.runs.delete(run.id);
    run.detach?.();
    run.detach = null;
    this.#ai?.endRun(run.id);
  }
}
