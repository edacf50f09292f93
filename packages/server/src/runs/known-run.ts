/** Runs that there are, and calls of the executor about them. */
import {
  type Confirmation,
  type ExecutionEvent,
  type Executor,
  escapeLine,
  type Run,
  type RunState,
  type RunSummary,
  type Snapshot,
  type StoredEvent,
} from "@millrace/contracts";
import { confirmationStatusSchema } from "@millrace/contracts/schemas";
import type { FlowDocument } from "@millrace/dsl";
import { known, notFound, ProblemError } from "../errors.ts";
import { decodeEvent, ExecutorError } from "../executor/index.ts";
import { flowInvalid, toProblems } from "../flows/read-flow.ts";
import { fromStore } from "../http/problem.ts";
import type { ServerHost } from "../ports.ts";
import { createRunViews, type RunViews } from "./run-views.ts";

/** Of a run with more events the folded state is kept: each look at it would fold them all. */
const LONG = 2_000;

/** A run that exists, with its nodes. Throws `not_found`. */
export async function knownRun(host: ServerHost, runId: string): Promise<Run> {
  return (await longRun(host, runId)) ?? known(await host.executor.get(runId), "run");
}

/** A long run, from its kept state; undefined: it is not long, or its state is too large to be kept. */
async function longRun(host: ServerHost, runId: string): Promise<Run | undefined> {
  const { store } = host;
  // Taken first: a run that ends meanwhile has nodes that are further than it says, never the other way round.
  const summary = await store.runs.summary(runId);
  if (summary === null || summary.lastSeq <= LONG) return undefined;
  const confirmations = await confirmationsOf(host, runId);
  const snapshot = await snapshotOf(host, runId);
  const event = snapshot && decodeEvent(snapshot);
  if (event?.kind !== "snapshot") return undefined;
  const { nodes } = (event as Snapshot).view;
  const states = nodes.map(({ node, state, attempt }) => [node, { state, attempt }] as const);
  return { ...summary, nodes: Object.fromEntries(states), confirmations };
}

/** All questions of a run, in the order in which they were asked. */
async function confirmationsOf({ store }: ServerHost, runId: string): Promise<Confirmation[]> {
  const all = new Map<string, Confirmation>();
  // The open ones first: one that is answered meanwhile is found once more, as answered.
  for (const status of confirmationStatusSchema.options) {
    const { items } = await store.confirmations.list({ runId, status, limit: MOST });
    for (const item of items) all.set(item.id, item);
  }
  return [...all.values()].sort((a, b) => orderOf(a) - orderOf(b));
}

/** More questions than a run may ask. */
const MOST = 1_000_000;

/** Ids count up within a run: `k1`, `k2` … */
const orderOf = ({ id }: Confirmation): number => Number(id.slice(1));

const kept = new WeakMap<ServerHost, RunViews>();

/** The state of a run as one event, folded once for all readers; undefined: it has none, or one that is too large. */
export function snapshotOf(host: ServerHost, runId: string): Promise<StoredEvent | undefined> {
  const views = kept.get(host) ?? createRunViews();
  kept.set(host, views);
  const { journal, store } = host;
  return views.snapshot({ journal, summary: (id) => store.runs.summary(id) }, runId);
}

/** The same without its nodes, which costs no look at its log. */
export async function knownSummary({ store }: ServerHost, runId: string): Promise<RunSummary> {
  return known(await store.runs.summary(runId), "run");
}

/** Kinds that pass every filter: without them a reader cannot tell where it is. */
const ALWAYS: ReadonlySet<string> = new Set([
  "run.started",
  "run.cancelling",
  "snapshot",
  "summary",
]);

/** A test of a filtered stream. */
export type AcceptsEvent = (event: StoredEvent) => boolean;

/** Filter of a log: kinds of events, those of one node, `below` also those in its body. */
interface EventFilter {
  readonly kinds?: readonly string[] | undefined;
  readonly node?: string | undefined;
  readonly below?: boolean | undefined;
}

/** The test for a filter; undefined when everything passes. */
export function acceptsEvents({ kinds, node, below }: EventFilter): AcceptsEvent | undefined {
  if (kinds === undefined && node === undefined) return undefined;
  const wanted = kinds && new Set(kinds);
  const isOfNode = node === undefined ? () => true : acceptsNode(node, below === true);
  return (event) =>
    ALWAYS.has(event.kind) || (wanted?.has(event.kind) !== false && isOfNode(event));
}

/** A line has the path as JSON writes it: most events of other nodes are passed over without being read. */
function acceptsNode(path: string, below: boolean): AcceptsEvent {
  const quoted = escapeLine(JSON.stringify(path));
  const sought = Buffer.from(`"node":${below ? quoted.slice(0, -1) : quoted}`);
  return (stored) => {
    const { buffer, byteOffset, byteLength } = stored.line;
    if (!Buffer.from(buffer, byteOffset, byteLength).includes(sought)) return false;
    const { node } = decodeEvent(stored) as { readonly node?: string };
    return node === path || (below && node !== undefined && isBelow(node, path));
  };
}

/** In a path the id of a node is followed by its attempt, its item, or the node in its body. */
function isBelow(node: string, path: string): boolean {
  return node.startsWith(path) && ["/", "~", "["].includes(node.charAt(path.length));
}

/** Throws `ahead_of_journal` when the run has no such event yet: what the reader knows is of another log. */
export function checkPosition(run: RunSummary, after: number): void {
  if (after > run.lastSeq) {
    throw new ProblemError("ahead_of_journal", { members: { lastSeq: run.lastSeq } });
  }
}

/** The events of a log from behind `after`, for a client in this process. An abort is an error, not the end. */
export async function* readEvents(
  { executor }: ServerHost,
  runId: string,
  { after, kinds }: { readonly after: number; readonly kinds?: EventFilter["kinds"] },
  signal: AbortSignal,
): AsyncGenerator<ExecutionEvent, void> {
  const accepts = acceptsEvents({ kinds });
  for await (const page of executor.attach(runId, { after, signal })) {
    for (const stored of page) {
      if (accepts === undefined || accepts(stored)) yield decodeEvent(stored) as ExecutionEvent;
    }
  }
  signal.throwIfAborted();
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
