/**
 * Jobs: work on models that takes long. Installs and fetches run one at a time, in the order they came; a scan runs beside them.
 *   J1  A job ends once, in `done`, `error` or `cancelled`, and is kept a day after that.
 *   J2  A cancelled job that waits ends at once; one at work ends when its work has let go.
 */
import { randomBytes } from "node:crypto";
import type { EventSink, Job } from "@millrace/contracts";
import { ModelError, toModelError } from "./errors.ts";
import { Progress } from "./progress.ts";
import type { ModelClock } from "./settings.ts";

const KEPT_MS = 86_400_000;

/** Subject of a job. `name` begins every message. */
export interface JobKind {
  readonly kind: Job["kind"];
  readonly name: string;
  readonly modelId?: string;
}

export interface JobContext {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

interface Kept extends JobContext {
  readonly id: string;
  readonly about: JobKind;
  readonly startedAt: number;
  readonly controller: AbortController;
  error: Job["error"];
  begun: boolean;
  endedAt: number | null;
  ended: Promise<void>;
}

export class Jobs {
  readonly #clock: ModelClock;
  readonly #sink: EventSink;
  readonly #jobs = new Map<string, Kept>();
  #queue: Promise<void> = Promise.resolve();

  constructor(clock: ModelClock, sink: EventSink) {
    this.#clock = clock;
    this.#sink = sink;
  }

  /** Queues work and answers its job. `after` runs when the work has ended, before the job does; it must not reject. */
  start(
    about: JobKind,
    work: (context: JobContext) => Promise<void>,
    after?: () => Promise<void>,
  ): Job {
    const job = this.#add(about, this.#sink);
    const run = async (): Promise<void> => {
      if (job.endedAt !== null) return after?.();
      job.begun = true;
      const ended = await work(job).then(
        () => undefined,
        (error: unknown) => ({ error }),
      );
      await after?.();
      this.#end(job, ended?.error);
    };
    this.#queue = this.#queue.then(run).catch(() => undefined);
    job.ended = this.#queue;
    return toJob(job);
  }

  /** A job that has nothing to do, and is done. */
  done(about: JobKind): Job {
    const job = this.#add(about, this.#sink);
    job.progress.stage("resolve", 0, 0);
    this.#end(job);
    return toJob(job);
  }

  /** Begins the work of a scan now, beside the queue, without events. */
  beside<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const job = this.#add({ kind: "scan", name }, null);
    job.progress.stage("scan", 0, 0);
    const result = (async () => work(job.signal))();
    job.begun = true;
    job.ended = result.then(
      () => this.#end(job),
      (error: unknown) => this.#end(job, error),
    );
    return result;
  }

  /** The job at work or waiting that fits. */
  open(fits: (job: JobKind) => boolean): Job | undefined {
    const job = [...this.#jobs.values()].find((each) => each.endedAt === null && fits(each.about));
    return job && toJob(job);
  }

  list(): readonly Job[] {
    this.#forget();
    return [...this.#jobs.values()].map(toJob);
  }

  /** Throws `not_found`, and `state_conflict` for a job that has ended. */
  cancel(jobId: string): Job {
    this.#forget();
    const job = this.#jobs.get(jobId);
    if (job === undefined) throw new ModelError("not_found", `there is no job "${jobId}"`);
    if (job.endedAt !== null) {
      throw new ModelError("state_conflict", `the job ${jobId} has ended (${toJob(job).stage})`);
    }
    this.#cancel(job);
    return toJob(job);
  }

  async close(): Promise<void> {
    const open = [...this.#jobs.values()].filter(({ endedAt }) => endedAt === null);
    for (const job of open) this.#cancel(job);
    await Promise.all(open.map(({ ended }) => ended));
  }

  #add(about: JobKind, sink: EventSink | null): Kept {
    this.#forget();
    const controller = new AbortController();
    const id = `job_${randomBytes(12).toString("hex")}`;
    const job: Kept = {
      id,
      about,
      startedAt: this.#clock.now(),
      progress: new Progress({ name: about.name, jobId: id }, sink, this.#clock),
      controller,
      signal: controller.signal,
      error: null,
      begun: false,
      endedAt: null,
      ended: Promise.resolve(),
    };
    this.#jobs.set(job.id, job);
    return job;
  }

  #end(job: Kept, error?: unknown): void {
    if (job.endedAt !== null) return;
    job.endedAt = this.#clock.now();
    if (error === undefined) job.progress.end("done");
    else if (job.signal.aborted) job.progress.end("cancelled");
    else {
      const { code, message } = toModelError(error);
      job.error = { code, message };
      job.progress.end("error", code);
    }
  }

  #cancel(job: Kept): void {
    job.controller.abort(new ModelError("state_conflict", `the job ${job.id} was cancelled`));
    if (!job.begun) this.#end(job, job.signal.reason);
  }

  #forget(): void {
    for (const { id, endedAt } of this.#jobs.values()) {
      if (endedAt !== null && this.#clock.now() - endedAt > KEPT_MS) this.#jobs.delete(id);
    }
  }
}

function toJob({ id, about, progress, startedAt, error }: Kept): Job {
  const { kind, modelId } = about;
  return {
    id,
    kind,
    ...(modelId === undefined ? {} : { modelId }),
    ...progress.position,
    startedAt: new Date(startedAt).toISOString(),
    error,
  };
}
