/** Runs that there are, and calls of the executor about them. */
import type { Executor, Run, RunState, RunSummary } from "@millrace/contracts";
import type { FlowDocument } from "@millrace/dsl";
import { known, notFound, ProblemError } from "../errors.ts";
import { ExecutorError } from "../executor/index.ts";
import { flowInvalid, toProblems } from "../flows/read-flow.ts";
import { fromStore } from "../http/problem.ts";
import type { ServerHost } from "../ports.ts";

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether nothing follows this state. */
export function isEnded(state: string): boolean {
  return ENDED.has(state);
}

/** A run that exists, with its nodes. Throws `not_found`. */
export async function knownRun(host: ServerHost, runId: string): Promise<Run> {
  return known(await host.executor.get(runId), "run");
}

/** The same without its nodes, which costs no look at its log. */
export function knownSummary({ store }: ServerHost, runId: string): RunSummary {
  return known(store.runs.summary(runId), "run");
}

/** Kinds that pass every filter: without them a reader cannot tell where it is. */
const ALWAYS: ReadonlySet<string> = new Set([
  "run.started",
  "run.cancelling",
  "snapshot",
  "summary",
]);

/** A test for a filtered stream; undefined when everything passes. */
export function acceptsKinds(
  kinds: readonly string[] | undefined,
): ((kind: string) => boolean) | undefined {
  if (kinds === undefined) return undefined;
  const wanted = new Set(kinds);
  return (kind) => wanted.has(kind) || ALWAYS.has(kind);
}

/** Throws `ahead_of_journal` when the run has no such event yet: what the reader knows is of another log. */
export function checkPosition(run: RunSummary, after: number): void {
  if (after > run.lastSeq) {
    throw new ProblemError("ahead_of_journal", { members: { lastSeq: run.lastSeq } });
  }
}

const LIVE: readonly RunState[] = ["pending", "running", "paused", "cancelling"];
/** Runs read in one step. */
const PAGE = 200;

/** The runs of an executor that have not ended. */
export async function* liveRuns(executor: Executor): AsyncGenerator<RunSummary, void> {
  let cursor: string | undefined;
  do {
    const page = await executor.list({ status: LIVE, limit: PAGE, ...(cursor && { cursor }) });
    yield* page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

/** Seconds after which a refused run may be tried again. */
const RETRY_AFTER_BUSY_S = 5;

/** Calls the executor; its refusals become problems. */
export async function callExecutor<T>(call: () => Promise<T>, document?: FlowDocument): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ExecutorError.isInstance(error) ? toProblem(error, document) : fromStore(error);
  }
}

function toProblem(error: ExecutorError, document: FlowDocument | undefined): ProblemError {
  switch (error.code) {
    case "flow_invalid":
      return flowInvalid(error.diagnostics, document);
    case "input_invalid":
      return new ProblemError("input_invalid", { errors: toProblems(error.diagnostics) });
    case "run_exists":
      return new ProblemError("already_exists", {
        detail: "A run has this id",
        members: { resource: "run" },
      });
    case "not_found":
      return notFound("run");
    case "state_conflict":
      return new ProblemError("state_conflict", { members: { state: error.state } });
    case "too_many_runs":
    case "executor_unavailable":
      return new ProblemError(error.code, { headers: { "Retry-After": `${RETRY_AFTER_BUSY_S}` } });
  }
}
