/**
 * What is measured, as Prometheus text. Labels come from closed sets (pattern of the route, status, kind, state), never from
 * a request, so that no client can make the page grow.
 *   M1  What happens often costs an addition to an array; names and labels are put together when the page is read.
 */
import { type IntervalHistogram, monitorEventLoopDelay } from "node:perf_hooks";
import type { Executor, Journal } from "@millrace/contracts";
import type { Store } from "@millrace/store";
import { Counter, Gauge, type Metric, Registry } from "prom-client";
import type { LiveState, Metrics, Standing } from "../ports.ts";
import { liveRuns } from "../runs/index.ts";

/** From an answer out of memory to one that waited for a disk or for another server, in seconds. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];
/** From memory to a disk that is busy, in seconds. */
const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];
const LOOP_RESOLUTION_MS = 20;
const NS_PER_S = 1e9;
/** Route of requests that found none, or were refused before. */
const NO_ROUTE = "none";

/** Makes the measurements of one server. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const routes = new Map<string, RouteCounts>();
  new Counter({
    name: "millrace_http_requests_total",
    help: "Requests answered, by pattern of the route and status",
    labelNames: ["route", "status"],
    registers,
    collect() {
      this.reset();
      for (const [route, { statuses }] of routes) {
        for (const [status, count] of statuses) this.inc({ route, status }, count);
      }
    },
  });
  registerHistogram(registry, {
    name: "millrace_http_request_duration_seconds",
    help: "Time from the request to its whole answer; event streams do not count",
    times: () => [...routes].map(([route, { times }]) => [{ route }, times] as const),
  });
  const runs = new Gauge({
    name: "millrace_runs",
    help: "Runs that have not ended, by state; pending ones wait for a place",
    labelNames: ["state"],
    registers,
  });
  const streams = new Gauge({
    name: "millrace_streams",
    help: "Event streams that are open",
    registers,
  });
  const stalled = new Counter({
    name: "millrace_streams_stalled_total",
    help: "Event streams cut because their reader took nothing",
    registers,
  });
  const byKind = new Map<string, number>();
  new Counter({
    name: "millrace_events_total",
    help: "Events written to the journal, by kind",
    labelNames: ["kind"],
    registers,
    collect() {
      this.reset();
      for (const [kind, count] of byKind) this.inc({ kind }, count);
    },
  });
  const commits = new Times(COMMIT_BUCKETS);
  registerHistogram(registry, {
    name: "millrace_journal_commit_duration_seconds",
    help: "Time in which the journal takes a batch of events; its count is that of the commits",
    times: () => [[{}, commits]],
  });
  const scheduleLag = new Gauge({
    name: "millrace_schedule_lag_seconds",
    help: "How late the longest due schedule is",
    registers,
  });
  let loop: IntervalHistogram | undefined;
  new Gauge({
    name: "millrace_event_loop_delay_seconds",
    help: "Delay of the event loop since the question before; watched from the first question on",
    labelNames: ["quantile"],
    registers,
    collect() {
      if (loop === undefined) {
        loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
        loop.enable();
      }
      const seen = loop.count > 0;
      this.set({ quantile: "0.5" }, seen ? loop.percentile(50) / NS_PER_S : 0);
      this.set({ quantile: "0.99" }, seen ? loop.percentile(99) / NS_PER_S : 0);
      this.set({ quantile: "1" }, seen ? loop.max / NS_PER_S : 0);
      loop.reset();
    },
  });
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Resident memory of the process",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });

  return {
    contentType: registry.contentType,
    meter(journal) {
      const append: Journal["append"] = async (runId, expectedSeq, events, options) => {
        const startedAt = performance.now();
        await journal.append(runId, expectedSeq, events, options);
        commits.observe((performance.now() - startedAt) / 1_000);
        for (const { kind } of events) byKind.set(kind, (byKind.get(kind) ?? 0) + 1);
      };
      return new Proxy(journal, {
        get(target, name) {
          if (name === "append") return append;
          const member: unknown = Reflect.get(target, name, target);
          return typeof member === "function" ? member.bind(target) : member;
        },
      });
    },
    request(pattern, status, ms) {
      const route = pattern ?? NO_ROUTE;
      let counts = routes.get(route);
      if (counts === undefined) {
        counts = { statuses: new Map(), times: new Times(REQUEST_BUCKETS) };
        routes.set(route, counts);
      }
      counts.statuses.set(status, (counts.statuses.get(status) ?? 0) + 1);
      if (ms !== undefined) counts.times.observe(ms / 1_000);
    },
    stalled: () => stalled.inc(),
    text(standing) {
      for (const [state, count] of Object.entries(standing.runs)) runs.set({ state }, count);
      streams.set(standing.streams);
      scheduleLag.set(standing.scheduleLagS);
      return registry.metrics();
    },
    close() {
      loop?.disable();
      loop = undefined;
    },
  };
}

/** What was answered on one route. */
interface RouteCounts {
  readonly statuses: Map<number, number>;
  readonly times: Times;
}

/** Times in buckets, in seconds. */
class Times {
  readonly bounds: readonly number[];
  /** Of each bucket alone; the last one is above every bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(seconds: number): void {
    let at = 0;
    while (at < this.bounds.length && seconds > (this.bounds[at] as number)) at += 1;
    this.counts[at] = (this.counts[at] as number) + 1;
    this.sum += seconds;
  }
}

/** Shows times as a histogram; that of prom-client looks labels up by their text whenever it is told one. */
function registerHistogram(
  registry: Registry,
  {
    name,
    help,
    times,
  }: {
    readonly name: string;
    readonly help: string;
    readonly times: () => readonly (readonly [labels: { readonly route?: string }, times: Times])[];
  },
): void {
  const values = () =>
    times()
      .filter(([labels, { counts }]) => labels.route === undefined || counts.some((n) => n > 0))
      .flatMap(([labels, { bounds, counts, sum }]) => {
        let count = 0;
        const buckets = Array.from(counts, (own, at) => {
          count += own;
          const le = bounds[at] ?? "+Inf";
          return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
        });
        return [
          ...buckets,
          { metricName: `${name}_sum`, labels, value: sum },
          { metricName: `${name}_count`, labels, value: count },
        ];
      });
  const metric = {
    name,
    get: async () => ({ name, help, type: "histogram", aggregator: "sum", values: values() }),
  };
  registry.registerMetric(metric as unknown as Metric);
}

/** Counts the live runs; costs a walk over the runs that have not ended. */
export async function standingOf(
  host: { readonly executor: Executor; readonly store: Store; now(): number },
  streams: number,
): Promise<Standing> {
  const runs = { pending: 0, running: 0, paused: 0, cancelling: 0 };
  for await (const { status } of liveRuns(host.executor)) runs[status as LiveState] += 1;
  const now = host.now();
  const [longestDue] = await host.store.schedules.due(now);
  const scheduleLagS = Math.max(0, now - (longestDue?.nextAt ?? now)) / 1_000;
  return { runs, streams, scheduleLagS };
}
