/** `/api/metrics`: what is counted, under labels that no request can make up. */
import type { RunningServer } from "@millrace/server";
import { expect, test } from "vitest";
import { METRICS } from "../src/observe/metrics-table.ts";
import { Counts } from "../src/observe/series.ts";
import { ASK_PLAINLY, HELLO, SLEEP } from "./support/flows.ts";
import { invoke, post, serve } from "./support/server.ts";
import { readEvents, readUntil } from "./support/streams.ts";

/** Values by series, as `name{labels}`. */
async function scrape(server: RunningServer): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${server.url}/api/metrics`);
  expect(response.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
  const lines = (await response.text()).split("\n").filter((line) => /^[a-z]/.test(line));
  return new Map(
    lines.map((line) => {
      const space = line.lastIndexOf(" ");
      return [line.slice(0, space), Number(line.slice(space + 1))] as const;
    }),
  );
}

test("requests count by pattern and status, and their times by pattern", async () => {
  const server = await serve();
  await fetch(`${server.url}/api/runs/one`);
  await fetch(`${server.url}/api/runs/two`);
  await fetch(`${server.url}/api/meta`);
  await fetch(`${server.url}/api/whatever-was-asked`);
  const found = await scrape(server);
  const requests = (route: string, status: number) =>
    found.get(`millrace_http_requests_total{route="${route}",status="${status}"}`);
  expect(requests("/api/runs/:runId", 404)).toBe(2);
  expect(requests("/api/meta", 200)).toBe(1);
  expect(requests("none", 404)).toBe(1);
  expect(found.get('millrace_http_request_duration_seconds_count{route="/api/runs/:runId"}')).toBe(
    2,
  );
});

test("events count by kind, commits with their time", async () => {
  const server = await serve();
  const log = await readEvents(await post(server, "/api/run", { dsl: HELLO }));
  const found = await scrape(server);
  for (const kind of new Set(log.map((event) => event.kind))) {
    const count = log.filter((event) => event.kind === kind).length;
    expect(found.get(`millrace_events_total{kind="${kind}"}`), kind).toBe(count);
  }
  expect(found.get("millrace_journal_commit_duration_seconds_count")).toBeGreaterThan(0);
});

test("what is open is counted when somebody asks: runs by state, streams", async () => {
  const server = await serve({ maxLiveRuns: 1 });
  const asking = await post(server, "/api/run", { dsl: ASK_PLAINLY });
  await readUntil(
    await fetch(`${server.url}${asking.headers.get("link")?.slice(1, -16)}`),
    "run.paused",
  );
  await readUntil(
    await post(server, "/api/run", { dsl: SLEEP, options: { onDisconnect: "continue" } }),
    "run.started",
  );
  await invoke(server, "start_run", { dsl: SLEEP });
  const found = await scrape(server);
  const runs = (state: string) => found.get(`millrace_runs{state="${state}"}`);
  expect([runs("running"), runs("paused"), runs("pending"), runs("cancelling")]).toEqual([
    1, 1, 1, 0,
  ]);
  expect(found.get("millrace_streams")).toBeGreaterThanOrEqual(1);
  expect(found.get("millrace_streams_stalled_total")).toBe(0);
  expect(found.get("millrace_schedule_lag_seconds")).toBe(0);
});

test("the process is shown: memory, and the delay of its loop from the second question on", async () => {
  const server = await serve();
  await scrape(server);
  const found = await scrape(server);
  expect(found.get("process_resident_memory_bytes")).toBeGreaterThan(10_000_000);
  for (const quantile of ["0.5", "0.99", "1"]) {
    const delay = found.get(`millrace_event_loop_delay_seconds{quantile="${quantile}"}`);
    expect(delay).toBeGreaterThanOrEqual(0);
    expect(delay).toBeLessThan(60); // seconds, not nanoseconds
  }
});

test("no id, slug, tag, token or query of a request ever becomes a label", async () => {
  const server = await serve({ tokens: ["anna:admin:0123456789abcdef-marker"] });
  const headers = { authorization: "Bearer 0123456789abcdef-marker" };
  const body = { dsl: HELLO, options: { runId: "marker-run", tags: { marker: "marker" } } };
  await readEvents(await post(server, "/api/run", body, { headers }));
  for (const path of ["/api/runs/marker-run", "/api/marker", "/api/templates/marker?q=marker"]) {
    await fetch(server.url + path, { headers });
  }
  await fetch(`${server.url}/api/runs/marker-run`, { method: "MARKER", headers });
  const page = await (await fetch(`${server.url}/api/metrics`, { headers })).text();
  expect(page).not.toMatch(/marker|anna/i);
});

const ASK_MODEL = `flow 1 asks

node ask: ai {
  provider = "mock"
  modelId = "echo"
  input = "hello"
}

node bad: fail {
  message = "no"
}

ask -> bad
`;

test("runs count by their end and what started them, steps by type, models by provider", async () => {
  const server = await serve();
  await readEvents(await post(server, "/api/run", { dsl: HELLO }));
  const log = await readEvents(await post(server, "/api/run", { dsl: ASK_MODEL }));
  const found = await scrape(server);
  expect(found.get('millrace_runs_total{status="succeeded",trigger="api"}')).toBe(1);
  expect(found.get('millrace_runs_total{status="failed",trigger="api"}')).toBe(1);
  expect(found.get('millrace_runs_total{status="cancelled",trigger="webhook"}')).toBe(0);
  expect(found.get("millrace_run_duration_seconds_count")).toBe(2);
  expect(found.get('millrace_nodes_total{type="transform",status="succeeded"}')).toBe(1);
  expect(found.get('millrace_nodes_total{type="fail",status="failed"}')).toBe(1);
  expect(found.get('millrace_llm_calls_total{provider="mock",outcome="finished"}')).toBe(1);
  const { usage } = log.find(({ kind }) => kind === "llm.finished") as unknown as {
    usage: { inputTokens: number };
  };
  expect(found.get('millrace_llm_tokens_total{provider="mock",kind="input"}')).toBe(
    usage.inputTokens,
  );
  expect(found.get("millrace_driven_runs")).toBe(0);
});

test("the page has every metric of the table, with the names that others use for a process", async () => {
  const server = await serve();
  const page = await (await fetch(`${server.url}/api/metrics`)).text();
  for (const [name, { type, help }] of Object.entries(METRICS)) {
    expect(page).toContain(`# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`);
  }
  const found = await scrape(server);
  expect(found.get("millrace_store_up")).toBe(1);
  expect(found.get("millrace_dispatcher_up")).toBe(1);
  expect(page).toMatch(/^millrace_build_info\{version="[^"]+",executor="memory"\} 1$/m);
  expect(found.get("process_cpu_seconds_total")).toBeGreaterThan(0);
  const startedAt = (found.get("process_start_time_seconds") ?? 0) * 1_000;
  expect(Math.abs(startedAt - performance.timeOrigin)).toBeLessThan(1_000);
});

test("a metric has a bounded number of series: what comes later counts as other", () => {
  const counts = new Counts(["type", "status"]);
  for (let at = 0; at < 1_500; at += 1) counts.add([`type-${at}`, "failed"]);
  counts.add(["type-0", "failed"]);
  const found = [...counts.entries()];
  expect(found).toHaveLength(1_001);
  expect(found[0]).toEqual([{ type: "type-0", status: "failed" }, 2]);
  expect(found.at(-1)).toEqual([{ type: "other", status: "other" }, 500]);
});
