/** Traces: what a receiver on loopback gets of runs and requests, and what a run notices of it: nothing. */
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { RunRef } from "@millrace/contracts";
import { openMemoryStore } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { serveHttp } from "@millrace/test-support/loopback";
import { type ReceivedSpan, startReceiver } from "@millrace/test-support/otlp";
import { startRun } from "@millrace/test-support/store";
import { expect, onTestFinished, test } from "vitest";
import { Traces } from "../src/observe/traces/traces.ts";
import { ASK_PLAINLY, HELLO } from "./support/flows.ts";
import { invoke, type KeptLog, keepLog, post, serve } from "./support/server.ts";
import { readEvents } from "./support/streams.ts";

const SECRET = "do-not-tell-anybody";
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331" };
const LOOPBACK = { egress: { allow: [{ cidr: "127.0.0.1/32" }] } } as const;

const variables = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
  OTEL_BSP_SCHEDULE_DELAY: "20",
});

/** Files of the libraries that this process has loaded. */
const loaded = (): readonly string[] =>
  Object.keys(createRequire(import.meta.url).cache).filter((path) =>
    /@opentelemetry[+/](?:sdk|exporter|otlp|resources)/.test(path),
  );

/** A service that is busy at the first call and answers the second; the headers that it got. */
async function busyOnce(): Promise<{ readonly url: string; readonly seen: string[] }> {
  const seen: string[] = [];
  const { url } = await serveHttp((request, response) => {
    seen.push(String(request.headers["traceparent"]));
    response.writeHead(seen.length === 1 ? 503 : 200, { "content-type": "text/plain" }).end("ok");
  });
  return { url, seen };
}

const flowOver = (url: string): string => `flow 1 story

input key: string

node fetch: http.request {
  url = "${url}/items/\${inputs.key}?q=\${inputs.key}"
  @retry = { max: 1, delay: 1ms, jitter: false }
}

node ask: ai {
  provider = "mock"
  modelId = "echo"
  input = "\${inputs.key} \${fetch.body}"
}

node each: map {
  items = [1]
  body {
    node bad: fail {
      message = "\${inputs.key}"
    }
  }
}

fetch -> each
ask -> each
`;

const linesOf = ({ lines }: KeptLog, message: string) =>
  lines.filter((line) => line.message === message).map(({ level, fields }) => ({ level, fields }));

test("without a receiver no library is loaded, and no header is sent or kept", async () => {
  const { url, seen } = await busyOnce();
  const server = await serve({ ...LOOPBACK, env: { OTEL_SERVICE_NAME: "shop" } });
  const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` };
  const body = { dsl: flowOver(url), inputs: { key: SECRET } };
  await readEvents(await post(server, "/api/run", body, { headers }));
  expect(seen).toEqual(["undefined", "undefined"]);
  expect(loaded()).toEqual([]);
});

test("a request, its run, its steps, their tries, calls of models and requests are one trace without content", async () => {
  const receiver = await startReceiver();
  const { url, seen } = await busyOnce();
  const key = join(temporaryFolder(), "headers");
  writeFileSync(key, "x-api-key=the%20key\n");
  const log = keepLog();
  const env = {
    ...{ ...variables(receiver.url), OTEL_SERVICE_NAME: "shop" },
    ...{ OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=test" },
    OTEL_EXPORTER_OTLP_HEADERS_FILE: key,
  };
  const server = await serve({ ...LOOPBACK, log, env });
  expect(loaded()).not.toEqual([]);
  const headers = { traceparent: `00-${CALLER.traceId}-${CALLER.spanId}-01` };
  const body = { dsl: flowOver(url), inputs: { key: SECRET } };
  const events = await readEvents(await post(server, "/api/run", body, { headers }));
  expect(events.at(-1)).toMatchObject({ status: "failed" });
  await expect.poll(() => receiver.spans.map(({ name }) => name)).toContain("POST /api/run");
  await expect.poll(() => receiver.spans.map(({ name }) => name)).toContain("run story");

  const { spans } = receiver;
  const named = (span: ReceivedSpan): string => {
    const { name, status, attributes } = span;
    const code = status.code === 2 ? ` !${status.message}` : "";
    const { "http.response.status_code": answer } = attributes;
    return `${name}${code}${answer === undefined ? "" : ` ${answer}`}`;
  };
  const pathOf = (span: ReceivedSpan): string => {
    const parent = spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? named(span) : `${pathOf(parent)} > ${named(span)}`;
  };
  const run = "POST /api/run 200 > run story !item_failed";
  const each = `${run} > node each !item_failed > attempt 1 !item_failed`;
  expect(spans.map(pathOf).sort()).toEqual(
    [
      ...["POST /api/run 200", run],
      ...[`${run} > node fetch`, `${run} > node fetch > attempt 1 !http_status`],
      `${run} > node fetch > attempt 1 !http_status > GET !503 503`,
      ...[`${run} > node fetch > attempt 2`, `${run} > node fetch > attempt 2 > GET 200`],
      ...[`${run} > node ask`, `${run} > node ask > attempt 1`],
      `${run} > node ask > attempt 1 > chat echo`,
      ...[`${run} > node each !item_failed`, each],
      ...[`${each} > node bad !failed`, `${each} > node bad !failed > attempt 1 !failed`],
    ].sort(),
  );
  expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([CALLER.traceId]));
  const of = (name: string) => spans.find((span) => span.name === name) as ReceivedSpan;
  expect(of("POST /api/run").parentSpanId).toBe(CALLER.spanId);
  expect(of("POST /api/run").resource).toMatchObject({
    "service.name": "shop",
    "deployment.environment.name": "test",
  });
  expect(of("chat echo").attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "mock",
    "gen_ai.request.model": "echo",
    "gen_ai.usage.input_tokens": expect.any(Number),
    "gen_ai.usage.output_tokens": expect.any(Number),
  });
  const requests = spans.filter(({ name }) => name === "GET");
  expect(seen).toEqual(requests.map((span) => `00-${CALLER.traceId}-${span.spanId}-01`));
  const { runId } = events[0] as { runId: string };
  expect(of("run story").attributes).toMatchObject({ "millrace.run.id": runId });
  const ended = { fields: expect.objectContaining({ runId, trace_id: CALLER.traceId }) };
  expect(linesOf(log, "run.ended")).toEqual([expect.objectContaining(ended)]);
  expect(receiver.requests[0]?.headers).toMatchObject({ "x-api-key": "the key" });
  expect(Buffer.concat(receiver.requests.map((one) => one.body)).toString()).not.toContain(SECRET);
});

test("a run that another process goes on with stays in its trace, and each of its spans is sent once", async () => {
  const receiver = await startReceiver();
  const env = { ...variables(receiver.url), MILLRACE_CREDENTIALS_STORE: "memory" };
  const store = temporaryFolder();
  const first = await serve({ store, env });
  const { runId } = await invoke<RunRef>(first, "start_run", { dsl: ASK_PLAINLY });
  await expect.poll(() => invoke(first, "get_run", { runId })).toMatchObject({ status: "paused" });
  await first.close({ graceMs: 0 });
  const second = await serve({ store, env });
  const answer = { runId, confirmationId: "k1", decision: "approve" };
  await invoke(second, "resolve_confirmation", answer);
  await expect
    .poll(() => invoke(second, "get_run", { runId }))
    .toMatchObject({ status: "succeeded" });
  await second.close({ graceMs: 0 });

  const started = receiver.spans.find((span) => span.attributes["http.route"] === "/api/invoke");
  const ofRun = receiver.spans.filter(({ name }) => /^(?:run|node|attempt) /.test(name));
  expect(ofRun.map(({ name }) => name).sort()).toEqual([
    ...["attempt 1", "attempt 1", "node ask", "node yes", "run ask-plainly"],
  ]);
  const run = ofRun.find(({ name }) => name.startsWith("run ")) as ReceivedSpan;
  expect(run).toMatchObject({ traceId: started?.traceId, parentSpanId: started?.spanId });
  for (const span of ofRun) expect(span.traceId).toBe(run.traceId);
  for (const { name, parentSpanId } of ofRun) {
    if (name.startsWith("node ")) expect(parentSpanId).toBe(run.spanId);
  }
});

test("only runs that this process drives are remembered", async () => {
  const store = openMemoryStore({ now: () => 0 });
  onTestFinished(() => store.close());
  const sink = { samples: () => true, send: () => {}, close: async () => {} };
  const traces = new Traces(sink);
  const journal = traces.watched(store.journal);
  const header = (runId: string) => startRun(1, { runId });
  await journal.create(header("free"), undefined, { isFree: true });
  expect(traces.traceOf("free")).toBeUndefined();
  const { epoch } = await journal.create(header("own"));
  expect(traces.traceOf("own")).toBeDefined();
  await journal.release("own", epoch);
  expect(traces.traceOf("own")).toBeUndefined();
  const request = { method: "GET", url: "https://a.test/", headers: {} };
  traces.request({ runId: "own", node: "n", attempt: 1 }, request);
  expect(traces.traceOf("own")).toBeUndefined();
});

test.each([
  ["never answers", "never"],
  ["refuses", 400],
] as const)(
  "a receiver that %s costs one line of the log, and neither a run nor the stop waits for it",
  async (_name, answers) => {
    const receiver = await startReceiver(answers);
    const log = keepLog();
    const limits = { OTEL_EXPORTER_OTLP_TIMEOUT: "200", OTEL_BSP_MAX_QUEUE_SIZE: "4" };
    const server = await serve({ log, env: { ...variables(receiver.url), ...limits } });
    for (let i = 0; i < 3; i += 1) {
      const events = await readEvents(await post(server, "/api/run", { dsl: HELLO }));
      expect(events.at(-1)).toMatchObject({ status: "succeeded" });
    }
    await expect.poll(() => linesOf(log, "traces.lost").length).toBe(1);
    await server.close({ graceMs: 0 });
    expect(linesOf(log, "traces.lost")).toHaveLength(1);
  },
);

test("the default form is that of protobuf, a protocol that is not known is said, and a sampler decides", async () => {
  const receiver = await startReceiver();
  const { OTEL_EXPORTER_OTLP_PROTOCOL: _, ...env } = variables(receiver.url);
  const run = async (more: object): Promise<KeptLog> => {
    const log = keepLog();
    const server = await serve({ log, env: { ...env, ...more } });
    await readEvents(await post(server, "/api/run", { dsl: HELLO }));
    await server.close({ graceMs: 0 });
    return log;
  };
  await run({ OTEL_TRACES_SAMPLER: "parentbased_always_off" });
  await run({ OTEL_SDK_DISABLED: "true" });
  const log = await run({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
  expect(linesOf(log, "traces.not_opened")).toMatchObject([
    { level: "warn", fields: { problem: expect.stringContaining("grpc is not known") } },
  ]);
  expect(receiver.requests).toEqual([]);
  await run({});
  expect(receiver.requests[0]?.headers["content-type"]).toBe("application/x-protobuf");
});
