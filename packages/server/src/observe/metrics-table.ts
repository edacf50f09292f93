/** Every metric of a server: the page of Prometheus and the documentation are written from this table. */

/** One metric. */
export interface MetricRow {
  readonly type: "counter" | "gauge" | "histogram" | "summary";
  readonly help: string;
  readonly labels?: readonly string[];
  /** Upper bounds of a histogram, in seconds. */
  readonly buckets?: readonly number[];
}

/** From an answer out of memory to one that waited for a disk or for another server. */
const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 2.5, 10];
/** From memory to a disk that is busy. */
const COMMIT_BUCKETS = [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1];
/** From a flow that only computes to one that waits for people. */
const RUN_BUCKETS = [0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1_800, 3_600, 86_400];

const counter = (help: string, ...labels: readonly string[]): MetricRow => ({
  ...{ type: "counter", help, labels },
});
const gauge = (help: string, ...labels: readonly string[]): MetricRow => ({
  ...{ type: "gauge", help, labels },
});

/** By name. What a label may be comes from closed sets, or is bounded by `MAX_SERIES`. */
export const METRICS = {
  millrace_build_info: gauge("What runs here; always 1", "version", "executor"),
  millrace_runs_total: counter("Runs that have ended here", "status", "trigger"),
  millrace_run_duration_seconds: {
    type: "histogram",
    help: "Time from the begin of a run to its end, pauses included",
    buckets: RUN_BUCKETS,
  },
  millrace_runs: gauge(
    "Runs of the store that have not ended, by state; pending ones wait for a place",
    "state",
  ),
  millrace_driven_runs: gauge(
    "Runs that this server has begun or taken up, and that have not ended",
  ),
  millrace_nodes_total: counter("Steps that have ended", "type", "status"),
  millrace_llm_calls_total: counter("Calls of models", "provider", "outcome"),
  millrace_llm_tokens_total: counter("Tokens of calls of models", "provider", "kind"),
  millrace_llm_cost_usd_total: counter(
    "Cost of calls of models in US dollars, where the price is known",
    "provider",
  ),
  millrace_schedule_lag_seconds: gauge("How late the longest due schedule is"),
  millrace_notifications_total: counter(
    "Tries to tell of failed runs: template or webhook; sent, failed, or given_up for good",
    "kind",
    "status",
  ),
  millrace_events_total: counter("Events written to the journal", "kind"),
  millrace_journal_commit_duration_seconds: {
    type: "histogram",
    help: "Time in which the store takes a batch of events; its count is that of the commits",
    buckets: COMMIT_BUCKETS,
  },
  millrace_store_up: gauge("1 while the store takes writes"),
  millrace_http_requests_total: counter(
    "Requests answered, by pattern of the route",
    "route",
    "status",
  ),
  millrace_http_request_duration_seconds: {
    type: "histogram",
    help: "Time from the request to its whole answer; event streams do not count",
    labels: ["route"],
    buckets: REQUEST_BUCKETS,
  },
  millrace_tokens_rejected_total: counter("Requests refused for their token", "reason"),
  millrace_streams: gauge("Event streams that are open"),
  millrace_streams_stalled_total: counter("Event streams cut because their reader took nothing"),
  millrace_claims_total: counter(
    "Runs that this server asked the store for; of several servers one gets it",
    "outcome",
  ),
  millrace_takeovers_total: counter(
    "Runs that went on here after another server or process left them",
  ),
  millrace_fenced_appends_total: counter("Writes refused because another server has the run"),
  millrace_rings_total: counter("Messages that a run wants a server", "outcome"),
  millrace_dispatcher_up: gauge("1 while what gives runs to servers can be reached"),
  millrace_event_loop_delay_seconds: {
    type: "summary",
    help: "Delay of the event loop; quantiles since the question before, watched from the first question on",
    labels: ["quantile"],
  },
  process_cpu_seconds_total: counter("Processor time of the process"),
  process_cpu_user_seconds_total: counter("Of it in the program"),
  process_cpu_system_seconds_total: counter("Of it in the system"),
  process_start_time_seconds: gauge("Start of the process since 1970"),
  process_resident_memory_bytes: gauge("Resident memory of the process"),
  process_open_fds: gauge("Open files and sockets; on Linux alone"),
  nodejs_heap_size_total_bytes: gauge("Heap of JavaScript"),
  nodejs_heap_size_used_bytes: gauge("Of it in use"),
  nodejs_external_memory_bytes: gauge("Memory of objects outside the heap"),
  nodejs_version_info: gauge("Version of Node.js; always 1", "version"),
} as const satisfies { readonly [name: string]: MetricRow };

export type MetricName = keyof typeof METRICS;

/** Series of one metric at most; what comes later counts under `OTHER` in each label. */
export const MAX_SERIES = 1_000;
export const OTHER = "other";
