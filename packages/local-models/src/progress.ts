/**
 * Progress of a job as the channel tells it: `{stage, current, total, message}`, and which job it is.
 *   P1  The first and the last event of each stage are always sent; between them at most ten a second.
 *   P2  `current` never falls within a stage, except by `restart`, whose message ends with `: restarted`.
 *   P3  One terminal event, after which nothing is sent.
 */
import type { EventSink } from "@millrace/contracts";

const EVERY_MS = 100; // ten a second

/** Where a job stands. */
export interface Position {
  readonly stage: string;
  readonly current: number;
  /** 0: unknown. */
  readonly total: number;
}

/** What progress is about: the job, and its model or engine. */
export interface ProgressSubject {
  readonly name: string;
  readonly jobId: string;
}

/** Progress of a job. Without a sink it is kept, not sent. */
export class Progress {
  #position: Position = { stage: "resolve", current: 0, total: 0 };
  readonly #about: ProgressSubject;
  readonly #sink: EventSink | null;
  readonly #now: () => number;
  #sentAt = Number.NEGATIVE_INFINITY;
  #unsent = false;
  #ended = false;

  constructor(about: ProgressSubject, sink: EventSink | null, now: () => number) {
    this.#about = about;
    this.#sink = sink;
    this.#now = now;
  }

  get position(): Position {
    return this.#position;
  }

  /** Enters a stage. */
  stage(stage: string, current: number, total: number): void {
    this.#to({ stage, current, total });
  }

  /** Has come to `current` in this stage. */
  advance(to: number, total: number = this.#position.total): void {
    const { current: before, total: known } = this.#position;
    const current = total > 0 ? Math.min(to, total) : to; // a file may grow while it is read
    if (this.#ended || (current <= before && total === known)) return;
    this.#position = { ...this.#position, current: Math.max(current, before), total };
    this.#unsent = true;
    if (this.#now() - this.#sentAt >= EVERY_MS) this.#send();
  }

  /** Enters a stage, or goes on in it. */
  step(stage: string, current: number, total: number): void {
    if (this.#position.stage === stage) this.advance(current, total);
    else this.stage(stage, current, total);
  }

  /** Starts the stage again from zero. */
  restart(total: number): void {
    this.#to({ ...this.#position, current: 0, total }, "restarted");
  }

  /** Ends the job. `code` goes with `error`. */
  end(stage: "done" | "error" | "cancelled", code?: string): void {
    this.#to({ ...this.#position, stage }, code);
    this.#ended = true;
  }

  #to(next: Position, text?: string): void {
    if (this.#ended) return;
    if (this.#unsent) this.#send(); // the last one of the stage that ends
    this.#position = next;
    this.#send(text);
  }

  #send(text?: string): void {
    this.#unsent = false;
    this.#sentAt = this.#now();
    const { name, jobId } = this.#about;
    const message = text === undefined ? name : `${name}: ${text}`;
    this.#sink?.emit("models:install_progress", { ...this.#position, message, jobId });
  }
}
