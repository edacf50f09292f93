/** Commands of runs: start, read, steer, answer, repeat, delete. */

import type {
  AnyEvent,
  CommandResult,
  FlowGraph,
  ParsedArgs,
  RunRef,
  RunRequest,
  RunSpec,
  RunSummary,
  RunTemplate,
  SignalResult,
} from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import type { FlowDocument } from "@millrace/dsl";
import { readSettings, runDefaults } from "../config/settings.ts";
import { Answer, keyed, keyedStart, wire } from "../dispatch/index.ts";
import { known, notFound, ProblemError } from "../errors.ts";
import { decodeEvent } from "../executor/index.ts";
import { readDsl } from "../flows/read-flow.ts";
import type { CommandCall, HandlerList } from "../ports.ts";
import { acceptsEvents, callExecutor, checkPosition, knownRun, knownSummary } from "./known-run.ts";
import { isEnded } from "./run-end.ts";

async function steer(
  call: CommandCall,
  runId: string,
  kind: "pause" | "resume",
): Promise<CommandResult<"pause_run">> {
  const { executor } = call.host;
  const result = await callExecutor(() => executor.signal(runId, { kind, by: actorOf(call) }));
  const run = await knownRun(call.host, runId);
  if (!result.ok) throw new ProblemError("state_conflict", { members: { state: run.status } });
  return run;
}

/** Who did it, as events name them. */
function actorOf(call: CommandCall): string {
  return call.caller.tokenId ?? call.app.actor;
}

/** A client that a signal has reached says which: the exit code of the run is that of the client. */
function isSignal(reason: string | undefined): reason is "sigint" | "sigterm" {
  return reason === "sigint" || reason === "sigterm";
}

export const runHandlers: HandlerList = [
  wire("start_run", (args, call) => startRun(call, "start_run", args)),
  // Over HTTP this command streams; by name it starts and leaves the run alone.
  wire("run_flow", (args, call) => startRun(call, "run_flow", args)),
  wire("run_and_wait", async ({ waitMs, ...request }, call) => {
    const { value: ref, headers } = await startRun(call, "run_and_wait", request);
    const { value, status } = await waitForRun(call, ref.runId, waitMs);
    return new Answer(value, { headers, status });
  }),
  // The cursor is the store's, which signs its own.
  wire("list_runs", (args, { host }) => host.executor.list(args)),
  wire("get_run", ({ runId }, { host }) => knownRun(host, runId)),
  wire("get_run_events", async ({ runId, after = 0, limit, ...filter }, { host }) => {
    checkPosition(await knownSummary(host, runId), after);
    const accepts = acceptsEvents(filter);
    const items: AnyEvent[] = [];
    // What is there now; `attach` would wait for what is still to come.
    for await (const page of host.journal.read(runId, after)) {
      for (const event of page) {
        if (accepts !== undefined && !accepts(event)) continue;
        if (items.length === limit) {
          // A position, not a signed cursor: `after` takes any number.
          return { items, nextCursor: String(items.at(-1)?.seq ?? after) };
        }
        items.push(decodeEvent(event));
      }
    }
    return { items, nextCursor: null };
  }),
  wire("get_run_graph", async ({ runId }, { host }) => {
    return known(await host.store.runs.header(runId, { private: false }), "run").graph;
  }),
  wire("cancel_run", ({ runId, reason, graceMs }, call) =>
    callExecutor(() =>
      call.host.executor.cancel(runId, {
        ...(isSignal(reason) ? { reason } : { reason: "user", ...(reason && { note: reason }) }),
        by: actorOf(call),
        graceMs,
      }),
    ),
  ),
  wire("pause_run", ({ runId }, call) => steer(call, runId, "pause")),
  wire("resume_run", ({ runId }, call) => steer(call, runId, "resume")),
  wire("retry_run", (args, call) =>
    keyedStart(call, "retry_run", args, async (rows) => {
      const spec = await againSpec(call, args);
      return callExecutor(() => call.host.executor.start(spec, rows));
    }),
  ),
  wire("acknowledge_runs", async ({ runIds, template }, { host }) => {
    for (const runId of runIds ?? []) await knownSummary(host, runId);
    const { runs } = host.store;
    const acknowledged = await runs.acknowledge(
      runIds === undefined ? { template } : { runIds: [...new Set(runIds)] },
    );
    return { acknowledged };
  }),
  wire("delete_run", async ({ runId }, { host }) => {
    const { status } = await knownSummary(host, runId);
    const became = await host.store.runs.delete(runId);
    if (became === "live") throw stillLive(status);
    return null;
  }),
  wire("prune_runs", (args, { host }) => host.store.runs.prune(args)),
  wire("get_run_blob", async ({ runId, digest }, { host }) => {
    await knownRun(host, runId);
    const value = await host.journal.getValue(runId, digest);
    if (value === undefined) throw notFound("value"); // null is a value
    const bytes = Buffer.from(JSON.stringify(value));
    return {
      digest,
      mediaType: "application/json",
      bytes: bytes.byteLength,
      base64: bytes.toString("base64"),
    };
  }),
  wire("list_confirmations", async (args, { host }) => {
    if (args.runId !== undefined) await knownSummary(host, args.runId);
    return host.store.confirmations.list(args);
  }),
  wire("resolve_confirmation", (args, call) =>
    keyed(call, "resolve_confirmation", args, async () => {
      const { runId, confirmationId: id, ...answer } = args;
      const { executor, store } = call.host;
      const result = await callExecutor(() =>
        executor.signal(runId, { ...answer, kind: "confirm", id, by: actorOf(call) }),
      );
      if (!result.ok) throw refusalOf(result);
      return known(await store.confirmations.get(runId, id), "confirmation");
    }),
  ),
];

/** The spec of the same run again: its flow, inputs and options. Throws `not_found`, `state_conflict`. */
async function againSpec(
  { app, host, caller }: CommandCall,
  { runId, from, failedItems, inputs }: ParsedArgs<"retry_run">,
): Promise<RunSpec> {
  const { status, template, tags } = await knownSummary(host, runId);
  if (!isEnded(status)) throw stillLive(status);
  const header = known(await host.store.runs.header(runId), "run");
  return {
    ...header.options,
    traceparent: caller.traceparent,
    graph: header.graph,
    inputs: inputs ?? (header.inputs as RunSpec["inputs"]),
    trigger: app.actor,
    retryOf: runId,
    tags,
    from,
    failedItems,
    template: template ?? undefined,
    tokenId: caller.tokenId ?? undefined,
  };
}

function stillLive(state: string): ProblemError {
  return new ProblemError("state_conflict", {
    detail: "The run has not ended",
    members: { state },
  });
}

function refusalOf({ code, outcome, problems }: Extract<SignalResult, { ok: false }>) {
  const resource = code === "not_found" ? "confirmation" : undefined;
  return new ProblemError(code, {
    errors: problems,
    members: { ...(outcome && { outcome }), ...(resource && { resource }) },
  });
}

/** Starts the run of a checked request, once for each idempotency key. Throws `not_found` when that run is forgotten. */
export async function startRun(
  call: CommandCall,
  command: "run_flow" | "start_run" | "run_and_wait",
  request: RunRequest,
): Promise<Answer<RunRef>> {
  const { executor } = call.host;
  const answer = await keyedStart(call, command, request, async (rows) => {
    const flow = await findFlow(call, request);
    const spec = await toRunSpec(call, flow, request);
    return callExecutor(() => executor.start(spec, rows), flow.document);
  });
  if (Object.hasOwn(answer.headers, "Idempotent-Replayed"))
    await knownSummary(call.host, answer.value.runId);
  return answer;
}

async function toRunSpec(
  { app, host, caller }: CommandCall,
  flow: Flow,
  request: RunRequest,
): Promise<RunSpec> {
  const { graph, template } = flow;
  const { runId, timeoutMs, tags, confirm: wanted } = request.options ?? {};
  const defaults = runDefaults(graph, await readSettings(host.store.settings));
  const confirm = wanted ?? defaults.confirm ?? "ask";
  return {
    ...defaults,
    traceparent: caller.traceparent,
    graph,
    template,
    inputs: request.inputs ?? {},
    trigger: app.actor,
    tokenId: caller.tokenId ?? undefined,
    runId,
    tags,
    timeoutMs: timeoutMs ?? defaults.timeoutMs,
    confirm: confirm === "ask" ? undefined : confirm,
  };
}

interface Flow {
  readonly graph: FlowGraph;
  /** Present when the flow came as text: places in it can be shown. */
  readonly document?: FlowDocument;
  readonly template?: RunTemplate;
}

async function findFlow({ app, host }: CommandCall, request: RunRequest): Promise<Flow> {
  if (request.graph !== undefined) return { graph: request.graph };
  if (request.dsl !== undefined) {
    return readDsl(request.dsl, app.limits.maxDslBytes, host.catalog);
  }
  const stored = await host.templates.get(request.template ?? "", request.version);
  const { graph, slug, version } = known(stored, "template");
  return { graph, template: { slug, version } };
}

/** Waits until a run has ended or paused, at most `waitMs`; the run goes on either way. */
export async function waitForRun(
  { host, signal }: Pick<CommandCall, "host" | "signal">,
  runId: string,
  waitMs: number,
): Promise<Answer<RunSummary | RunRef>> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), waitMs);
  const leave = whenAborted(signal, () => stop.abort());
  try {
    for await (const page of host.executor.attach(runId, { signal: stop.signal })) {
      const newest = page.findLast(({ kind }) => kind.startsWith("run.") || kind === "summary");
      if (newest?.kind !== "run.paused") continue;
      // The log is read from its beginning: a pause in it may be over.
      if ((await knownSummary(host, runId)).status === "paused") {
        return new Answer({ runId, status: "paused" }, { status: 202 });
      }
    }
  } finally {
    clearTimeout(timer);
    leave();
  }
  const run = await knownSummary(host, runId);
  if (isEnded(run.status)) return new Answer(run);
  return new Answer({ runId, status: run.status }, { status: 202 });
}
