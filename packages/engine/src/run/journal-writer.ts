/**
 * What a run writes to its journal: events in order, one batch in flight, published once they are stored.
 *   W1  a batch holds everything that was made up to the end of a drain.
 *   W2  whoever must not begin before something is stored waits for its `seq`.
 *   W3  after a failed append nothing is written any more.
 */
import {
  type EncodedEvent,
  type ExecutionEvent,
  type Journal,
  type Json,
  serialiseEvent,
} from "@millrace/contracts";
import { EngineError } from "../errors.ts";
import { announceEnd } from "./finish.ts";
import type { RunCore } from "./run-core.ts";

const utf8 = new TextEncoder();

/** Kinds that may wait a little on their way to the disk. */
const RELAXED: ReadonlySet<string> = new Set(["log", "llm.delta", "node.progress"]);

export class JournalWriter {
  readonly #journal: Journal;
  readonly #run: RunCore;
  #epoch: number | null = null;
  #stored = 0;
  #busy = false;
  #dead = false;
  #waiting: { seq: number; fn: () => void }[] = [];

  /** `from`: a run that is taken up, with what is stored of it and the epoch of its lease. */
  constructor(journal: Journal, run: RunCore, from?: { epoch: number; stored: number }) {
    this.#journal = journal;
    this.#run = run;
    this.#epoch = from?.epoch ?? null;
    this.#stored = from?.stored ?? 0;
  }

  /** Creates the journal of a new run. */
  async create(): Promise<void> {
    const { id, plan, parts, inputs, options } = this.#run;
    const { epoch } = await this.#journal.create({
      runId: id,
      planDigest: plan.digest,
      graph: parts.graph,
      inputs,
      trigger: options.trigger ?? "embed",
      ...(options.template !== undefined && { template: options.template }),
      ...(options.tags !== undefined && { tags: options.tags }),
    });
    this.#epoch = epoch;
  }

  isStored(seq: number): boolean {
    return seq <= this.#stored;
  }

  /** Calls `fn` when everything up to `seq` is stored. */
  whenStored(seq: number, fn: () => void): void {
    this.#waiting.push({ seq, fn });
  }

  /** Resolves when everything made so far is stored; never when the journal is lost. */
  stored(): Promise<void> {
    const { seq } = this.#run.log;
    if (this.isStored(seq) || this.#dead) return Promise.resolve();
    return new Promise((done) => this.whenStored(seq, done));
  }

  /** Sends what was made since the last batch, unless one is on its way. */
  flush(): void {
    const { log } = this.#run;
    if (this.#busy || this.#dead || this.#epoch === null || log.seq === this.#stored) return;
    this.#busy = true;
    void this.#append(log.unpublished(this.#stored + 1), this.#epoch);
  }

  async keepStep(key: string, value: Json): Promise<void> {
    await this.#journal.putValue(this.#run.id, key, value);
  }

  /** A large output, beside the log. It is written in order with the events that name it. */
  keepValue(key: string, value: Json): void {
    const clean = this.#run.redactor?.clean(value) ?? value;
    this.#journal.putValue(this.#run.id, key, clean).catch((error) => this.#failed(error));
  }

  /** A value that the log must not show. */
  keepPrivate(key: string, value: Json): void {
    const kept = this.#journal.putValue(this.#run.id, key, value, { private: true });
    kept.catch((error) => this.#failed(error));
  }

  async #append(events: readonly ExecutionEvent[], epoch: number): Promise<void> {
    const run = this.#run;
    const batch = events.map(encode);
    const sync = events.some(({ kind }) => !RELAXED.has(kind));
    try {
      await this.#journal.append(run.id, this.#stored, batch, { epoch, sync });
    } catch (error) {
      this.#failed(error);
      return;
    }
    this.#busy = false;
    this.#stored += batch.length;
    run.log.publish(this.#stored, run.log.seq === this.#stored && run.summary !== null);
    run.tick();
    const ready = this.#waiting.filter(({ seq }) => seq <= this.#stored);
    this.#waiting = this.#waiting.filter(({ seq }) => seq > this.#stored);
    for (const { fn } of ready) fn();
    announceEnd(run);
    run.engine.pump(run);
  }

  async release(): Promise<void> {
    if (this.#epoch !== null) await this.#journal.release(this.#run.id, this.#epoch);
  }

  #failed(error: unknown): void {
    if (this.#dead) return;
    this.#dead = true;
    const run = this.#run;
    const code = codeOf(error) === "lease_lost" ? "lease_lost" : "journal_failed";
    const text =
      code === "lease_lost"
        ? `run ${run.id} belongs to another process now`
        : `the journal of run ${run.id} cannot be written; its log ends at ${this.#stored}`;
    run.engine.abandon(run, new EngineError(code, text, { cause: error }));
  }
}

function encode(event: ExecutionEvent): EncodedEvent {
  return { seq: event.seq, kind: event.kind, line: utf8.encode(serialiseEvent(event)), event };
}

function codeOf(error: unknown): unknown {
  return typeof error === "object" && error !== null && "code" in error ? error.code : undefined;
}
