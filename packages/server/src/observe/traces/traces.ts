/**
 * The traces of a process: spans of its runs, of the requests that they make, and of those that it answers.
 *   T1  Nothing here waits, and a receiver that is away or slow costs spans, never a run.
 *   T2  A request names its origin, method and status; its path and query may hold secrets.
 */
import type {
  EncodedEvent,
  ExecutionEvent,
  Journal,
  ResumeState,
  RunHeader,
} from "@millrace/contracts";
import type { RequestTrace, TracePort } from "@millrace/engine";
import type { Store, StoreJournal } from "@millrace/store";
import { over } from "../over.ts";
import { RunSpans } from "./run-spans.ts";
import {
  formatTraceparent,
  newSpanId,
  newTraceId,
  parseTraceparent,
  type SpanContext,
  type SpanSink,
} from "./span.ts";

/** Runs whose trace is remembered. */
const MAX_KNOWN = 10_000;

/** A request that is being answered. */
export interface ServedRequest {
  /** Of the span, as a header. */
  readonly traceparent: string;
  readonly traceId: string;
  /** `route`: its pattern; null where there is none. */
  ended(answer: {
    readonly method: string;
    readonly route: string | null;
    readonly status: number;
  }): void;
}

/** Makes and sends the spans of this process. */
export class Traces implements TracePort {
  readonly #sink: SpanSink;
  readonly #startedBy: string | undefined;
  readonly #now: () => number;
  readonly #runs = new Map<string, RunSpans>();

  /** `startedBy`: the `traceparent` of what has started this process, for runs that nothing else has started. */
  constructor(
    sink: SpanSink,
    {
      startedBy,
      now = Date.now,
    }: { readonly startedBy?: string | undefined; now?: () => number } = {},
  ) {
    this.#sink = sink;
    this.#startedBy = startedBy;
    this.#now = now;
  }

  /** The trace of a run that is driven or watched here. */
  traceOf(runId: string): string | undefined {
    return this.#runs.get(runId)?.context.traceId;
  }

  /** A run was made, or read to go on with it. */
  learn({ runId, options }: RunHeader, events: ResumeState["events"] = []): void {
    // Who only reads the log of a run that is driven here may have an older one.
    const known = this.#runs.get(runId);
    if (known !== undefined && known.seq >= (events.at(-1)?.seq ?? 0)) return;
    const spans = this.#keep(runId, options?.traceparent ?? this.#startedBy);
    if (spans.context.isSampled) spans.take(events.map(decode), true);
  }

  /** These have happened. */
  took(runId: string, events: readonly ExecutionEvent[]): void {
    const spans = this.#runs.get(runId) ?? this.#keep(runId, this.#startedBy);
    spans.take(events);
    if (events.at(-1)?.kind === "summary") this.#runs.delete(runId);
  }

  /** A journal of whose runs this makes spans. */
  watched<J extends Journal>(journal: J): J {
    const whole: Partial<StoreJournal> & Journal = journal;
    const members: Partial<StoreJournal> = {
      create: (header, rows, options) => {
        if (options?.isFree !== true) this.learn(header); // else the process that takes it reads it
        return (whole as StoreJournal).create(header, rows, options);
      },
      begin: (header) => {
        this.learn(header);
        return (whole as StoreJournal).begin(header);
      },
      append: async (runId, expectedSeq, events, options) => {
        try {
          await whole.append(runId, expectedSeq, events, options);
        } catch (error) {
          if ((error as { readonly code?: unknown }).code === "lease_lost")
            this.#runs.delete(runId);
          throw error;
        }
        this.took(runId, events.map(eventOf));
      },
      release: async (runId, epoch) => {
        await whole.release(runId, epoch);
        this.#runs.delete(runId);
      },
      load: async (...args) => {
        const state = await whole.load(...args);
        if (state !== null && state.events.at(-1)?.kind !== "summary") {
          this.learn(state, state.events);
        }
        return state;
      },
    };
    if (whole.begin === undefined) delete members.begin;
    return over<Journal>(journal, members) as J;
  }

  /** The same store, of whose runs this makes spans. */
  watchedStore<S extends Store>(store: S): S {
    return over(store, { journal: this.watched(store.journal) } as Partial<S>);
  }

  request(
    { runId, node, attempt }: Parameters<TracePort["request"]>[0],
    { method, url, headers }: Parameters<TracePort["request"]>[1],
  ): RequestTrace {
    const spans = this.#runs.get(runId) ?? this.#spansOf(runId, this.#startedBy);
    const parent = spans.attempt(node, attempt);
    const context = { ...parent, spanId: newSpanId() };
    const startedAt = this.#now();
    const hasOwn = Object.keys(headers).some((name) => /^traceparent$/i.test(name));
    const { protocol, hostname, port } = URL.canParse(url)
      ? new URL(url)
      : { protocol: "", hostname: "", port: "" };
    return {
      headers: hasOwn ? headers : { ...headers, traceparent: formatTraceparent(context) },
      ended: (outcome) => {
        const status = "status" in outcome ? outcome.status : undefined;
        this.#send({
          ...{ name: method, kind: "client", context, parent, startedAt, endedAt: this.#now() },
          attributes: {
            "http.request.method": method,
            "http.response.status_code": status,
            "url.scheme": protocol.replace(/:$/, ""),
            "server.address": hostname,
            "server.port": Number(port || (protocol === "http:" ? 80 : 443)),
          },
          error: "code" in outcome ? outcome.code : errorOf(outcome.status, 400),
        });
      },
    };
  }

  /** A request has come, with this header `traceparent`. */
  serve(header: string | undefined): ServedRequest {
    const parent = parseTraceparent(header);
    const traceId = parent?.traceId ?? newTraceId();
    const isSampled = this.#sink.samples(traceId, "request", parent);
    const context: SpanContext = { traceId, spanId: newSpanId(), isSampled };
    const startedAt = this.#now();
    return {
      traceparent: formatTraceparent(context),
      traceId,
      ended: ({ method, route, status }) =>
        this.#send({
          ...{ kind: "server", context, parent, startedAt, endedAt: this.#now() },
          name: route === null ? method : `${method} ${route}`,
          attributes: {
            "http.request.method": method,
            "http.route": route ?? undefined,
            "http.response.status_code": status,
          },
          error: errorOf(status, 500),
        }),
    };
  }

  /** Sends what is left. */
  close(): Promise<void> {
    return this.#sink.close();
  }

  #send(span: Parameters<SpanSink["send"]>[0]): void {
    if (span.context.isSampled) this.#sink.send(span);
  }

  #keep(runId: string, startedBy: string | undefined): RunSpans {
    const spans = this.#spansOf(runId, startedBy);
    this.#runs.set(runId, spans);
    const [oldest = runId] = this.#runs.keys();
    if (this.#runs.size > MAX_KNOWN) this.#runs.delete(oldest);
    return spans;
  }

  #spansOf(runId: string, startedBy: string | undefined): RunSpans {
    const parent = parseTraceparent(startedBy);
    return new RunSpans(runId, parent, {
      samples: (traceId) => this.#sink.samples(traceId, "run", parent),
      send: (span) => this.#sink.send(span),
    });
  }
}

/** The code of an answer that says that something went wrong; of what a client has done wrong a server is not to blame. */
function errorOf(status: number, least: number): string | undefined {
  return status >= least ? `${status}` : undefined;
}

const eventOf = ({ event }: EncodedEvent): ExecutionEvent => event;

function decode({ line }: ResumeState["events"][number]): ExecutionEvent {
  return JSON.parse(Buffer.from(line).toString("utf8"));
}
