/**
 * What an executor knows of one run, kept up to date from the events that pass: state, times, confirmations, summary. The
 * rest is folded from the log when somebody asks.
 */
import {
  type Confirmation,
  createView,
  type Digest,
  type ExecutionEvent,
  foldEvents,
  type Journal,
  type Run,
  type RunSpec,
  type RunState,
  type RunSummary,
  type RunView,
  type StoredEvent,
  type SummaryPayload,
  type Trigger,
  viewToJson,
} from "@millrace/contracts";
import { digest } from "@millrace/dsl";
import { decodeEvent } from "./decode-event.ts";
import { RunLog } from "./run-log.ts";

/** Kinds that change what is kept here; the others are not even decoded. */
const OBSERVED: ReadonlySet<string> = new Set([
  "run.started",
  "run.paused",
  "run.resumed",
  "run.cancelling",
  "confirm.requested",
  "confirm.resolved",
  "summary",
]);

type Draft<T> = { -readonly [K in keyof T]: T[K] };

export class RunRecord {
  /** Position in the order of starts, from 1. */
  readonly no: number;
  readonly runId: string;
  readonly spec: RunSpec;
  readonly log: RunLog;
  readonly createdAt: number;
  readonly #hash: Digest;
  readonly #view: RunView;
  readonly #journal: Journal;
  #state: RunState = "pending";
  #startedAt: number | null = null;
  #endedAt: number | null = null;
  #summary: SummaryPayload | null = null;
  #pauseReason: string | null = null;
  #bytes = 0;
  readonly #confirmations = new Map<string, Draft<Confirmation>>();

  constructor(options: {
    readonly no: number;
    readonly runId: string;
    readonly spec: RunSpec;
    readonly journal: Journal;
    readonly createdAt: number;
  }) {
    this.no = options.no;
    this.runId = options.runId;
    this.spec = options.spec;
    this.createdAt = options.createdAt;
    this.#hash = digest(options.spec.graph);
    this.#journal = options.journal;
    this.#view = createView(options.runId);
    this.log = new RunLog(options.journal, options.runId);
  }

  get state(): RunState {
    return this.#state;
  }

  /** Why the run is paused; null when it is not. */
  get pauseReason(): string | null {
    return this.#pauseReason;
  }

  get ended(): boolean {
    return this.log.ended;
  }

  /** Bytes of the log so far. */
  get bytes(): number {
    return this.#bytes;
  }

  outcomeOf(confirmationId: string): Confirmation["status"] | undefined {
    return this.#confirmations.get(confirmationId)?.status;
  }

  /** Takes over what the journal has stored since the last call, and shows it to readers. */
  async catchUp(): Promise<void> {
    for await (const page of this.#journal.read(this.runId, this.log.lastSeq)) {
      for (const event of page) this.#observe(event);
      this.log.append(page);
    }
  }

  /** Resolves when the log so far makes this true, or nothing more follows. */
  async until(isTrue: () => boolean): Promise<void> {
    while (!isTrue() && !this.ended) await this.log.changed();
  }

  /** Says that nothing follows, whether the log is whole or not. */
  end(): void {
    if (this.#summary === null && this.#endedAt === null) this.#state = "failed";
    this.log.end();
  }

  toSummary(): RunSummary {
    const { spec } = this;
    const { id, title } = spec.graph;
    return {
      runId: this.runId,
      status: this.#state,
      flow: { id, ...(title === undefined ? {} : { title }), hash: this.#hash },
      template: spec.template ?? null,
      trigger: spec.trigger as Trigger,
      tags: spec.tags ?? {},
      createdAt: toIso(this.createdAt),
      startedAt: this.#startedAt === null ? null : toIso(this.#startedAt),
      endedAt: this.#endedAt === null ? null : toIso(this.#endedAt),
      lastSeq: this.log.lastSeq,
      retryOf: null,
      summary: this.#summary,
    };
  }

  /** The whole run; folds what was not folded yet. */
  async toRun(): Promise<Run> {
    // A run in the queue is not in the journal yet.
    if (this.#view.seq < this.log.lastSeq) {
      for await (const page of this.#journal.read(this.runId, this.#view.seq)) {
        for (const event of page) foldEvents(this.#view, decodeEvent(event));
      }
    }
    const nodes = viewToJson(this.#view).nodes.map(
      ({ node, state, attempt }) => [node, { state, attempt }] as const,
    );
    return {
      ...this.toSummary(),
      nodes: Object.fromEntries(nodes),
      confirmations: [...this.#confirmations.values()].map((confirmation) => ({ ...confirmation })),
    };
  }

  #observe(stored: StoredEvent): void {
    this.#bytes += stored.line.byteLength;
    if (!OBSERVED.has(stored.kind)) return;
    const event = decodeEvent(stored) as ExecutionEvent;
    switch (event.kind) {
      case "run.started":
        this.#state = "running";
        this.#startedAt = event.ts;
        break;
      case "run.paused":
        this.#state = "paused";
        this.#pauseReason = event.reason;
        break;
      case "run.resumed":
        this.#state = "running";
        this.#pauseReason = null;
        break;
      case "run.cancelling":
        this.#state = "cancelling";
        this.#pauseReason = null;
        break;
      case "confirm.requested":
        this.#confirmations.set(event.id, {
          id: event.id,
          runId: this.runId,
          node: event.node,
          status: "requested",
          prompt: event.prompt,
          schema: event.schema ?? {},
          deadline: event.deadline === undefined ? null : toIso(event.deadline),
          ...(event.tool === undefined ? {} : { tool: event.tool }),
        });
        break;
      case "confirm.resolved": {
        const confirmation = this.#confirmations.get(event.id);
        if (confirmation === undefined) break;
        confirmation.status = event.outcome;
        if (event.by !== undefined) confirmation.by = event.by;
        if (event.value !== undefined) confirmation.value = event.value;
        if (event.comment !== undefined) confirmation.comment = event.comment;
        break;
      }
      case "summary": {
        const { v: _v, kind: _kind, runId: _runId, seq: _seq, ts, ...summary } = event;
        this.#summary = summary;
        this.#endedAt = ts;
        this.#state = summary.status === "invalid" ? "failed" : summary.status;
        break;
      }
      default:
    }
  }
}

function toIso(ms: number): string {
  return new Date(ms).toISOString();
}
