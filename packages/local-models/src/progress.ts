/**
 * Progress of a job as the channel tells it: `{stage, current, total, message}`, and which job it is.
 *   P1  The first and the last event of each stage are always sent; between them at most ten a second, and none is older than that:
 *       work that stalls has told where it stands.
 *   P2  `current` never falls within a stage, except by `restart`, whose message ends with `: restarted`.
 *   P3  One terminal event, after which nothing is sent.
 */
import type { EventSink } from "@millrace/contracts";
import type { ModelClock } from "./settings.ts";

const EVERY_MS = 100; // ten a second

export interface Position {
  readonly stage: string;
  readonly current: number;
  /** 0: unknown. */
  readonly total: number;
}

/** Subject of progress: the job, and its model or engine. */
export interface ProgressSubject {
  readonly name: string;
  readonly jobId: string;
}

/** Progress of a job. Without a sink it is kept, not sent. */
export class Progress {
  #position: Position = { stage: "resolve", current: 0, total: 0 };
  readonly #about: ProgressSubject;
  readonly #sink: EventSink | null;
  readonly #clock: ModelClock;
  #sentAt = Number.NEGATIVE_INFINITY;
  /** Cancels the timer that sends what is not sent yet. */
  #unsent: (() => void) | null = null;
  #ended = false;

  constructor(about: ProgressSubject, sink: EventSink | null, clock: ModelClock) {
    this.#about = about;
    this.#sink = sink;
    this.#clock = clock;
  }

  get position(): Position {
    return this.#position;
  }

  stage(stage: string, current: number, total: number): void {
    this.#to({ stage, current, total });
  }

  /** Has come to `current` in this stage. */
  advance(to: number, total: number = this.#position.total): void {
    const { current: before, total: known } = this.#position;
    const current = total > 0 ? Math.min(to, total) : to; // a file may grow while it is read
    if (this.#ended || (current <= before && total === known)) return;
    this.#position = { ...this.#position, current: Math.max(current, before), total };
    const rest = this.#sentAt + EVERY_MS - this.#clock.now();
    if (rest <= 0) this.#send();
    else this.#unsent ??= this.#clock.setTimer(() => this.#send(), Math.min(rest, EVERY_MS));
  }

  /** Enters a stage, or goes on in it. */
  step(stage: string, current: number, total: number): void {
    if (this.#position.stage === stage) this.advance(current, total);
    else this.stage(stage, current, total);
  }

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
    if (this.#unsent !== null) this.#send(); // the last one of the stage that ends
    this.#position = next;
    this.#send(text);
  }

  #send(text?: string): void {
    this.#unsent?.();
    this.#unsent = null;
    this.#sentAt = this.#clock.now();
    const { name, jobId } = this.#about;
    const message = text === undefined ? name : `${name}: ${text}`;
    this.#sink?.emit("models:install_progress", { ...this.#position, message, jobId });
  }
}
