/**
 * A call of a tool as a run, over as many rounds as its questions take.
 *   C1  The run is started as any other; a call that is cancelled cancels it.
 *   C2  A question goes to the person at the client as a form, made of the schema of the answer. Where the client has none, the
 *       run stays paused, and the answer says how to go on.
 *   C3  What comes back with an answer is a run id: it gives no right that the caller does not have without it.
 */
import { ClientError, type RunClient } from "@millrace/client";
import {
  type Confirmation,
  createRunId,
  type ExecutionEvent,
  type Json,
  type JsonObject,
  type Kind,
  type RunRequest,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import {
  type CallToolResult,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { wholeOutputs } from "../runs/run-end.ts";
import type { FlowTools } from "./flow-tools.ts";
import { ended, failure } from "./results.ts";

/** Who calls, and what the client can do. */
export interface ToolCall {
  readonly client: RunClient;
  readonly ctx: ServerContext;
  readonly flows: FlowTools;
  /** The client shows forms. */
  readonly asks: boolean;
}

/** State that the client keeps between two rounds. */
interface Round {
  readonly runId: string;
  /** Position of the pause. */
  readonly after: number;
}

type Outcome = CallToolResult | InputRequiredResult;

/** Events besides `run.started` and `summary`, with and without progress. */
const KINDS: readonly Kind[] = ["run.paused"];
const PROGRESS_KINDS: readonly Kind[] = [
  ...["run.paused", "node.started", "node.succeeded"],
  ...["node.failed", "node.skipped", "node.progress"],
] as Kind[];

/** Runs a flow, or goes on with the run that the client has answers for. */
export async function callFlow(request: RunRequest, call: ToolCall): Promise<Outcome> {
  const { client, ctx } = call;
  const { signal, _meta, requestState } = ctx.mcpReq;
  const round = readRound(requestState());
  const kinds = _meta?.progressToken === undefined ? KINDS : PROGRESS_KINDS;
  const runId = round?.runId ?? createRunId(Date.now(), Math.random);
  try {
    if (round !== undefined) {
      await checkRun(client, runId, request);
      const unanswered = await giveAnswers(call, runId);
      if (unanswered !== undefined) return unanswered;
    }
    const events =
      round === undefined
        ? client.runFlow(
            { ...request, options: { runId, onDisconnect: "continue", events: [...kinds] } },
            { signal },
          )
        : client.runEvents(runId, { after: round.after, kinds, signal });
    return await follow(events, runId, call);
  } catch (error) {
    if (!signal.aborted) throw error;
    const reason = "the client cancelled its call";
    // It may have ended, or never begun.
    await client.invoke("cancel_run", { runId, reason }).catch(() => undefined);
    return failure({ code: "cancelled", message: "the call was cancelled", runId });
  }
}

async function follow(
  events: AsyncIterable<ExecutionEvent>,
  runId: string,
  call: ToolCall,
): Promise<Outcome> {
  const progress = progressOf(call.ctx);
  for await (const event of events) {
    if (event.kind === "summary") return ended(event, await outputsOf(event, call.client));
    if (event.kind === "run.paused" && event.reason === "confirmation") {
      const open = await openQuestions(call.client, runId);
      if (open.length > 0) return ask(open, { runId, after: event.seq }, call);
    }
    await progress(event);
  }
  // The log ended before the run: this process stops, or another one has the run now.
  return failure({
    code: "unavailable",
    message: "the run goes on, and can be followed from here no more",
    runId,
    hint: `read millrace://runs/${runId}`,
  });
}

/** Tells of nodes, one notification a node; nothing where the client has not asked for it. */
function progressOf({ mcpReq }: ServerContext): (event: ExecutionEvent) => Promise<void> {
  const progressToken = mcpReq._meta?.progressToken;
  let total: number | undefined;
  let progress = 0;
  return async (event) => {
    if (progressToken === undefined) return;
    if (event.kind === "run.started") total = event.nodeCount;
    if (!event.kind.startsWith("node.")) return;
    const { node = "", kind } = event as { readonly node?: string; readonly kind: string };
    const isTop = !/[/[]/.test(node);
    const isOver = kind !== "node.started" && kind !== "node.progress";
    if (isTop && isOver) progress += 1;
    const message = `${node} ${kind.slice("node.".length)}`;
    const params = { progressToken, progress, message, ...(total !== undefined && { total }) };
    await mcpReq.notify({ method: "notifications/progress", params });
  };
}

/** The outputs; those that were too large for the event are read. */
function outputsOf(
  summary: Extract<ExecutionEvent, { kind: "summary" }>,
  client: RunClient,
): Promise<JsonObject> {
  return wholeOutputs(summary, async (digest) => {
    const { base64 } = await client.invoke("get_run_blob", { runId: summary.runId, digest });
    return JSON.parse(Buffer.from(base64, "base64").toString("utf8")) as Json;
  });
}

async function openQuestions(client: RunClient, runId: string): Promise<readonly Confirmation[]> {
  return (await client.invoke("list_confirmations", { runId, limit: 50 })).items;
}

/** Asks the person at the client, or names another way to answer where there is none. */
function ask(open: readonly Confirmation[], round: Round, { asks }: ToolCall): Outcome {
  if (!asks || !open.every(({ schema }) => canAsk(formOf(schema).schema))) {
    return parked(open, round.runId);
  }
  return inputRequired({
    requestState: JSON.stringify(round),
    inputRequests: Object.fromEntries(
      open.map(({ id, prompt, schema, tool }) => {
        const about =
          tool === undefined ? "" : `\nTool ${tool.name}: ${JSON.stringify(tool.args ?? {})}`;
        const message = `${prompt}${about}\nAccept to approve, decline to reject.`;
        const requestedSchema = formOf(schema).schema as never;
        return [id, inputRequired.elicit({ message, requestedSchema })];
      }),
    ),
  });
}

function parked(open: readonly Confirmation[], runId: string): CallToolResult {
  return failure({
    code: "confirmation_required",
    message: "the run waits for a person, whom this client cannot ask",
    problems: open.map(({ node, prompt }) => `${node}: ${prompt}`),
    runId,
    hint: `a person answers on the page, or with: millrace confirm ${runId} --approve (or --reject); then call get_run with this run`,
  });
}

/** A form of flat fields for an answer, and how its content becomes the value. */
function formOf(schema: JsonObject): {
  readonly schema: JsonObject;
  readonly valueOf: (content: JsonObject) => Json | undefined;
} {
  const { properties, required = [] } = schema;
  if (Object.keys(schema).length === 0) {
    return { schema: { type: "object", properties: {} }, valueOf: () => undefined };
  }
  if (
    schema["type"] === "object" &&
    isObject(properties) &&
    Object.values(properties).every(isFlat)
  ) {
    return {
      schema: { type: "object", properties, required } as JsonObject,
      valueOf: (all) => all,
    };
  }
  if (isFlat(schema)) {
    const form = { type: "object", properties: { value: schema }, required: ["value"] };
    return { schema: form as JsonObject, valueOf: ({ value }) => value };
  }
  const description = `JSON of this schema: ${JSON.stringify(schema)}`;
  const form = {
    type: "object",
    properties: { value: { type: "string", title: "Value as JSON", description } },
    required: ["value"],
  };
  return { schema: form as JsonObject, valueOf: ({ value }) => JSON.parse(String(value)) as Json };
}

/** A field that a form can have. */
function isFlat(schema: unknown): boolean {
  return (
    isObject(schema) && ["string", "number", "integer", "boolean"].includes(String(schema["type"]))
  );
}

/** Formats that clients accept; with another one they refuse the call. */
const FORMATS: readonly unknown[] = [undefined, "email", "uri", "date", "date-time"];

/** Whether a form can be sent: every format is known, and nothing in it is secret. */
function canAsk({ properties = {} }: JsonObject): boolean {
  return Object.values(properties as JsonObject).every(
    (field) => isObject(field) && FORMATS.includes(field["format"]) && field["writeOnly"] !== true,
  );
}

/** Gives the answers of the client to the run. The answer of the tool where one is missing or does not fit; else the run goes on. */
async function giveAnswers(call: ToolCall, runId: string): Promise<Outcome | undefined> {
  const { client, ctx } = call;
  const again: Confirmation[] = [];
  const left: Confirmation[] = [];
  const open = await openQuestions(client, runId);
  for (const question of open) {
    const given = inputResponse(ctx.mcpReq.inputResponses, question.id);
    if (given.kind !== "elicit" || given.action === "cancel") {
      left.push(question);
      continue;
    }
    const base = { runId, confirmationId: question.id };
    try {
      if (given.action === "decline") {
        await client.invoke("resolve_confirmation", { ...base, decision: "reject" });
        continue;
      }
      const value = formOf(question.schema).valueOf((given.content ?? {}) as JsonObject);
      await client.invoke("resolve_confirmation", {
        ...base,
        decision: "approve",
        ...(value !== undefined && { value }),
      });
    } catch (error) {
      const problem = problemOf(error);
      if (problem !== undefined)
        again.push({ ...question, prompt: `${problem}\n${question.prompt}` });
    }
  }
  if (left.length > 0) return parked([...left, ...again], runId);
  if (again.length === 0) return undefined;
  const after = readRound(ctx.mcpReq.requestState())?.after ?? 0;
  return ask(again, { runId, after }, call);
}

/** The person's mistake; undefined: somebody else answered first. Throws anything else. */
function problemOf(error: unknown): string | undefined {
  if (error instanceof SyntaxError) return "The value is not JSON.";
  if (!ClientError.isInstance(error)) throw error;
  if (error.code === "value_invalid") return `The answer does not fit: ${error.message}`;
  if (error.code === "already_resolved" || error.code === "confirmation_expired") return undefined;
  throw error;
}

/** Throws for a run that is not of the tool that was called. */
async function checkRun(client: RunClient, runId: string, { template }: RunRequest): Promise<void> {
  const run = await client.invoke("get_run", { runId });
  if (run.template?.slug !== template) throw invalidState();
}

function readRound(state: unknown): Round | undefined {
  if (state === undefined) return undefined;
  try {
    const { runId, after } = JSON.parse(String(state)) as Round;
    if (typeof runId === "string" && Number.isInteger(after) && after >= 0) return { runId, after };
  } catch {
    // Falls through: what is no JSON was not made here.
  }
  throw invalidState();
}

function invalidState(): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, "Invalid or expired requestState");
}
