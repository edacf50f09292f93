/**
 * What a run writes to its journal: events in order, one batch in flight, published once they are stored.
 *   W1  a batch holds everything that was made up to the end of a drain.
 *   W2  work that must not begin before an event is stored waits for its `seq`.
 *   W3  after a failed append nothing is written any more.
 *   W4  the lease of a run that was taken up is renewed while the run works. One that waits for people lets it lapse: nothing of
 *       it is in flight, and whoever takes it over meanwhile has the newer epoch.
 */
import {
  type EncodedEvent,
  type ExecutionEvent,
  type Journal,
  type Json,
  type JsonObject,
  type RunHeader,
  serialiseEvent,
} from "@millrace/contracts";
import { listOf } from "@millrace/contracts/kit";
import { type Plan, partsOf } from "../compile/plan.ts";
import { EngineError } from "../errors.ts";
import type { RunOptions } from "../options.ts";
import type { RunBase } from "./run-base.ts";
import type { Timer } from "./timers.ts";

const utf8 = new TextEncoder();

/** The header of a run, written to the journal before its first event. */
export function headerOf(
  plan: Plan,
  run: { readonly runId: string; readonly inputs: JsonObject; readonly options: RunOptions },
): RunHeader {
  const { runId, inputs, options } = run;
  const { graph, flows, flow } = partsOf(plan);
  const called = [...flows].map(([text, { graph: flow }]) => [text, flow] as const);
  return {
    runId,
    planDigest: plan.digest,
    flowHash: flow.hash,
    graph,
    ...(called.length > 0 && { flows: Object.fromEntries(called) }),
    inputs,
    trigger: options.trigger ?? "embed",
    template: options.template,
    tags: options.tags,
    ...((options.vars ?? options.environment) !== undefined && {
      options: { vars: options.vars, environment: options.environment },
    }),
  };
}

/** How the result of a step is kept. */
export interface StepOptions {
  readonly private?: true;
  readonly kept?: true;
}

/** How long a process that says nothing is taken for alive. */
export const LEASE_MS = 30_000;
const RENEW_MS = LEASE_MS / 3; // two renewals may fail before anybody notices

/** A run that the journal already has: its lease, and how much of it is stored. Without `owner` the lease is not renewed. */
export interface Taken {
  readonly owner?: string;
  readonly epoch: number;
  readonly stored: number;
}

/** Kinds that may wait a little on their way to the disk. */
const RELAXED: ReadonlySet<string> = new Set(["log", "llm.delta", "node.progress"]);

const isUrgent = ({ kind }: ExecutionEvent): boolean => !RELAXED.has(kind);

export class JournalWriter {
  readonly #journal: Journal;
  readonly #run: RunBase;
  #epoch: number | null = null;
  #stored = 0;
  /** Events of the batch that is on its way; 0: none is. */
  #sent = 0;
  #dead = false;
  /** In the order of their `seq`. */
  readonly #waiting: Waiting[] = listOf();
  /** The last `seq` that is written; it is finite in a run that is left behind. */
  #end = Number.POSITIVE_INFINITY;
  readonly #draining: (() => void)[] = [];
  readonly #owner: string | null;
  #renewal: Timer | null = null;
  #renewedAt: number;

  /** `taken` absent: the run is to be created. */
  constructor(journal: Journal, run: RunBase, taken?: Taken) {
    this.#journal = journal;
    this.#run = run;
    this.#owner = taken?.owner ?? null;
    this.#epoch = taken?.epoch ?? null;
    this.#stored = taken?.stored ?? 0;
    this.#renewedAt = run.now;
  }

  /** Creates the journal of a new run. */
  async create(): Promise<void> {
    const { id, plan, inputs, options } = this.#run;
    const { epoch } = await this.#journal.create(headerOf(plan, { runId: id, inputs, options }));
    this.#epoch = epoch;
  }

  isStored(seq: number): boolean {
    return seq <= this.#stored;
  }

  /** Calls `fn` when everything up to `seq` is stored. */
  whenStored(seq: number, fn: () => void): void {
    this.#waiting.push(new Waiting(seq, fn));
  }

  /** Resolves when everything made so far is stored; never when the journal is lost. */
  stored(): Promise<void> {
    const { seq } = this.#run.log;
    if (this.isStored(seq) || this.#dead) return Promise.resolve();
    return new Promise((done) => this.whenStored(seq, done));
  }

  /** Nothing that is made from now on is written. Resolves when all that was made before is stored, or the journal is lost. */
  seal(): Promise<void> {
    this.#end = this.#run.log.seq;
    this.#stopRenewing();
    this.flush();
    if (this.#sent === 0 || this.#dead) return Promise.resolve();
    return new Promise((done) => this.#draining.push(done));
  }

  #rest(): void {
    if (this.#sent > 0 && !this.#dead) return;
    for (const done of this.#draining.splice(0)) done();
  }

  /** Sends what was made since the last batch, unless one is on its way. */
  flush(): void {
    const { log } = this.#run;
    const end = Math.min(log.seq, this.#end);
    if (this.#sent > 0 || this.#dead || this.#epoch === null || end <= this.#stored) return;
    this.#sent = end - this.#stored;
    this.#append(log.unpublished(this.#stored + 1, end), this.#epoch);
  }

  /**
   * Resolves when the result of a step is stored; never when the journal is lost, which stops the run. One that holds a known
   * secret is private. `kept`: a private one that stays as long as the log.
   */
  keepStep(key: string, value: Json, options: StepOptions = {}): Promise<void> {
    const { redactor } = this.#run;
    const isSecret = redactor !== null && redactor.clean(value) !== value;
    const how = isSecret ? { ...options, private: true } : options;
    return new Promise((done) => {
      this.#journal.putValue(this.#run.id, key, value, how).then(
        () => done(),
        (error: unknown) => this.#failed(error),
      );
    });
  }

  /** Keeps a value beside the log, readable by everybody. It is written in order with the events that name it. */
  keepValue(key: string, value: Json): void {
    this.#put(key, value);
  }

  /** A value that the log must not show. */
  keepPrivate(key: string, value: Json): void {
    this.#put(key, value, { private: true });
  }

  /** A journal may throw where it should reject. */
  #put(key: string, value: Json, options?: { private: true }): void {
    const put = async () => this.#journal.putValue(this.#run.id, key, value, options);
    put().catch((error) => this.#failed(error));
  }

  /** A journal may throw where it should reject. */
  #append(events: readonly ExecutionEvent[], epoch: number): void {
    try {
      const batch = encode(events); // a batch that is too large for the memory is lost like one that no journal takes
      const sync = events.some(isUrgent);
      const written = this.#journal.append(this.#run.id, this.#stored, batch, { epoch, sync });
      Promise.resolve(written).then(this.#onWritten, this.#onLost);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Made once for all batches, as is `#onLost`. */
  readonly #onWritten = (): void => {
    const run = this.#run;
    this.#stored += this.#sent;
    this.#sent = 0;
    run.log.publish(this.#stored, run.log.seq === this.#stored && run.summary !== null);
    run.tick();
    if (this.#waiting.length > 0) this.#goOn();
    this.#renewLater();
    run.pump(); // which sends what has gathered meanwhile
    this.#rest();
  };

  /** Calls whatever waited for what is stored now. */
  #goOn(): void {
    const later = this.#waiting.findIndex(({ seq }) => seq > this.#stored);
    const ready = this.#waiting.splice(0, later < 0 ? this.#waiting.length : later);
    for (const { fn } of ready) fn();
  }

  readonly #onLost = (error: unknown): void => this.#failed(error);

  /** Keeps the lease while the run works. */
  #renewLater(): void {
    const run = this.#run;
    if (this.#owner === null || this.#renewal !== null || run.state === "over") return;
    const due = this.#renewedAt + RENEW_MS;
    this.#renewal = run.engine.timers.set(Math.max(due, run.now), () => {
      this.#renewal = null;
      if (run.paused !== "confirmation") void this.#renew(this.#owner as string);
    });
  }

  async #renew(owner: string): Promise<void> {
    const run = this.#run;
    this.#renewedAt = run.engine.host.now();
    try {
      const lease = await this.#journal.lease(run.id, owner, LEASE_MS);
      if (lease === null) this.#failed({ code: "lease_lost" });
      else this.#epoch = lease.epoch;
    } catch {
      // a journal that is away now may be back for the next try; if not, the next append says so
    }
    if (!this.#dead) this.#renewLater();
  }

  /** The run has ended: its lease is never asked for again. */
  end(): void {
    this.#stopRenewing();
  }

  /** Gives the lease back. If the journal refuses, the lease runs out by itself. */
  async release(): Promise<void> {
    this.#stopRenewing();
    try {
      if (this.#epoch !== null) await this.#journal.release(this.#run.id, this.#epoch);
    } catch {
      // the process that takes the run up has a newer epoch
    }
  }

  #stopRenewing(): void {
    this.#run.engine.timers.cancel(this.#renewal);
    this.#renewal = null;
  }

  #failed(error: unknown): void {
    if (this.#dead) return;
    this.#dead = true;
    this.#stopRenewing();
    this.#rest();
    const run = this.#run;
    const code = codeOf(error) === "lease_lost" ? "lease_lost" : "journal_failed";
    const text =
      code === "lease_lost"
        ? `run ${run.id} belongs to another process now`
        : `the journal of run ${run.id} cannot be written; its log ends at ${this.#stored}`;
    run.abandon(new EngineError(code, text, { cause: error }));
  }
}

/** Above it a block costs little beside what it holds, and texts that are joined without limit are too long for a string at last. */
const BLOCK_CHARS = 4_194_304;

/**
 * Events that are stored together, with their bytes: in one block where each letter is a byte, because a block costs more than what it
 * holds.
 */
export function encode(events: readonly ExecutionEvent[]): EncodedEvent[] {
  const lines = events.map(serialiseEvent);
  let length = 0;
  for (const line of lines) length += line.length;
  const block = length > BLOCK_CHARS ? undefined : utf8.encode(lines.join(""));
  let end = 0;
  return events.map((event, n) => {
    const own = lines[n] as string;
    const start = end;
    end += own.length;
    const line = block?.length === length ? block.subarray(start, end) : utf8.encode(own);
    return new Encoded(event, line);
  });
}

/** What waits until everything up to `seq` is stored. No literal, nor is `Encoded`: ADR 0092. */
class Waiting {
  readonly seq: number;
  readonly fn: () => void;

  constructor(seq: number, fn: () => void) {
    this.seq = seq;
    this.fn = fn;
  }
}

class Encoded implements EncodedEvent {
  readonly seq: number;
  readonly kind: string;
  readonly line: Uint8Array;
  readonly event: ExecutionEvent;

  constructor(event: ExecutionEvent, line: Uint8Array) {
    this.seq = event.seq;
    this.kind = event.kind;
    this.line = line;
    this.event = event;
  }
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
