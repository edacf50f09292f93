/** What the commands and streams of runs share: from a request to a started run, and from refusals to problems. */
import type {
  Diagnostic,
  FlowGraph,
  Problem,
  Run,
  RunRef,
  RunRequest,
  RunSpec,
  RunTemplate,
} from "@millrace/contracts";
import { type FlowDocument, locate, parseFlow } from "@millrace/dsl";
import type { CommandCall } from "./command.ts";
import { ProblemError } from "./errors.ts";
import { ExecutorError } from "./executor/errors.ts";
import type { ServerHost } from "./host.ts";
import type { KeyedResult } from "./idempotency.ts";

/** Seconds after which a refused run may be tried again. */
const RETRY_AFTER_BUSY_S = 5;

/** Starts the run of a checked request, once for each idempotency key. Throws `not_found` when that run is forgotten. */
export async function startRun(
  call: CommandCall,
  command: "run_flow" | "start_run" | "run_and_wait",
  request: RunRequest,
): Promise<KeyedResult<RunRef>> {
  const { app, caller, host, key } = call;
  const started = await app.keys.run(
    { tokenId: caller.tokenId, command, key, args: request, joins: true },
    async () => {
      const flow = await findFlow(call, request);
      return callExecutor(() => host.executor.start(toRunSpec(flow, request)), flow.document);
    },
  );
  if (started.replayed) await knownRun(host, started.value.runId);
  return started;
}

function toRunSpec(flow: Flow, request: RunRequest): RunSpec {
  const { options = {} } = request;
  return {
    graph: flow.graph,
    inputs: request.inputs ?? {},
    trigger: "api",
    ...(options.runId === undefined ? {} : { runId: options.runId }),
    ...(flow.template === undefined ? {} : { template: flow.template }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.confirm === undefined || options.confirm === "ask"
      ? {}
      : { confirm: options.confirm }),
    ...(options.tags === undefined ? {} : { tags: options.tags }),
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
  if (request.dsl !== undefined) return readDsl(request.dsl, app.limits.maxDslBytes);
  const stored = await host.templates?.get(request.template ?? "", request.version);
  if (stored === undefined || stored === null) {
    throw new ProblemError("not_found", { members: { resource: "template" } });
  }
  const { graph, slug, version } = stored;
  return { graph, template: { slug, version } };
}

/** Reads a text. Throws `flow_invalid` with what is wrong, line by line. */
export function readDsl(
  text: string,
  maxBytes: number,
): { readonly graph: FlowGraph; readonly document: FlowDocument } {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) {
    throw new ProblemError("flow_invalid", {
      errors: [
        {
          pointer: "/dsl",
          code: "limit_exceeded",
          message: `the text has ${bytes} bytes; the limit is ${maxBytes}`,
        },
      ],
    });
  }
  const { graph, document, diagnostics, ok } = parseFlow(text);
  if (!ok) throw flowInvalid(diagnostics);
  return { graph, document };
}

const ENDED: ReadonlySet<string> = new Set(["succeeded", "failed", "cancelled"]);

/** Whether nothing follows this state. */
export function isEnded(state: string): boolean {
  return ENDED.has(state);
}

/** A run that exists. Throws `not_found`. */
export async function knownRun(host: ServerHost, runId: string): Promise<Run> {
  const run = await host.executor.get(runId);
  if (run === null) throw new ProblemError("not_found", { members: { resource: "run" } });
  return run;
}

/** Calls the executor; its refusals become problems. */
export async function callExecutor<T>(call: () => Promise<T>, document?: FlowDocument): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw ExecutorError.isInstance(error) ? toProblem(error, document) : error;
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
      return new ProblemError("not_found", { members: { resource: "run" } });
    case "state_conflict":
      return new ProblemError("state_conflict", { members: { state: error.state } });
    case "too_many_runs":
    case "executor_unavailable":
      return new ProblemError(error.code, { headers: { "Retry-After": `${RETRY_AFTER_BUSY_S}` } });
  }
}

/** The refusal of a flow; with its text, each problem has a line. */
export function flowInvalid(
  diagnostics: readonly Diagnostic[],
  document?: FlowDocument,
): ProblemError {
  return new ProblemError("flow_invalid", { errors: toProblems(diagnostics, document) });
}

/** Errors alone: warnings do not keep a flow from running. */
function toProblems(
  diagnostics: readonly Diagnostic[],
  document?: FlowDocument,
): readonly Problem[] {
  return diagnostics
    .filter(({ severity }) => severity === "error")
    .map(({ code, message, pointer = "", range }) => {
      const place = range ?? (document === undefined ? undefined : locate(document, pointer));
      return {
        pointer,
        code,
        message,
        ...(place === undefined ? {} : { line: place.start.line, column: place.start.column }),
      };
    });
}
