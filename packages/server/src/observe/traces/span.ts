/**
 * What a span is here, and the ids of spans. Ids of a run are made from its id alone: a server that goes on with a run of another
 * one continues the same trace, and nothing of it has to be kept but who has started the run.
 */
import { createHash, randomBytes } from "node:crypto";

/** Where a span is in its trace. */
export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** False: it is sent nowhere, and neither is what is below it. */
  readonly isSampled: boolean;
}

/** Names and numbers; never what a run reads or makes. */
export type Attributes = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** A span that has ended. Times are epoch milliseconds. */
export interface Span {
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  readonly context: SpanContext;
  readonly parent: SpanContext | undefined;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Code of the error with which it has ended. */
  readonly error: string | undefined;
}

/** Takes spans. Neither method throws or waits. */
export interface SpanSink {
  /** Whether a span without a sampled relative here is kept. */
  samples(traceId: string, name: string, parent: SpanContext | undefined): boolean;
  send(span: Span): void;
  /** Sends what is left; resolves when it is sent, or after the time for that. */
  close(): Promise<void>;
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The span that a header names; undefined for what is no such header, and for versions that are not known. */
export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, traceId = "", spanId = "", flags = ""] = TRACEPARENT.exec(text?.trim() ?? "") ?? [];
  if (/^0*$/.test(traceId) || /^0*$/.test(spanId)) return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
export function formatTraceparent({ traceId, spanId, isSampled }: SpanContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}

/** The trace of a run that does not continue another one. */
export const traceIdOf = (runId: string): string => digits(`trace ${runId}`, 32);

/** A span of a run by what it is of, such as `attempt fetch 2`. */
export const spanIdOf = (runId: string, what: string): string => digits(`${runId} ${what}`, 16);

/** A span that nobody has to find again. */
export const newSpanId = (): string => randomBytes(8).toString("hex");

/** A trace of that kind. */
export const newTraceId = (): string => randomBytes(16).toString("hex");

function digits(text: string, count: number): string {
  return createHash("sha256").update(text).digest("hex").slice(0, count);
}
