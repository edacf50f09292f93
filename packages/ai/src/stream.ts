/**
 * One answer of a model, part by part.
 *   R1  the result is there at once, however the stream ends: it does not wait for a provider that was told to stop.
 *   R2  parts that come after the end are dropped; parts and frames of an unknown kind are ignored.
 *   R3  only a `finish` part ends an answer well.
 */
import {
  type AiCall,
  type AiModel,
  type AiPart,
  type DeltaChannel,
  EVENT_LIMITS,
  type Usage,
} from "@millrace/contracts";
import { type AiFailure, failureOfError, isUnknownFrame } from "./failure.ts";
import type { Session } from "./session.ts";
import {
  type Block,
  bytesOf,
  type Finish,
  finished,
  hasRawReason,
  keyOf,
  parsedInput,
  readFinish,
  textOf,
} from "./stream-parts.ts";
import { readUsage } from "./usage.ts";

/** A call of a tool as the model wrote it. */
export interface ToolRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON text, which may be broken. */
  readonly input: string;
}

/** Result of a stream. With `failure` only its usage counts. */
export interface StreamEnd {
  readonly failure: AiFailure | null;
  readonly text: string;
  /** The assistant's message: reasoning, text and tool calls in their order. */
  readonly parts: readonly AiPart[];
  readonly tools: readonly ToolRequest[];
  readonly finish: Finish;
  readonly usage: Usage | undefined;
  readonly warnings: readonly unknown[];
}

export interface StreamOptions {
  /** Gives the limits; the end of its budget ends the call. */
  readonly session: Session;
  readonly call: string;
  /** Where text goes. */
  readonly channel: DeltaChannel;
}

/** Calls the model and reads its answer. Never rejects. `call` gets the signal of the call. */
export function readStream(
  model: AiModel,
  call: AiCall,
  options: StreamOptions,
): Promise<StreamEnd> {
  return new Promise((resolve) => new Reading(options, resolve).start(model, call));
}

class Reading {
  readonly #session: Session;
  readonly #call: string;
  readonly #channel: DeltaChannel;
  readonly #resolve: (end: StreamEnd) => void;
  readonly #controller = new AbortController();
  #reader: { cancel(reason?: unknown): Promise<void> } | null = null;
  #over = false;
  #stopTimer: () => void = ignore;
  #lastAt = 0;
  #hasContent = false;
  #bytes = 0;
  /** Text in the order in which it came, where that is not the order of its blocks; null: it is. */
  #mixedText: string | null = null;
  /** Made with the first: a list that begins empty takes room for sixteen more with it. */
  #parts: (Block | AiPart)[] | null = null;
  /** The block that grows, and others that have begun and not ended: most often there are none. */
  #current: Block | null = null;
  #others: Map<string, Block> | null = null;
  readonly #tools: ToolRequest[] = [];
  /** Tool calls whose arguments come in pieces; made with the first. */
  #streamed: Set<string> | null = null;
  #warnings: readonly unknown[] = NO_WARNINGS;
  #usage: Usage | undefined;
  /** Whether a frame of an unknown kind came. */
  #passedOver = false;

  constructor({ session, call, channel }: StreamOptions, resolve: (end: StreamEnd) => void) {
    this.#session = session;
    this.#call = call;
    this.#channel = channel;
    this.#resolve = resolve;
  }

  start(model: AiModel, call: AiCall): void {
    const { budget, ctx, fields } = this.#session;
    const { firstTokenMs } = fields;
    if (budget.isOver) {
      this.#end(budget.failure(), "other");
      return;
    }
    budget.onEnd(this.#isOver);
    this.#stopTimer = ctx.after(firstTokenMs, () =>
      this.#cut(late("the first token", firstTokenMs)),
    );
    void this.#read(model, { ...call, abortSignal: this.#controller.signal });
  }

  readonly #isOver = (): void => this.#cut(this.#session.budget.failure());

  /** Never rejects. */
  async #read(model: AiModel, call: AiCall): Promise<void> {
    try {
      const { stream } = await model.doStream(call);
      const reader = stream.getReader();
      this.#reader = reader;
      if (this.#over) {
        void reader.cancel().catch(ignore);
        return;
      }
      for (;;) {
        const { done, value } = await reader.read();
        if (this.#over) return;
        if (done) {
          this.#broken({
            reason: "server",
            text: "the answer ended without saying that it is whole",
          });
          return;
        }
        if (typeof value !== "object" || value === null) continue;
        const slow = this.#take(value);
        if (slow !== null) await slow;
        if (this.#over) return;
      }
    } catch (error) {
      this.#broken(failureOfError(error));
    }
  }

  /** Takes a part; a promise where that takes more than one turn. */
  #take(part: AiPart): Promise<void> | null {
    switch (part.type) {
      case "text-delta":
        return this.#delta(part, "text");
      case "reasoning-delta":
        return this.#delta(part, "reasoning");
      case "text-start":
      case "reasoning-start":
      case "text-end":
      case "reasoning-end":
        this.#mark(part);
        return null;
      case "tool-input-start":
        if (this.#content(textOf(part["toolName"]))) this.#pieces().add(textOf(part["id"]));
        return null;
      case "tool-input-delta":
        this.#content(textOf(part["delta"]));
        return null;
      case "tool-call":
        this.#tool(part);
        return null;
      case "stream-start":
        this.#warnings = Array.isArray(part["warnings"]) ? part["warnings"] : [];
        return null;
      case "finish":
        this.#finish(part);
        return null;
      case "error":
        if (isUnknownFrame(part["error"])) this.#passedOver = true;
        else this.#broken(failureOfError(part["error"]));
        return null;
      default:
        return null;
    }
  }

  #delta(part: AiPart, type: "text" | "reasoning"): Promise<void> | null {
    const delta = textOf(part["delta"]);
    if (!this.#content(delta)) return null;
    const block = this.#block(part, type);
    block.text += delta;
    if (this.#mixedText !== null && type === "text") this.#mixedText += delta;
    return this.#say(type === "text" ? this.#channel : "reasoning", delta);
  }

  /** Counts content; false when it was too much, which ends the call. */
  #content(text: string): boolean {
    const { ctx, fields } = this.#session;
    const { maxOutputBytes, idleMs } = fields;
    this.#lastAt = ctx.now();
    if (!this.#hasContent) {
      this.#hasContent = true;
      this.#stopTimer();
      this.#watch(idleMs);
    }
    this.#bytes += bytesOf(text);
    if (this.#bytes <= maxOutputBytes) return true;
    this.#cut({ reason: "max_output", text: `the answer has more than ${maxOutputBytes} bytes` });
    return false;
  }

  /** Ends the call when nothing came for `idleMs`. One timer looks again, so that a delta costs none. */
  #watch(inMs: number): void {
    const { ctx, fields } = this.#session;
    const { idleMs } = fields;
    this.#stopTimer = ctx.after(inMs, () => {
      const left = this.#lastAt + idleMs - ctx.now();
      if (left > 0) this.#watch(left);
      else this.#cut({ reason: "stream_cut", text: `nothing came for ${idleMs} ms` });
    });
  }

  #say(channel: DeltaChannel, text: string): Promise<void> | null {
    if (text.length <= EVENT_LIMITS.deltaText) {
      if (text !== "") this.#emit(channel, text);
      return null;
    }
    return this.#sayLong(channel, text);
  }

  /** A very long part leaves in slices, with a turn of the event loop between. */
  async #sayLong(channel: DeltaChannel, text: string): Promise<void> {
    for (let at = 0; at < text.length && !this.#over; at += EVENT_LIMITS.deltaText) {
      this.#emit(channel, text.slice(at, at + EVENT_LIMITS.deltaText));
      await this.#session.ctx.turn();
    }
  }

  #emit(channel: DeltaChannel, text: string): void {
    this.#session.ctx.emit({ kind: "llm.delta", call: this.#call, channel, text });
  }

  #pieces(): Set<string> {
    this.#streamed ??= new Set();
    return this.#streamed;
  }

  #block(part: AiPart, type: "text" | "reasoning"): Block {
    const id = textOf(part["id"]);
    let block = this.#current;
    if (block === null || block.id !== id || block.type !== type) {
      block = this.#other(type, id);
      this.#current = block;
    }
    const marks = part["providerMetadata"];
    if (marks !== undefined && marks !== null) block.providerOptions = marks;
    return block;
  }

  /** The block that was left for the current one, or a new one. */
  #other(type: Block["type"], id: string): Block {
    if (this.#current !== null) {
      this.#others ??= new Map();
      this.#others.set(keyOf(this.#current), this.#current);
    }
    const key = keyOf({ type, id });
    const left = this.#others?.get(key);
    if (left !== undefined) {
      if (type === "text") this.#mixedText ??= this.#textSoFar();
      this.#others?.delete(key);
      return left;
    }
    const block = { type, id, text: "", providerOptions: undefined };
    this.#add(block);
    return block;
  }

  #textSoFar(): string {
    if (this.#mixedText !== null) return this.#mixedText;
    const blocks = this.#parts?.filter(({ type }) => type === "text") ?? [];
    return blocks.map(({ text }) => text).join("");
  }

  #add(part: Block | AiPart): void {
    if (this.#parts === null) this.#parts = [part];
    else this.#parts.push(part);
  }

  #mark(part: AiPart): void {
    const type = part.type.startsWith("text") ? "text" : "reasoning";
    this.#block(part, type);
    if (part.type.endsWith("-end")) this.#current = null; // ids may come again
  }

  #tool(part: AiPart): void {
    if (part["providerExecuted"] === true) {
      this.#session.ctx.log("info", `the provider runs its own tool ${textOf(part["toolName"])}`);
      return;
    }
    const { input } = part;
    const request = {
      toolCallId: textOf(part["toolCallId"]),
      toolName: textOf(part["toolName"]),
      input: typeof input === "string" ? input : (JSON.stringify(input) ?? ""),
    };
    // Arguments that came in pieces are counted already; calls without any are not for nothing either.
    const isCounted = this.#streamed?.delete(request.toolCallId) === true;
    if (!this.#content(isCounted ? "" : request.toolName + request.input)) return;
    this.#tools.push(request);
    const { providerMetadata: providerOptions } = part;
    this.#add({
      type: "tool-call",
      toolCallId: request.toolCallId,
      toolName: request.toolName,
      input: parsedInput(request.input),
      ...(providerOptions !== undefined && { providerOptions }),
    });
  }

  #finish(part: AiPart): void {
    this.#usage = readUsage(part["usage"]);
    const finish = readFinish(part["finishReason"]);
    // A package that met an unknown frame after the last one with a reason has forgotten that reason.
    const isForgotten =
      finish === "error" && this.#passedOver && !hasRawReason(part["finishReason"]);
    if (isForgotten) this.#end(null, this.#tools.length > 0 ? "tool_calls" : "other");
    else if (finish === "error") {
      this.#broken({ reason: "server", text: "the provider ended the answer with an error" });
    } else if (finish === "content_filter" && this.#textSoFar() === "") {
      this.#cut({ reason: "content_filter", text: "the provider refused the content" });
    } else this.#end(null, finish === "stop" && this.#tools.length > 0 ? "tool_calls" : finish);
  }

  /** A failure after content is a cut stream, whatever reason the provider gives. */
  #broken(failure: AiFailure): void {
    const { status } = failure;
    this.#cut(
      this.#hasContent && failure.reason !== "egress"
        ? {
            reason: "stream_cut",
            text: "the answer broke off",
            ...(status !== undefined && { status }),
          }
        : failure,
    );
  }

  #cut(failure: AiFailure): void {
    if (this.#over) return;
    this.#end(failure, "other");
    this.#controller.abort();
    const reader = this.#reader;
    if (reader === null) return;
    const cancel = async () => reader.cancel();
    void cancel().catch(ignore);
  }

  #end(failure: AiFailure | null, finish: Finish): void {
    if (this.#over) return;
    this.#over = true;
    this.#stopTimer();
    this.#session.budget.offEnd(this.#isOver);
    this.#resolve({
      failure,
      text: this.#textSoFar(),
      parts: this.#parts?.flatMap(finished) ?? [],
      tools: this.#tools,
      finish,
      usage: this.#usage,
      warnings: this.#warnings,
    });
  }
}

const NO_WARNINGS: readonly unknown[] = [];

function ignore(): void {}

function late(what: string, ms: number): AiFailure {
  return { reason: "timeout", text: `${what} did not come within ${ms} ms` };
}
