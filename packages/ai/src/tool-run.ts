/**
 * The tool calls of one answer.
 *   T1  every call gets a result, in the order of the calls; a failure is a result, never a failure of the node.
 *   T2  a finished call is kept under its content and never run again by this try.
 *   T3  a call that a person has to allow runs only after the answer; the others do not wait for it.
 */
import {
  type AiPart,
  cutText,
  type ErrorInfo,
  type Json,
  type JsonObject,
  NodeError,
  type ToolFinished,
} from "@millrace/contracts";
import { isObject } from "@millrace/contracts/kit";
import { toFailure } from "@millrace/engine/pack";
import { AiError } from "./failure.ts";
import type { Session } from "./session.ts";
import type { ToolRequest } from "./stream.ts";
import type { Tool } from "./tools.ts";

export interface ToolCallRecord {
  readonly call: string;
  readonly tool: string;
  readonly outcome: "ok" | "error" | "denied";
}

/** How a tool call ended, as it is kept. */
interface Done extends ToolCallRecord {
  readonly text: string;
  readonly error: ErrorInfo | null;
}

/** A call of the model, matched with its tool. */
interface Matched {
  readonly request: ToolRequest;
  readonly tool: Tool | undefined;
  readonly ref: string;
  /** Without what the author has pinned. */
  readonly args: Json;
  readonly problem: { readonly code: "unknown_tool" | "bad_args"; readonly text: string } | null;
  readonly key: string;
  readonly flowIndex: number;
  /** A person is asked before it runs. */
  readonly asks: boolean;
  /** Resolves when the question is asked, or when there is nothing to ask any more. */
  readonly asked: Promise<void>;
  readonly markAsked: () => void;
}

const NONE: ReadonlyMap<string, Tool> = new Map();

export class ToolRunner {
  readonly #session: Session;
  readonly #tools: ReadonlyMap<string, Tool>;
  readonly records: ToolCallRecord[] = [];
  #flows = 0;
  #running = 0;
  #asking = 0;
  readonly #queue: (() => void)[] = [];

  constructor(session: Session, tools: readonly Tool[]) {
    this.#session = session;
    this.#tools = tools.length === 0 ? NONE : new Map(tools.map((tool) => [tool.shown.name, tool]));
  }

  /** Runs the calls of one answer and gives the parts of the message that tells the model. */
  async run(requests: readonly ToolRequest[], llmCall: string): Promise<readonly AiPart[]> {
    const { ctx } = this.#session;
    const matched = requests.map((request) => this.#match(request));
    const asking = matched.filter(({ asks }) => asks);
    // The node does not wait for the first answer before the last question is asked.
    if (asking.length > 0) void ctx.working(() => Promise.all(asking.map((one) => one.asked)));
    const settled = await Promise.allSettled(
      matched.map((one) =>
        one.asks ? this.#one(one, llmCall) : ctx.working(() => this.#one(one, llmCall)),
      ),
    );
    // A node that is to stop waits for what is at work, as long as the engine lets it.
    const done = settled.map((one) => {
      if (one.status === "rejected") throw one.reason;
      return one.value;
    });
    for (const { call, tool, outcome } of done) this.records.push({ call, tool, outcome });
    return done.map((one, at) => partOf((matched[at] as Matched).request, one));
  }

  #match(request: ToolRequest): Matched {
    const { toolName, input } = request;
    const tool = this.#tools.get(toolName);
    const ref = tool?.ref ?? (cutText(toolName, MAX_NAME_UNITS).text || "unnamed");
    const read = readArgs(input);
    const free = Object.entries(read ?? {}).filter(
      ([name]) => tool === undefined || !Object.hasOwn(tool.pinned, name),
    );
    const args: Json = read === null ? input : (Object.fromEntries(free) as JsonObject);
    const problem = this.#problem(ref, tool, read === null ? null : (args as JsonObject));
    const asks =
      tool !== undefined && problem === null && tool.needsConfirm(argsOf({ args }, tool));
    let markAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      markAsked = resolve;
    });
    const key = this.#session.keys.tool(ref, args);
    const flowIndex = tool?.isFlow === true ? this.#flows++ : 0;
    return { request, tool, ref, args, problem, key, flowIndex, asks, asked, markAsked };
  }

  /** Why a call cannot be made; `args` null: they are no object. */
  #problem(ref: string, tool: Tool | undefined, args: JsonObject | null): Matched["problem"] {
    if (tool === undefined) {
      const text = `there is no tool ${ref}; there are: ${[...this.#tools.keys()].join(", ")}`;
      return { code: "unknown_tool", text };
    }
    const text = args === null ? "the arguments are no JSON object" : tool.problem(args);
    return text === undefined ? null : { code: "bad_args", text };
  }

  async #one(matched: Matched, llmCall: string): Promise<Done> {
    const { ctx, audit, stepOptions } = this.#session;
    let isNew = false;
    const kept = ctx.step(
      matched.key,
      async () => {
        isNew = true;
        return (await this.#make(matched, llmCall)) as unknown as Json;
      },
      stepOptions,
    );
    const done = (await kept.finally(matched.markAsked)) as unknown as Done;
    if (!isNew) return done;
    const { call, outcome, error, text } = done;
    const shown: Pick<ToolFinished, "result" | "resultRef" | "resultDigest"> =
      outcome === "denied" ? {} : audit.result(text);
    ctx.emit({
      kind: "tool.finished",
      call,
      outcome,
      ...shown,
      ...(error !== null && { error: this.#told(done.tool, error) }),
    });
    return done;
  }

  /** The error text of a server is content: only the audit level that keeps all content keeps it. */
  #told(tool: string, error: ErrorInfo): ErrorInfo {
    const isServers = tool.startsWith("mcp:") && !OWN_CODES.has(error.code);
    if (!isServers || this.#session.audit.level === "full") return error;
    return { ...error, message: "the server's tool failed" };
  }

  async #make(matched: Matched, llmCall: string): Promise<Done> {
    const { ctx } = this.#session;
    const { tool, problem } = matched;
    if (tool === undefined || problem !== null) {
      const call = ctx.newCall("t");
      this.#begin(matched, call, llmCall);
      return failed(matched, call, problem?.code ?? "unknown_tool", problem?.text ?? "");
    }
    const args = argsOf(matched, tool);
    if (!matched.asks) return await this.#inTurn(matched, tool, { args, llmCall });
    const call = (await ctx.step(`id:${matched.key}`, () => ctx.newCall("t"))) as string;
    const denied = await this.#ask(matched, call, args);
    if (denied === null) {
      return await ctx.working(() => this.#inTurn(matched, tool, { args, llmCall, call }));
    }
    this.#begin(matched, call, llmCall);
    return denied;
  }

  /** Asks a person; null: the call is allowed. */
  async #ask(
    { ref, key, markAsked }: Matched,
    call: string,
    args: JsonObject,
  ): Promise<Done | null> {
    const session = this.#session;
    const { ctx, audit } = session;
    this.#asking += 1;
    this.#clock();
    try {
      const asked = ctx.confirm(`ask:${key}`, {
        prompt: `Allow ${ref}?`,
        tool: { call, name: ref, args: audit.confirmArgs(args) },
      });
      markAsked();
      const answer = await session.until(asked);
      if (answer.outcome === "approved") return null;
      const isRejected = answer.outcome === "rejected";
      const comment = isRejected && answer.comment !== null ? ` ${answer.comment}` : "";
      const text = isRejected ? `Denied by a person.${comment}` : "No decision was made in time.";
      const code = isRejected ? "confirm_rejected" : "confirm_expired";
      const message = isRejected ? "a person said no" : "nobody answered in time";
      return { call, tool: ref, outcome: "denied", text, error: info(code, message) };
    } finally {
      this.#asking -= 1;
      this.#clock();
    }
  }

  /** Runs a tool as soon as fewer than `parallelTools` are at work. */
  async #inTurn(
    matched: Matched,
    tool: Tool,
    how: { readonly args: JsonObject; readonly llmCall: string; readonly call?: string },
  ): Promise<Done> {
    const session = this.#session;
    const { ctx, fields } = session;
    if (this.#running >= fields.parallelTools) {
      await new Promise<void>((go) => this.#queue.push(go));
    } else this.#running += 1;
    try {
      this.#clock();
      session.check();
      const call = how.call ?? ctx.newCall("t");
      this.#begin(matched, call, how.llmCall);
      return await this.#execute(matched, tool, { ...how, call });
    } finally {
      const next = this.#queue.shift();
      if (next === undefined) this.#running -= 1;
      else next(); // the place goes on to it
      this.#clock();
    }
  }

  async #execute(
    matched: Matched,
    tool: Tool,
    { args, call }: { readonly args: JsonObject; readonly call: string },
  ): Promise<Done> {
    const session = this.#session;
    const { ctx, fields } = session;
    try {
      const value = await this.#limited(matched, tool, args);
      const { text, isCut } = resultText(value, fields.maxToolBytes);
      if (isCut) {
        ctx.warn("ai_tool_result_cut", `the result of ${tool.ref} is longer than maxToolBytes`);
      }
      return { call, tool: tool.ref, outcome: "ok", text, error: null };
    } catch (error) {
      session.check();
      const { code, message } = toFailure(error).info;
      return failed(matched, call, code, message);
    }
  }

  /** Runs a tool with its time. A stopped node waits for it, as long as the engine gives it; a flow is always waited for. */
  async #limited(matched: Matched, tool: Tool, args: JsonObject): Promise<Json> {
    const { ctx, budget } = this.#session;
    const { timeoutMs, isFlow } = tool;
    const controller = new AbortController();
    let isLate = false;
    let giveUp: (error: unknown) => void = () => undefined;
    const tooLong = new Promise<never>((_resolve, reject) => {
      giveUp = reject;
    });
    tooLong.catch(() => undefined); // told to whoever waits, if anybody does
    const stop = (): void => {
      controller.abort();
      const failure = budget.failure();
      if (failure.reason === "deadline" && !isFlow) giveUp(new AiError(failure));
    };
    budget.onEnd(stop);
    const stopTimer = ctx.after(timeoutMs, () => {
      isLate = true;
      controller.abort();
      if (!isFlow) giveUp(null);
    });
    try {
      const { key, flowIndex } = matched;
      const use = { signal: controller.signal, timeoutMs, key: `${ctx.runId}/${key}`, flowIndex };
      const work = (async () => tool.run(args, use))();
      const value = await Promise.race([work, tooLong]);
      if (isLate) throw late(timeoutMs);
      return value;
    } catch (error) {
      throw isLate ? late(timeoutMs) : error;
    } finally {
      stopTimer();
      budget.offEnd(stop);
    }
  }

  #begin({ ref, args }: Matched, call: string, llmCall: string): void {
    const { ctx, audit } = this.#session;
    ctx.emit({ kind: "tool.started", call, tool: ref, llmCall, ...audit.args(args) });
  }

  /** The time of the node stands still while people are all that it waits for. */
  #clock(): void {
    const { budget } = this.#session;
    if (this.#asking > 0 && this.#running === 0) budget.hold();
    else budget.go();
  }
}

const MAX_NAME_UNITS = 64;

/** Failures that are found here. */
const OWN_CODES: ReadonlySet<string> = new Set([
  "bad_args",
  "unknown_tool",
  "timeout",
  "confirm_rejected",
  "confirm_expired",
]);

function argsOf({ args }: { readonly args: Json }, { pinned }: Tool): JsonObject {
  return { ...(args as JsonObject), ...pinned };
}

/** The arguments as an object; null: they are none. */
function readArgs(input: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(input.trim() === "" ? "{}" : input);
    return isObject(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}

function failed({ ref }: Matched, call: string, code: string, message: string): Done {
  const text = `Tool failed: ${code}: ${message}`;
  return { call, tool: ref, outcome: "error", text, error: info(code, message) };
}

function info(code: string, message: string): ErrorInfo {
  return { code, message, retryable: false };
}

function late(ms: number): NodeError {
  return new NodeError("timeout", `no end within ${ms} ms`, { reason: "timeout" });
}

function partOf({ toolCallId, toolName }: ToolRequest, { outcome, text }: Done): AiPart {
  const output =
    outcome === "denied"
      ? { type: "execution-denied", reason: text }
      : { type: outcome === "ok" ? "text" : "error-text", value: text };
  return { type: "tool-result", toolCallId, toolName, output };
}

const utf8 = new TextEncoder();
const fromUtf8 = new TextDecoder();

/** A string as it is, anything else as JSON text, cut to `maxBytes` of UTF-8 on the border of a character. */
function resultText(value: Json, maxBytes: number): { text: string; isCut: boolean } {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  if (text.length * 3 <= maxBytes) return { text, isCut: false };
  const bytes = utf8.encode(text);
  if (bytes.length <= maxBytes) return { text, isCut: false };
  let end = maxBytes;
  while (end > 0 && ((bytes[end] as number) & 0xc0) === 0x80) end -= 1;
  const kept = fromUtf8.decode(bytes.subarray(0, end));
  return { text: `${kept}[cut: ${bytes.length - end} bytes]`, isCut: true };
}
