/** From a checked run request to a started run. */
import type { FlowGraph, RunRef, RunRequest, RunSpec, RunTemplate } from "@millrace/contracts";
import type { FlowDocument } from "@millrace/dsl";
import { type Answer, keyedStart } from "../commands/index.ts";
import { notFound } from "../errors.ts";
import { readDsl } from "../flows/read-flow.ts";
import type { CommandCall } from "../ports.ts";
import { readSettings, runDefaults } from "../settings.ts";
import { knownSummary } from "./known-run.ts";
import { callExecutor } from "./problems.ts";

/** Starts the run of a checked request, once for each idempotency key. Throws `not_found` when that run is forgotten. */
export async function startRun(
  call: CommandCall,
  command: "run_flow" | "start_run" | "run_and_wait",
  request: RunRequest,
): Promise<Answer<RunRef>> {
  const { executor } = call.host;
  const answer = await keyedStart(call, command, request, async (rows) => {
    const flow = await findFlow(call, request);
    const spec = toRunSpec(call, flow, request);
    return callExecutor(() => executor.start(spec, rows), flow.document);
  });
  if (Object.hasOwn(answer.headers, "Idempotent-Replayed"))
    knownSummary(call.host, answer.value.runId);
  return answer;
}

function toRunSpec({ app, host, caller }: CommandCall, flow: Flow, request: RunRequest): RunSpec {
  const { graph, template } = flow;
  const { runId, timeoutMs, tags, confirm: wanted } = request.options ?? {};
  const defaults = runDefaults(graph, readSettings(host.store.settings));
  const confirm = wanted ?? defaults.confirm ?? "ask";
  return {
    ...defaults,
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
    return readDsl(request.dsl, app.limits.maxDslBytes, host.registry.catalog());
  }
  const stored = await host.templates?.get(request.template ?? "", request.version);
  if (stored === undefined || stored === null) throw notFound("template");
  const { graph, slug, version } = stored;
  return { graph, template: { slug, version } };
}
