/**
 * Jobs: work on models that takes long. Installs and fetches run one at a time, in the order they came; a scan runs beside them.
 *   J1  A job ends once, in `done`, `error` or `cancelled`, and is kept a day after that.
 *   J2  A cancelled job that waits ends at once; one at work ends when its work has let go.
 */
import { randomBytes } from "node:crypto";
import type { EventSink, Job } from "@millrace/contracts";
import { ModelError, toModelError } from "./errors.ts";
import { createProgress, type Progress } from "./install/progress.ts";
import type { ModelClock } from "./settings.ts";

const KEPT_MS = 86_400_000;
const SCAN = "scan";

/** Arguments of the work of a job. */
export interface JobContext {
  readonly signal: AbortSignal;
  readonly progress: Progress;
}

/** Subject of a job. `name` begins every message. */
export interface JobKind {
  readonly kind: Job["kind"];
  readonly name: string;
  readonly modelId?: string;
}

interface Kept {
  readonly id: string;
  readonly about: JobKind;
  readonly startedAt: number;
  readonly progress: Progress;
  readonly controller: AbortController;
  error: Job["error"];
  begun: boolean;
  endedAt: number | null;
  ended: Promise<void>;
}

interface Work {
  readonly work: (context: JobContext) => Promise<void>;
  readonly after: (() => Promise<void>) | undefined;
}

export interface Jobs {
  /** Queues work and answers its job. `after` runs when the work has ended, before the job does; it must not reject. */
  start(
    about: JobKind,
    work: (context: JobContext) => Promise<void>,
    after?: () => Promise<void>,
  ): Job;
  /** A job that has nothing to do, and is done. */
  done(about: JobKind): Job;
  /** Begins work now, beside the queue, without events. */
  beside<T>(name: string, work: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** The job at work or waiting that fits. */
  open(fits: (job: JobKind) => boolean): Job | undefined;
  list(): readonly Job[];
  /** Throws `not_found`, and `state_conflict` for a job that has ended. */
  cancel(jobId: string): Job;
  /** Cancels all and waits for their ends. */
  close(): Promise<void>;
}

/** Jobs of one manager. */
export function createJobs({ clock, sink }: { clock: ModelClock; sink: EventSink }): Jobs {
  const jobs = new Map<string, Kept>();
  let queue: Promise<void> = Promise.resolve();

  const add = (about: JobKind, to: EventSink | null): Kept => {
    const job: Kept = {
      id: `job_${randomBytes(12).toString("hex")}`,
      about,
      startedAt: clock.now(),
      progress: createProgress(about.name, { sink: to, now: clock.now }),
      controller: new AbortController(),
      error: null,
      begun: false,
      endedAt: null,
      ended: Promise.resolve(),
    };
    jobs.set(job.id, job);
    return job;
  };
  const end = (job: Kept, error?: unknown): void => {
    if (job.endedAt !== null) return;
    job.endedAt = clock.now();
    if (error === undefined) job.progress.end("done");
    else if (job.controller.signal.aborted) job.progress.end("cancelled");
    else {
      const { code, message } = toModelError(error);
      job.error = { code, message };
      job.progress.end("error", code);
    }
  };
  const run = async (job: Kept, { work, after }: Work): Promise<void> => {
    if (job.endedAt !== null) return after?.();
    job.begun = true;
    let failure: { readonly error: unknown } | undefined;
    try {
      await work({ signal: job.controller.signal, progress: job.progress });
    } catch (error) {
      failure = { error };
    }
    await after?.();
    end(job, failure?.error);
  };
  const forget = (): void => {
    for (const { id, endedAt } of jobs.values()) {
      if (endedAt !== null && clock.now() - endedAt > KEPT_MS) jobs.delete(id);
    }
  };
  const cancel = (job: Kept): void => {
    job.controller.abort(new ModelError("state_conflict", `the job ${job.id} was cancelled`));
    if (!job.begun) end(job, job.controller.signal.reason);
  };

  return {
    start(about, work, after) {
      forget();
      const job = add(about, sink);
      queue = queue.then(() => run(job, { work, after })).catch(() => undefined);
      job.ended = queue;
      return toJob(job);
    },
    done(about) {
      forget();
      const job = add(about, sink);
      job.progress.stage("resolve", 0, 0);
      end(job);
      return toJob(job);
    },
    beside(name, work) {
      forget();
      const job = add({ kind: "scan", name }, null);
      job.progress.stage(SCAN, 0, 0);
      const result = (async () => work(job.controller.signal))();
      job.begun = true;
      job.ended = result.then(
        () => end(job),
        (error: unknown) => end(job, error),
      );
      return result;
    },
    open(fits) {
      const job = [...jobs.values()].find(({ endedAt, about }) => endedAt === null && fits(about));
      return job && toJob(job);
    },
    list() {
      forget();
      return [...jobs.values()].map(toJob);
    },
    cancel(jobId) {
      forget();
      const job = jobs.get(jobId);
      if (job === undefined) throw new ModelError("not_found", `there is no job "${jobId}"`);
      if (job.endedAt !== null) {
        throw new ModelError("state_conflict", `the job ${jobId} has ended (${toJob(job).stage})`);
      }
      cancel(job);
      return toJob(job);
    },
    async close() {
      const open = [...jobs.values()].filter(({ endedAt }) => endedAt === null);
      for (const job of open) cancel(job);
      await Promise.all(open.map(({ ended }) => ended));
    },
  };
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
