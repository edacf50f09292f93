/** The tools of one node attempt: their description for the model, and their implementation. */

import {
  type AiSourceTool,
  type AiTool,
  type AiToolContext,
  type Effect,
  isNodeExit,
  type Json,
  type JsonObject,
  type JsonSchema,
  NodeError,
} from "@millrace/contracts";
import { whenAborted } from "@millrace/contracts/kit";
import type { CoreContext, DeferredField, Fields, NodeType } from "@millrace/engine";
import {
  checkInputs,
  FailureError,
  schemaProblems,
  toOutput,
  unreadable,
} from "@millrace/engine/pack";
import { invalidField } from "./call.ts";
import type { ToolField } from "./fields.ts";
import { AI } from "./runtime.ts";
import type { Session } from "./session.ts";
import { toolNames } from "./tool-names.ts";

const TIMEOUT_MS = 60_000; // a person waits for the model, which waits for the tool

export interface ToolUse {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** The same for the same call after a restart. */
  readonly key: string;
  /** Number of the call among the flows that this attempt runs. */
  readonly flowIndex: number;
}

export interface Tool {
  readonly ref: string;
  readonly isFlow: boolean;
  readonly shown: AiTool;
  readonly timeoutMs: number;
  /** Arguments that the author has fixed. */
  readonly pinned: JsonObject;
  /** The problem of the arguments; undefined when they are valid. */
  problem(args: JsonObject): string | undefined;
  /** Whether a person is asked first. */
  needsConfirm(args: JsonObject): boolean;
  /** Throws `NodeError` for a failure that the model is told; a flow ends only when all its nodes have. */
  run(args: JsonObject, use: ToolUse): Promise<Json>;
}

/** Implementation of one kind of tool. */
interface Body {
  readonly schema: JsonSchema;
  readonly description: string | undefined;
  readonly asks: boolean;
  readonly run: Tool["run"];
}

/** Resolves the tools of a node. Throws `NodeError` `field_invalid` for one that is not there. */
export async function resolveTools(session: Session): Promise<readonly Tool[]> {
  const { fields } = session;
  const written = fields.tools.map((tool) => (typeof tool === "string" ? { ref: tool } : tool));
  const { names, clashes } = toolNames(written);
  const [clash] = clashes;
  if (clash !== undefined) throw invalidField(`tools[${clash.index}]`, clash.message);
  const lists = new Map<string, Promise<readonly AiSourceTool[]>>();
  const tools: Tool[] = [];
  for (const [at, field] of written.entries()) {
    const body = await bodyOf(session, field, `tools[${at}]`, lists);
    tools.push(toolOf(field, names[at] as string, body, fields["tools.confirm"]?.elements?.[at]));
  }
  return tools;
}

function toolOf(
  field: ToolField,
  name: string,
  body: Body,
  deferred: DeferredField | undefined,
): Tool {
  const pinned = (field.with ?? {}) as JsonObject;
  const inputSchema = withoutPinned(plain(body.schema) as JsonSchema, Object.keys(pinned));
  const isChecked = unreadable(inputSchema).length === 0;
  const description = field.description ?? body.description;
  return {
    ref: field.ref,
    isFlow: field.ref.startsWith("flow:"),
    shown: {
      type: "function",
      name,
      ...(description !== undefined && { description }),
      inputSchema,
    },
    timeoutMs: field.timeoutMs ?? TIMEOUT_MS,
    pinned,
    problem(args) {
      if (!isChecked) return undefined; // the server checks for itself
      const [first] = schemaProblems(inputSchema, args);
      return first && `${first.pointer === "" ? "the arguments" : first.pointer} ${first.message}`;
    },
    needsConfirm(args) {
      if (deferred === undefined) return field.confirm ?? body.asks;
      try {
        return deferred({ args }) !== false;
      } catch {
        return true;
      }
    },
    run: body.run,
  };
}

async function bodyOf(
  session: Session,
  { ref, with: pinned }: ToolField,
  place: string,
  lists: Map<string, Promise<readonly AiSourceTool[]>>,
): Promise<Body> {
  const { ctx } = session;
  const [, kind, rest = ""] = /^(flow|action|mcp):(.+)$/s.exec(ref) ?? [];
  if (kind === "flow") return flowBody(ctx, rest, place);
  if (kind === "action") {
    const type = ctx.tools.actions.get(rest);
    if (type !== undefined) return actionBody(ctx, type, pinned ?? {});
  }
  if (kind === "mcp") return await sourceBody(session, rest, place, lists);
  throw invalidField(place, `there is no tool ${ref}`);
}

function flowBody(ctx: CoreContext, name: string, place: string): Body {
  const flow = ctx.tools.flows.get(name);
  if (flow === undefined) throw invalidField(place, `there is no flow ${name}`);
  const properties = flow.inputs.map(({ name: input, schema, description }) => [
    input,
    { ...schema, ...(description !== undefined && { description }) },
  ]);
  const required = flow.inputs.filter((input) => input.default === undefined);
  return {
    schema: {
      type: "object",
      properties: Object.fromEntries(properties) as JsonObject,
      required: required.map((input) => input.name),
      additionalProperties: false,
    },
    description: flow.title,
    asks: false,
    async run(args, { signal, flowIndex }) {
      const checked = checkInputs(flow.inputs, args);
      const [problem] = checked.problems;
      if (problem !== undefined) throw new NodeError("bad_args", problem.message);
      const call = ctx.callFlow(name, flowIndex, checked.inputs);
      const leave = whenAborted(signal, () => call.stop());
      const end = await call.end;
      leave();
      if (end.status === "succeeded") return end.value;
      if (end.status === "cancelled") throw new NodeError("cancelled", "the flow was stopped");
      const { code, message, retryable } = end.failure.info;
      throw new NodeError(code, message, { retryable });
    },
  };
}

function actionBody(ctx: CoreContext, type: NodeType, pinned: Fields): Body {
  const { entry } = type;
  const effect = effectWith(type, pinned);
  return {
    schema: entry.fields,
    description: entry.summary,
    asks: effect === "write" || effect === "destructive" || isCodeOpen(entry.fields, pinned),
    async run(args, { key, signal, timeoutMs }) {
      const fields: Fields = { ...defaultsOf(entry.fields), ...args };
      const parsed = type.parseFields === undefined ? fields : type.parseFields(fields);
      try {
        const raw = await type.run(parsed, ctx.actionContext(type, { key, signal, timeoutMs }));
        return toOutput(isNodeExit(raw) ? raw.output : raw);
      } catch (error) {
        if (signal.aborted) throw error; // it was stopped, so its error is not a failure of the tool
        throw new FailureError(ctx.thrownBy(type, error));
      }
    },
  };
}

/** Whether the model writes a field that is code, such as a statement of SQL, which a flow has as a constant. */
function isCodeOpen({ properties = {} }: JsonSchema, pinned: Fields): boolean {
  return Object.entries(properties as JsonObject).some(([name, schema]) => {
    const { literal, sink } = Object((schema as JsonObject)["x-millrace"]) as JsonObject;
    return literal === true && sink !== undefined && !Object.hasOwn(pinned, name);
  });
}

/** Effect of an action when these of its fields are fixed and the model chooses the others. */
function effectWith({ entry, effectOf }: NodeType, pinned: Fields): Effect {
  if (effectOf === undefined) return entry.effect;
  const { properties = {} } = entry.fields as { readonly properties?: object };
  const open = Object.keys(properties).map((name) => [name, undefined]);
  return effectOf({ ...Object.fromEntries(open), ...pinned }, () => undefined);
}

async function sourceBody(
  session: Session,
  rest: string,
  place: string,
  lists: Map<string, Promise<readonly AiSourceTool[]>>,
): Promise<Body> {
  const { ctx, budget } = session;
  const slash = rest.indexOf("/");
  const [server, name] = [rest.slice(0, slash), rest.slice(slash + 1)];
  const source = ctx.shared(AI).toolSource(ctx.runId);
  if (source === undefined) throw invalidField(place, "this engine has no tools of servers");
  const listed =
    lists.get(server) ?? source.list(server, contextOf(ctx, budget.signal, TIMEOUT_MS));
  lists.set(server, listed);
  const tools = await session.until(listed);
  const found = tools.find((tool) => tool.name === name);
  if (found === undefined) throw invalidField(place, `the server ${server} has no tool ${name}`);
  return {
    schema: found.inputSchema,
    description: found.description,
    asks: !found.trusted,
    async run(args, { signal, timeoutMs }) {
      const context = contextOf(ctx, signal, timeoutMs);
      return toOutput(await source.call(server, { tool: name, args }, context));
    },
  };
}

function contextOf(ctx: CoreContext, signal: AbortSignal, timeoutMs: number): AiToolContext {
  return {
    runId: ctx.runId,
    signal,
    timeoutMs,
    get fetch() {
      return ctx.fetchWith(signal);
    },
    progress: (done, total) => ctx.progress(done, total),
    warn: (code, text) => ctx.warn(code, text),
  };
}

/** A schema for a model, without the platform's own keywords. */
function plain(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((inner) => plain(inner) ?? null);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([key]) => key !== "x-millrace");
  return Object.fromEntries(entries.map(([key, inner]) => [key, plain(inner)])) as JsonObject;
}

function withoutPinned(schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (names.length === 0) return schema;
  const free = (name: unknown) => !names.includes(name as string);
  const properties = Object.entries((schema["properties"] ?? {}) as JsonObject);
  const required = (schema["required"] ?? []) as readonly Json[];
  return {
    ...schema,
    properties: Object.fromEntries(properties.filter(([name]) => free(name))),
    required: required.filter(free),
  };
}

function defaultsOf(schema: JsonSchema): Fields {
  const properties = Object.entries((schema["properties"] ?? {}) as { [name: string]: JsonSchema });
  const known = properties.filter(([, property]) => property["default"] !== undefined);
  return Object.fromEntries(known.map(([name, property]) => [name, property["default"]]));
}
