/**
 * Spans over the libraries of OpenTelemetry, which only this file imports: they need not be installed.
 *   S1  At most `OTEL_BSP_MAX_QUEUE_SIZE` spans wait; what comes then is dropped.
 */
import {
  type SpanContext as OtelContext,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { atMost } from "../../at-most.ts";
import { packageVersion } from "../../version.ts";
import type { SpanContext, SpanSink } from "./span.ts";

export interface ReceiverOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** How long one batch may take, with its repetitions. */
  readonly timeoutMs: number;
  readonly protocol: "http/protobuf" | "http/json";
  readonly resource: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told with why when spans are not taken, and without when they are again. */
  readonly told: (problem?: string) => void;
}

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
} as const;

/** Makes the sink. Rejects where a library is missing. */
export async function createSink(options: ReceiverOptions): Promise<SpanSink> {
  const { env, resource, timeoutMs } = options;
  const ids = { traceId: "", spanId: "" };
  const processor = new BatchSpanProcessor({
    ...numbersOf(env),
    exporter: told(await exporterOf(options), options.told),
    exportTimeoutMillis: timeoutMs,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(resource)),
    sampler: new AlwaysOnSampler(), // what comes here is decided already
    idGenerator: { generateTraceId: () => ids.traceId, generateSpanId: () => ids.spanId },
    spanProcessors: [processor],
  });
  const tracer = provider.getTracer("millrace", packageVersion());
  const sampler = samplerOf(env);
  return {
    samples(traceId, name, parent) {
      const { decision } = sampler.shouldSample(
        within(parent),
        traceId,
        name,
        SpanKind.SERVER,
        {},
        [],
      );
      return decision === SamplingDecision.RECORD_AND_SAMPLED;
    },
    send({ name, kind, context, parent, startedAt, endedAt, attributes, error }) {
      Object.assign(ids, context);
      const known = Object.entries(attributes).filter(([, value]) => value !== undefined);
      const span = tracer.startSpan(
        name,
        {
          kind: KINDS[kind],
          startTime: startedAt,
          attributes: {
            ...(Object.fromEntries(known) as Record<string, string>),
            ...(error !== undefined && { "error.type": error }),
          },
        },
        within(parent),
      );
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      span.end(endedAt);
    },
    close: () => atMost(timeoutMs, provider.shutdown()),
  };
}

function within(parent: SpanContext | undefined): typeof ROOT_CONTEXT {
  if (parent === undefined) return ROOT_CONTEXT;
  const { traceId, spanId, isSampled } = parent;
  const traceFlags = isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  const context: OtelContext = { traceId, spanId, traceFlags, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, context);
}

async function exporterOf(options: ReceiverOptions): Promise<SpanExporter> {
  const { url, headers, timeoutMs: timeoutMillis } = options;
  const { OTLPTraceExporter } =
    options.protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  return new OTLPTraceExporter({ url, headers: { ...headers }, timeoutMillis });
}

/** The same exporter; `tell` hears of the first batch that is refused, and of the first that is taken after it. */
function told(exporter: SpanExporter, tell: ReceiverOptions["told"]): SpanExporter {
  let isLost = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined || result.code !== 0;
        if (hasFailed && !isLost) tell(result.error?.message ?? "not taken");
        if (!hasFailed && isLost) tell();
        isLost = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

const NUMBERS = {
  maxQueueSize: "OTEL_BSP_MAX_QUEUE_SIZE",
  maxExportBatchSize: "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
  scheduledDelayMillis: "OTEL_BSP_SCHEDULE_DELAY",
} as const;

function numbersOf(env: ReceiverOptions["env"]): Partial<Record<keyof typeof NUMBERS, number>> {
  const pairs = Object.entries(NUMBERS).map(([name, variable]) => [name, Number(env[variable])]);
  return Object.fromEntries(pairs.filter(([, number]) => (number as number) > 0));
}

/** The sampler that `OTEL_TRACES_SAMPLER` names; one that is not known counts as the default. */
function samplerOf(env: ReceiverOptions["env"]): Sampler {
  const name = env["OTEL_TRACES_SAMPLER"] ?? "";
  const given = Number(env["OTEL_TRACES_SAMPLER_ARG"] || 1);
  const ratio = given >= 0 && given <= 1 ? given : 1;
  const root = name.endsWith("always_off")
    ? new AlwaysOffSampler()
    : name.endsWith("traceidratio")
      ? new TraceIdRatioBasedSampler(ratio)
      : new AlwaysOnSampler();
  const stands = /^(?:always_on|always_off|traceidratio)$/.test(name);
  return stands ? root : new ParentBasedSampler({ root });
}
