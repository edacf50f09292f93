/**
 * The models of the server's machine with the work on them, as they change.
 *   M1  The stream of models is open while the screen is, and closed while the page is hidden. Whenever it begins anew, everything is
 *       read again: what happened meanwhile is not told.
 *   M2  A job that the page did not start, or that began before the page was loaded, is shown like any other.
 */
import type { Job, Model, ModelEngine, ModelsFrame } from "@millrace/contracts";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { backend, connection, isUnreachable } from "../../backend.ts";
import { onFeed } from "../../state/feed.ts";
import { followStream } from "../../state/follow-stream.ts";
import { isWired } from "../../state/meta.ts";
import { notify } from "../../state/notifications.ts";
import { keptByTab } from "../../state/storage.ts";
import { isActive } from "../../state/visibility.ts";

/** Models of one page of the server; a machine has some dozens. */
const PAGE = 200;
/** State of the screen. */
export interface ModelsState {
  /** Undefined: nothing was read yet. */
  readonly models?: readonly Model[];
  readonly engines: readonly ModelEngine[];
  /** Jobs that go on. */
  readonly jobs: readonly Job[];
  /** Jobs that failed, also while nobody looked, and that nobody has dismissed. */
  readonly failed: readonly Job[];
  readonly error?: unknown;
}

/** The state, and what changes it. */
export interface Models extends ModelsState {
  readonly reload: () => void;
  /** Takes a failed job off the screen. */
  readonly dismiss: (jobId: string) => void;
}

type Progress = Extract<ModelsFrame, { channel: "models:install_progress" }>["payload"];

/** Reads the models and follows them. */
export function useModels(): Models {
  const [state, setState] = useState<ModelsState>({ engines: [], jobs: [], failed: [] });
  const turn = useRef(0);

  const reload = useCallback(async (): Promise<void> => {
    turn.current += 1;
    const mine = turn.current;
    try {
      const [{ items: models }, engines, jobs] = await Promise.all([
        backend.invoke("list_models", { limit: PAGE }),
        backend.invoke("list_engines", {}),
        isWired("list_model_jobs") ? backend.invoke("list_model_jobs", {}) : [],
      ]);
      if (mine !== turn.current) return;
      const open = jobs.filter(({ stage }) => !isEnd(stage));
      setState({ models, engines, jobs: open, failed: failedJobs(jobs) });
    } catch (error) {
      // What is shown stays; the state of the connection tells why.
      if (mine === turn.current && !isUnreachable(error)) {
        setState((before) => ({ ...before, error }));
      }
    }
  }, []);

  const ended = useCallback(
    async (jobId: string): Promise<void> => {
      const job = await backend.invoke("get_model_job", { jobId }).catch(() => undefined);
      if (job !== undefined && job.error === null) notify(`${titleOf(job)}: ${job.stage}`);
      await reload();
    },
    [reload],
  );

  const progressed = useCallback(
    ({ jobId, stage, current, total }: Progress): void => {
      if (jobId === undefined) return void reload();
      if (isEnd(stage)) return void ended(jobId);
      setState((before) => {
        if (!before.jobs.some(({ id }) => id === jobId)) {
          void reload();
          return before;
        }
        const jobs = before.jobs.map((job) =>
          job.id === jobId ? { ...job, stage, current, total } : job,
        );
        return { ...before, jobs };
      });
    },
    [reload, ended],
  );

  const isShown = isActive.value;
  const isConnected = connection.value === "Connected";
  useEffect(() => {
    if (isShown && isConnected) void reload();
  }, [isShown, isConnected, reload]);
  useEffect(() => {
    if (!isShown) return undefined;
    const stop = new AbortController();
    const open = () => backend.modelEvents({ signal: stop.signal });
    void followStream(stop.signal, open, (frame) => {
      if (frame.channel === "models:install_progress") progressed(frame.payload);
      else void reload();
    });
    return () => stop.abort();
  }, [isShown, progressed, reload]);
  // A flow may have loaded a model, or let go of it.
  useEffect(
    () =>
      onFeed((event) => {
        if (event === undefined || event.kind === "summary") void reload();
      }),
    [reload],
  );

  return {
    ...state,
    reload: useCallback(() => void reload(), [reload]),
    dismiss: useCallback((jobId) => {
      keptByTab.set(DISMISSED, JSON.stringify([...dismissed(), jobId].slice(-MAX_DISMISSED)));
      setState((before) => ({
        ...before,
        failed: before.failed.filter(({ id }) => id !== jobId),
      }));
    }, []),
  };
}

const DISMISSED = "millrace.jobs.dismissed";
/** The server keeps the jobs of a day. */
const MAX_DISMISSED = 100;

/** Ids of jobs that were dismissed in this tab. */
function dismissed(): readonly string[] {
  const ids: unknown = JSON.parse(keptByTab.get(DISMISSED) ?? "[]");
  return Array.isArray(ids) ? ids.map(String) : [];
}

/** Failed jobs: the last one of each model, unless it was tried again since. */
function failedJobs(jobs: readonly Job[]): readonly Job[] {
  const hidden = new Set(dismissed());
  const isLast = (job: Job): boolean =>
    !jobs.some(
      ({ kind, modelId, startedAt }) =>
        kind === job.kind && modelId === job.modelId && startedAt > job.startedAt,
    );
  return jobs.filter((job) => job.error !== null && !hidden.has(job.id) && isLast(job));
}

function isEnd(stage: string): boolean {
  return stage === "done" || stage === "error" || stage === "cancelled";
}

/** Description of a job: the name of its progress bar. */
export function titleOf({ kind, modelId = "model" }: Job): string {
  if (kind === "scan") return "Scanning folders";
  return kind === "engine" ? "Fetching the engine" : `Installing ${modelId}`;
}
