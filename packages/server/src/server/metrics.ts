/**
 * What is measured, as Prometheus text. Labels come from closed sets (pattern of the route, status, kind, state), never from
 * a request, so that no client can make the page grow.
 */
import { readdirSync } from "node:fs";
import type { Executor } from "@millrace/contracts";
import { type Store, StoreError } from "@millrace/store";
import { type Metric, Registry } from "prom-client";
import { METRICS, type MetricName, type MetricRow } from "../observe/metrics-table.ts";
import { Counts, LoopDelay, type SeriesValue, Times } from "../observe/series.ts";
import type { LiveState, Metrics, ServerWatch, Standing, StoredStanding } from "../ports.ts";
import { liveRuns } from "../runs/index.ts";
import { packageVersion } from "../version.ts";

const US_PER_S = 1e6;
/** Route of requests that found none, or were refused before. */
const NO_ROUTE = "none";
const STATUSES = ["succeeded", "failed", "cancelled", "invalid"];
const TRIGGERS = ["api", "schedule", "webhook"];

export function createMetrics(executor = "none"): Metrics {
  const registry = new Registry();
  const counts = new Map<MetricName, Counts>();
  const ofRoutes = new Map<string, Times>();
  const loop = new LoopDelay();
  const commits = new Times(METRICS.millrace_journal_commit_duration_seconds.buckets);
  const runs = new Times(METRICS.millrace_run_duration_seconds.buckets);

  function countsOf(name: MetricName): Counts {
    const known = counts.get(name);
    if (known !== undefined) return known;
    const row: MetricRow = METRICS[name];
    const made = new Counts(row.labels);
    counts.set(name, made);
    return made;
  }

  const add: Metrics["add"] = (name, labels = [], amount = 1) => countsOf(name).add(labels, amount);

  function histogram(name: MetricName): readonly SeriesValue[] {
    if (name === "millrace_journal_commit_duration_seconds") return commits.values(name, {});
    if (name === "millrace_run_duration_seconds") return runs.values(name, {});
    return [...ofRoutes].flatMap(([route, times]) => times.values(name, { route }));
  }

  // The first failure of all is an increase only of a number that was there before.
  for (const status of STATUSES) {
    for (const trigger of TRIGGERS) add("millrace_runs_total", [status, trigger], 0);
  }
  for (const outcome of ["taken", "refused"]) add("millrace_claims_total", [outcome], 0);
  for (const outcome of ["sent", "failed"]) add("millrace_rings_total", [outcome], 0);
  for (const [name, { type, labels }] of Object.entries(METRICS) as [MetricName, MetricRow][]) {
    if (type === "counter" && labels?.length === 0) add(name, [], 0);
  }

  let gauges: ReadonlyMap<string, readonly SeriesValue[]> = new Map();
  for (const [name, { type, help }] of Object.entries(METRICS) as [MetricName, MetricRow][]) {
    const valuesOf = (): readonly SeriesValue[] => {
      if (type === "histogram") return histogram(name);
      if (type === "summary") return loop.values(name);
      const set = gauges.get(name);
      if (set !== undefined) return set;
      return [...countsOf(name).entries()].map(([labels, value]) => ({ labels, value }));
    };
    const metric = { name, get: async () => ({ name, help, type, values: valuesOf() }) };
    // The metrics of prom-client look labels up by their text whenever they are told a number.
    registry.registerMetric(metric as unknown as Metric);
  }

  return {
    contentType: registry.contentType,
    add,
    committed: (seconds) => commits.observe(seconds),
    runEnded(status, trigger, seconds) {
      add("millrace_runs_total", [status, trigger]);
      runs.observe(seconds);
    },
    request(pattern, status, ms) {
      const route = pattern ?? NO_ROUTE;
      add("millrace_http_requests_total", [route, String(status)]);
      if (ms === undefined) return;
      let times = ofRoutes.get(route);
      if (times === undefined) {
        times = new Times(METRICS.millrace_http_request_duration_seconds.buckets);
        ofRoutes.set(route, times);
      }
      times.observe(ms / 1_000);
    },
    text(standing) {
      gauges = gaugesOf(standing, executor);
      return registry.metrics();
    },
    close: () => loop.close(),
  };
}

function gaugesOf(
  { stored, driven, streams, isStoreUp, isDispatcherUp }: Standing,
  executor: string,
): ReadonlyMap<string, readonly SeriesValue[]> {
  const one = (value: number, labels: SeriesValue["labels"] = {}) => [{ labels, value }];
  const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
  const { user, system } = process.cpuUsage();
  const files = openFiles();
  const rows: { readonly [N in MetricName]?: readonly SeriesValue[] } = {
    millrace_build_info: one(1, { version: packageVersion(), executor }),
    millrace_runs: Object.entries(stored?.runs ?? {}).map(([state, value]) => ({
      labels: { state },
      value,
    })),
    millrace_driven_runs: one(driven),
    millrace_streams: one(streams),
    millrace_schedule_lag_seconds: stored === undefined ? [] : one(stored.scheduleLagS),
    millrace_store_up: one(Number(isStoreUp)),
    millrace_dispatcher_up: one(Number(isDispatcherUp)),
    process_cpu_seconds_total: one((user + system) / US_PER_S),
    process_cpu_user_seconds_total: one(user / US_PER_S),
    process_cpu_system_seconds_total: one(system / US_PER_S),
    process_start_time_seconds: one(performance.timeOrigin / 1_000),
    process_resident_memory_bytes: one(rss),
    process_open_fds: files === undefined ? [] : one(files),
    nodejs_heap_size_total_bytes: one(heapTotal),
    nodejs_heap_size_used_bytes: one(heapUsed),
    nodejs_external_memory_bytes: one(external),
    nodejs_version_info: one(1, { version: process.version }),
  };
  return new Map(Object.entries(rows));
}

function openFiles(): number | undefined {
  try {
    return readdirSync("/proc/self/fd").length - 1; // but for the one that lists them
  } catch {
    return undefined;
  }
}

interface Counted {
  readonly executor: Executor;
  readonly store: Store;
  readonly watch?: Pick<ServerWatch, "driven" | "dispatcher"> | undefined;
  now(): number;
}

/** Counts the live runs; costs a walk over the runs that have not ended. */
export async function standingOf(host: Counted, streams: number): Promise<Standing> {
  const stored = await storedOf(host).catch((error: unknown) => {
    if (StoreError.isInstance(error)) return undefined; // the page is what tells that it is away
    throw error;
  });
  return {
    stored,
    streams,
    driven: host.watch?.driven ?? 0,
    isStoreUp: stored !== undefined && host.store.condition === "ok",
    isDispatcherUp: host.watch?.dispatcher !== "degraded",
  };
}

async function storedOf({ executor, store, ...host }: Counted): Promise<StoredStanding> {
  const runs = { pending: 0, running: 0, paused: 0, cancelling: 0 };
  for await (const { status } of liveRuns(executor)) runs[status as LiveState] += 1;
  const now = host.now();
  const [longestDue] = await store.schedules.due(now);
  return { runs, scheduleLagS: Math.max(0, now - (longestDue?.nextAt ?? now)) / 1_000 };
}
