/**
 * The spans of one run, made from its events.
 *   R1  A span has names, numbers and codes: no message, input, output or prompt is looked at.
 *   R2  Events that are only replayed make no span that has ended before.
 *   R3  What is open is bounded by what is at work in the run.
 */
import { type ExecutionEvent, enclosingAttempt, enclosingNode } from "@millrace/contracts";
import { type Attributes, type Span, type SpanContext, spanIdOf, traceIdOf } from "./span.ts";

type OpenSpan = Pick<Span, "name" | "kind" | "parent" | "startedAt" | "attributes"> & {
  readonly spanId: string;
};

type Of<K extends ExecutionEvent["kind"]> = Extract<ExecutionEvent, { kind: K }>;

/** Names that the conventions have for makers of models, where ours differ. */
const PROVIDERS: Readonly<Record<string, string>> = { google: "gcp.gemini" };

export class RunSpans {
  readonly #runId: string;
  readonly #parent: SpanContext | undefined;
  readonly context: SpanContext;
  readonly #send: (span: Span) => void;
  /** By what they are of. */
  readonly #open = new Map<string, OpenSpan>();
  #seq = 0;

  constructor(
    runId: string,
    parent: SpanContext | undefined,
    sink: { samples(traceId: string): boolean; send(span: Span): void },
  ) {
    const traceId = parent?.traceId ?? traceIdOf(runId);
    this.#runId = runId;
    this.#parent = parent;
    this.#send = sink.send;
    this.context = { traceId, spanId: spanIdOf(runId, "run"), isSampled: sink.samples(traceId) };
  }

  /** The span of an attempt, whether its event was seen or not. */
  attempt(node: string, attempt: number): SpanContext {
    return this.#at(spanIdOf(this.#runId, `attempt ${node} ${attempt}`));
  }

  /** The last event that was taken. */
  get seq(): number {
    return this.#seq;
  }

  /** Takes events in their order; `isReplay`: what ended by them was sent already. */
  take(events: readonly ExecutionEvent[], isReplay = false): void {
    for (const event of events) {
      this.#seq = event.seq;
      if (this.context.isSampled) this.#take(event, isReplay);
    }
  }

  #take(event: ExecutionEvent, isReplay: boolean): void {
    const end = (what: string, more: Attributes, error?: string): void => {
      const span = this.#open.get(what);
      this.#open.delete(what);
      if (span === undefined || isReplay) return;
      const { spanId, attributes, ...rest } = span;
      const context = this.#at(spanId);
      const all = { ...attributes, ...more };
      this.#send({ ...rest, context, endedAt: event.ts, attributes: all, error });
    };
    switch (event.kind) {
      case "run.started":
        this.#startRun(event);
        break;
      case "node.started":
        this.#startNode(event);
        break;
      case "node.retrying":
        end(`attempt ${event.node}`, {}, event.error.code);
        break;
      case "node.succeeded":
      case "node.failed":
      case "node.cancelled":
      case "node.skipped": {
        const error = event.kind === "node.failed" ? event.error.code : undefined;
        const more = {
          "millrace.node.status": event.kind.slice("node.".length),
          ...(event.kind === "node.succeeded" && event.cached && { "millrace.node.cached": true }),
        };
        end(`attempt ${event.node}`, {}, error);
        end(`node ${event.node}`, more, error);
        break;
      }
      case "llm.started":
        this.#startModelCall(event);
        break;
      case "llm.finished":
        end(`call ${event.call}`, {
          ...usageOf(event.usage),
          "gen_ai.response.finish_reasons": [event.finish],
        });
        break;
      case "llm.failed":
        end(`call ${event.call}`, usageOf(event.usage), event.reason);
        break;
      case "tool.started":
        this.#startTool(event);
        break;
      case "tool.finished": {
        const isOk = event.outcome === "ok";
        end(`call ${event.call}`, {}, isOk ? undefined : (event.error?.code ?? event.outcome));
        break;
      }
      case "summary": {
        const { status, error } = event;
        end(
          "run",
          { "millrace.run.status": status },
          status === "failed" ? error?.code : undefined,
        );
        break;
      }
      default:
    }
  }

  #startRun({ ts, flow, trigger, template, resumedFrom }: Of<"run.started">): void {
    this.#open.set("run", {
      ...{ name: `run ${flow.id}`, kind: "internal", parent: this.#parent, startedAt: ts },
      spanId: this.context.spanId,
      attributes: {
        "millrace.run.id": this.#runId,
        "millrace.run.trigger": trigger,
        "millrace.run.retry_of": resumedFrom?.runId,
        "millrace.flow.id": flow.id,
        "millrace.template": template,
      },
    });
  }

  #startNode({ node, attempt, type, ts }: Of<"node.started">): void {
    const key = `node ${node}`;
    const spanId = spanIdOf(this.#runId, key);
    const names = { "millrace.node.path": node, "millrace.node.type": type };
    const common = { kind: "internal", startedAt: ts } as const;
    if (!this.#open.has(key)) {
      const around = enclosingNode(node);
      const parent =
        around === undefined ? this.context : this.attempt(around, enclosingAttempt(node));
      const id = node.slice(node.lastIndexOf("/") + 1);
      this.#open.set(key, { ...common, name: `node ${id}`, parent, spanId, attributes: names });
    }
    this.#open.set(`attempt ${node}`, {
      ...common,
      name: `attempt ${attempt}`,
      parent: this.#at(spanId),
      spanId: this.attempt(node, attempt).spanId,
      attributes: { ...names, "millrace.node.attempt": attempt },
    });
  }

  /** @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/ */
  #startModelCall({ call, node, attempt, provider, model, purpose, ts }: Of<"llm.started">): void {
    const operation = purpose === "embed" ? "embeddings" : "chat";
    this.#open.set(`call ${call}`, {
      ...{ name: `${operation} ${model}`, kind: "client", startedAt: ts },
      parent: this.attempt(node, attempt),
      spanId: spanIdOf(this.#runId, `call ${call}`),
      attributes: {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": PROVIDERS[provider] ?? provider,
        "gen_ai.request.model": model,
        "millrace.llm.purpose": purpose,
      },
    });
  }

  #startTool({ call, node, attempt, tool, llmCall, ts }: Of<"tool.started">): void {
    this.#open.set(`call ${call}`, {
      ...{ name: `execute_tool ${tool}`, kind: "internal", startedAt: ts },
      parent: this.attempt(node, attempt),
      spanId: spanIdOf(this.#runId, `call ${call}`),
      attributes: {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool,
        "gen_ai.tool.call.id": call,
        "millrace.llm.call": llmCall,
      },
    });
  }

  #at(spanId: string): SpanContext {
    return { ...this.context, spanId };
  }
}

function usageOf(usage: Of<"llm.finished">["usage"]): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage?.inputTokens,
    "gen_ai.usage.output_tokens": usage?.outputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage?.cachedInputTokens,
    "gen_ai.usage.cache_creation.input_tokens": usage?.cacheWriteTokens,
    "gen_ai.usage.reasoning.output_tokens": usage?.reasoningTokens,
  };
}
