/**
 * A run on a server: the flow goes there, the events come back.
 *   R1  Whether the server is there, and is one of ours, is found out before anything is started.
 *   R2  The run outlives the connection: after a cut the events are read on where they were.
 */

import { ClientError } from "@millrace/client";
import { createRunId, type Diagnostic, type FlowGraph, type RunRequest } from "@millrace/contracts";
import { type FlowDocument, locate } from "@millrace/dsl";
import type { Api } from "../api/api.ts";
import { toCliError } from "../api/errors.ts";
import { openApi } from "../api/open.ts";
import { type CommandIo, flagList, flagText, type Input, isOn } from "../argv/spec.ts";
import type { Config } from "../config/load.ts";
import { type CliError, interruptible } from "../errors.ts";
import { invalidFlow, showFindings } from "../output/findings.ts";
import { followApiRun } from "./api-run.ts";
import { openEvents } from "./event-file.ts";
import { askTemplate, isSlug } from "./find-flow.ts";
import { readAnswers, tagsOf, timeoutOf } from "./flags.ts";
import { readInputs } from "./inputs.ts";
import { readableFlow } from "./load-flow.ts";

/** Runs the flow there and returns its exit code. */
export async function runRemote(input: Input, config: Config, io: CommandIo): Promise<number> {
  const answers = readAnswers(flagList(input, "confirm"), false);
  const api = await openApi(input, io, { config, write: true });
  const { flow, request } = await interruptible(io.signal, ask(input, config, api, io));
  if (isOn(input, "detach")) return detach(api, flow, request, io);
  const { runId = "" } = request.options ?? {};
  const tee = await openEvents(flagText(input, "events"), io);
  try {
    const events = (signal: AbortSignal) => api.runFlow(request, { signal });
    const options = { graph: flow.graph, events, answers, tee, survives: true };
    const run = followApiRun(runId, { input, io, api }, options);
    const summary = await showing(flow, io, run);
    return io.out.closed ? 1 : summary.exitCode;
  } finally {
    await tee?.close();
  }
}

/** A flow as far as it is known here. */
interface KnownFlow {
  readonly name: string;
  readonly graph: FlowGraph;
  readonly text: string | undefined;
  readonly document: FlowDocument | undefined;
}

async function ask(input: Input, config: Config, api: Api, io: CommandIo) {
  await api.invoke("get_meta", {});
  const name = input.args[0] as string;
  const flow = await flowOf(name, input, api, io);
  const inputs = await readInputs(
    flow.graph,
    flagList(input, "input"),
    flagText(input, "input-json"),
    io,
  );
  const request: RunRequest = {
    ...flow.words,
    inputs,
    options: {
      runId: createRunId(io.now(), Math.random),
      onDisconnect: "continue",
      ...timeoutOf(input, config),
      ...tagsOf(input),
      ...(isOn(input, "yes") && { confirm: "approve" as const }),
    },
  };
  return { flow, request };
}

async function flowOf(
  name: string,
  input: Input,
  api: Api,
  io: CommandIo,
): Promise<
  KnownFlow & { readonly words: Pick<RunRequest, "graph" | "dsl" | "template" | "version"> }
> {
  if (await isSlug(name, io)) {
    const { slug, version, graph, dsl } = await askTemplate(name, api, io);
    const words = { template: slug, version };
    return { name: slug, graph, text: dsl, document: undefined, words };
  }
  // Which node types there are is the server's to say.
  const { graph, text, document, name: shown } = await readableFlow(name, input, io);
  const words = text === undefined ? { graph } : { dsl: text };
  return { name: shown, graph, text, document, words };
}

/** Leaves the run to the server; its id is the answer. */
async function detach(
  api: Api,
  flow: KnownFlow,
  request: RunRequest,
  io: CommandIo,
): Promise<number> {
  const ref = await showing(flow, io, api.invoke("start_run", request));
  if (io.json === undefined) await io.out.write(`${ref.runId}\n`);
  else {
    await io.json.result(ref);
    const { soleSummary } = await import("../output/ndjson.ts");
    await io.json.events([soleSummary("succeeded", io.now())]);
  }
  return 0;
}

/** Shows findings of the server at their places in the text. */
async function showing<T>(flow: KnownFlow, io: CommandIo, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!ClientError.isInstance(error) || error.code !== "flow_invalid") throw error;
    const end = toCliError(error) as CliError;
    const diagnostics = (end.diagnostics ?? []).map((each) => placed(each, flow.document));
    await showFindings(diagnostics, flow, io);
    throw invalidFlow(diagnostics, end.message);
  }
}

function placed(diagnostic: Diagnostic, document: FlowDocument | undefined): Diagnostic {
  const { pointer } = diagnostic;
  const range = document && pointer !== undefined ? locate(document, pointer) : undefined;
  return range === undefined ? diagnostic : { ...diagnostic, range };
}
