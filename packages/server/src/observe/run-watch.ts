/**
 * Watches the runs of a server by what it writes of them: lines of the log, and numbers.
 *   W1  Nothing here waits, throws, or keeps what a run has read or made.
 *   W2  A run that is known no more, because too many are, costs its names in the log and nothing else.
 */
import type { EncodedEvent, ExecutionEvent, RunHeader, Summary } from "@millrace/contracts";
import type { Logger, Metrics } from "../ports.ts";
import { OTHER } from "./metrics-table.ts";

/** Runs whose begin is remembered. */
const MAX_KNOWN = 10_000;

/** Log fields of a run besides its end. */
interface RunNames {
  readonly flow: string | null;
  readonly template: string | null;
  readonly trigger: string | null;
  /** The token, the schedule, the webhook, or the failed run that it tells of. */
  readonly by: string | null;
  readonly retryOf: string | null;
}

interface RunFacts {
  /** Null for a run whose begin was not seen. */
  readonly names: RunNames | null;
  /** Types of steps by their paths: first those of the flow, then those in bodies that have started. */
  readonly types: Map<string, string>;
  /** Providers of calls that are open. */
  readonly calls: Map<string, string>;
  state: "running" | "paused";
}

export interface RunWatchParts {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Several servers share the store. */
  readonly isShared: boolean;
  /** The stored row of a run whose begin was not seen. */
  readonly find: (runId: string) => Promise<RunHeader | null>;
  /** The trace of a run, where there is one. */
  readonly traceOf?: ((runId: string) => string | undefined) | undefined;
  readonly onFailed: () => void;
}

const UNKNOWN: RunNames = { flow: null, template: null, trigger: null, by: null, retryOf: null };

export class RunWatch {
  readonly #parts: RunWatchParts;
  readonly #log: Logger;
  readonly #metrics: Metrics;
  readonly #known = new Map<string, RunFacts>();
  readonly #driven = new Set<string>();

  constructor(parts: RunWatchParts) {
    this.#parts = parts;
    this.#log = parts.log;
    this.#metrics = parts.metrics;
  }

  /** Runs that were begun or taken up here, and have not ended. */
  get driven(): number {
    return this.#driven.size;
  }

  /** Whether the run is one of them. */
  drives(runId: string): boolean {
    return this.#driven.has(runId);
  }

  /** A run was made, or read to go on with it. */
  learn(header: RunHeader): void {
    const { runId, graph } = header;
    this.#keep(runId, {
      names: namesOf(header),
      types: new Map(graph.nodes.map(({ id, type }) => [id, type])),
      ...{ calls: new Map(), state: "running" },
    });
  }

  /** The store has taken these. */
  took(runId: string, events: readonly EncodedEvent[]): void {
    const facts = this.#known.get(runId) ?? this.#keep(runId, nothing());
    this.#driven.add(runId);
    for (const { event } of events) this.#observe(facts, event);
  }

  /** The store has refused what was written: another server has the run. */
  fenced(runId: string): void {
    const { flow } = this.#known.get(runId)?.names ?? UNKNOWN;
    this.#metrics.add("millrace_fenced_appends_total");
    this.#log.warn({ runId, flow }, "run.fenced");
    this.#forget(runId);
  }

  /** This server has asked for a run. */
  claimed(runId: string, isTaken: boolean): void {
    if (this.#driven.has(runId)) {
      // It has only said that it is there.
      if (!isTaken) this.fenced(runId);
      return;
    }
    this.#metrics.add("millrace_claims_total", [isTaken ? "taken" : "refused"]);
    if (!isTaken) return;
    this.#driven.add(runId);
    if (this.#parts.isShared) this.#log.info({ runId }, "run.claimed");
  }

  /** This server has given a run back. */
  released(runId: string): void {
    if (!this.#driven.has(runId)) return; // it has ended
    const { names, state } = this.#known.get(runId) ?? { ...nothing(), state: null };
    this.#log.info({ runId, flow: names?.flow ?? null, state }, "run.left");
    this.#forget(runId);
  }

  #observe(facts: RunFacts, event: ExecutionEvent): void {
    const { runId } = event;
    const { flow, trigger, by } = facts.names ?? UNKNOWN;
    this.#metrics.add("millrace_events_total", [event.kind]);
    switch (event.kind) {
      case "run.started":
        this.#log.debug({ runId, flow, trigger, by }, "run.started");
        break;
      case "run.paused":
        facts.state = "paused";
        // Work that was broken off goes on at once, and says so then.
        if (event.reason !== "interrupted") {
          this.#log.info({ runId, flow, reason: event.reason }, "run.paused");
        }
        break;
      case "run.resumed":
        facts.state = "running";
        if (event.reason === "recovered") this.#tookOver(runId, flow);
        else this.#log.info({ runId, flow, reason: event.reason }, "run.resumed");
        break;
      case "node.started":
        if (!facts.types.has(event.node)) facts.types.set(event.node, event.type);
        break;
      case "node.succeeded":
      case "node.failed":
      case "node.cancelled":
      case "node.skipped": {
        const status = event.kind.slice("node.".length);
        this.#metrics.add("millrace_nodes_total", [facts.types.get(event.node) ?? OTHER, status]);
        if (event.node.includes("/")) facts.types.delete(event.node); // a body may have a million items
        break;
      }
      case "llm.started":
        facts.calls.set(event.call, event.provider);
        break;
      case "llm.finished":
      case "llm.failed":
        this.#called(facts, event);
        break;
      case "summary":
        this.#ended(facts, event);
        break;
      default:
    }
  }

  #called(
    facts: RunFacts,
    event: Extract<ExecutionEvent, { kind: "llm.finished" | "llm.failed" }>,
  ): void {
    const provider = facts.calls.get(event.call) ?? OTHER;
    facts.calls.delete(event.call);
    this.#metrics.add("millrace_llm_calls_total", [provider, event.kind.slice("llm.".length)]);
    for (const [name, amount = 0] of Object.entries(event.usage ?? {})) {
      const kind = name.replace(/Tokens$/, "").replace(/[A-Z]/g, (all) => `_${all.toLowerCase()}`);
      this.#metrics.add("millrace_llm_tokens_total", [provider, kind], amount);
    }
    const cost = event.costUsd ?? 0;
    if (cost > 0) this.#metrics.add("millrace_llm_cost_usd_total", [provider], cost);
  }

  #tookOver(runId: string, flow: string | null): void {
    this.#metrics.add("millrace_takeovers_total");
    this.#log.info({ runId, flow }, this.#parts.isShared ? "run.taken_over" : "run.recovered");
  }

  #ended({ names }: RunFacts, summary: Summary): void {
    const traceId = this.#parts.traceOf?.(summary.runId);
    this.#forget(summary.runId);
    if (summary.status === "failed" || summary.status === "invalid") this.#parts.onFailed();
    if (names !== null) this.#tellEnd(names, summary, traceId);
    else void this.#findEnd(summary, traceId);
  }

  /** Never rejects. */
  async #findEnd(summary: Summary, traceId: string | undefined): Promise<void> {
    const header = await this.#parts.find(summary.runId).catch(() => null);
    this.#tellEnd(header === null ? UNKNOWN : namesOf(header), summary, traceId);
  }

  #tellEnd(names: RunNames, summary: Summary, traceId: string | undefined): void {
    const { runId, status, error, durationMs: ms } = summary;
    const trace = traceId === undefined ? {} : { trace_id: traceId };
    const { flow, template, trigger, by, retryOf } = names;
    this.#metrics.runEnded(status, trigger ?? OTHER, ms / 1_000);
    const { code = null, node = null } = error ?? {};
    this.#log.info(
      { runId, flow, template, trigger, by, retryOf, status, code, node, ms, ...trace },
      "run.ended",
    );
  }

  #keep(runId: string, facts: RunFacts): RunFacts {
    this.#known.set(runId, facts);
    const [oldest = runId] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN) this.#known.delete(oldest);
    return facts;
  }

  #forget(runId: string): void {
    this.#known.delete(runId);
    this.#driven.delete(runId);
  }
}

function namesOf({ graph, template, trigger, tokenId, source, retryOf }: RunHeader): RunNames {
  const by = sourceOf(source) ?? tokenId ?? null;
  return { flow: graph.id, template: template ?? null, trigger, by, retryOf: retryOf ?? null };
}

function nothing(): RunFacts {
  return { names: null, types: new Map(), calls: new Map(), state: "running" };
}

/** The source of a run that was not started by hand. */
function sourceOf(source: RunHeader["source"]): string | undefined {
  if (source === undefined) return undefined;
  if ("scheduleId" in source) return source.scheduleId;
  return "webhookId" in source ? source.webhookId : source.failedRunId;
}
