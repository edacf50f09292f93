/** Every reason for which a call fails: what is told of it, what follows it, and how often the model was asked. */
import { aiSettings } from "@millrace/ai";
import { NodeError } from "@millrace/contracts";
import { one } from "@millrace/test-support/flows";
import {
  apiError,
  ask,
  type Entry,
  lines,
  scripted,
  startAsk,
} from "@millrace/test-support/models";
import { expect, test } from "vitest";
import { Circuits } from "../src/circuit.ts";

const headers = { responseHeaders: { "Retry-After-Ms": "40" } };
const data = (code: string) => ({ data: { error: { code } } });

/** reason, entry, what follows the first failure with a spare model, what else is told. */
const REASONS: readonly (readonly [string, Entry, "retry" | "failover" | "none", object?])[] = [
  ["rate_limit", { fail: apiError(429, headers) }, "retry", { status: 429, retryAfterMs: 40 }],
  ["quota", { fail: apiError(402) }, "failover", { status: 402 }],
  ["quota", { fail: apiError(429, data("insufficient_quota")) }, "failover"],
  ["server", { fail: apiError(500) }, "retry"],
  ["server", { fail: apiError(529) }, "retry"],
  ["server", { fail: apiError(409) }, "retry"],
  ["server", { fail: apiError(200) }, "retry"],
  ["server", { after: { error: apiError(500) } }, "retry"],
  ["server", { finish: "error" }, "retry"],
  ["server", { after: "end" }, "retry"],
  ["server", { fail: undefined, parts: [] }, "retry"],
  ["timeout", { fail: apiError(408) }, "retry", { status: 408 }],
  ["network", { fail: new NodeError("dns", "no such name") }, "retry"],
  ["network", { fail: new NodeError("tls", "no trust") }, "failover"],
  [
    "network",
    {
      fail: Object.assign(new Error("x"), {
        cause: Object.assign(new Error("y"), { code: "ECONNRESET" }),
      }),
    },
    "retry",
  ],
  ["network", { fail: Object.assign(new Error("x"), { code: "CERT_HAS_EXPIRED" }) }, "failover"],
  ["stream_cut", { text: "a", after: "cut" }, "retry"],
  ["stream_cut", { text: "a", after: "end" }, "retry"],
  ["stream_cut", { text: "a", after: { error: "x" } }, "retry"],
  ["not_found", { fail: apiError(404) }, "failover"],
  [
    "not_found",
    { fail: Object.assign(new Error("m"), { name: "AI_NoSuchModelError" }) },
    "failover",
  ],
  ["context_length", { fail: apiError(413) }, "none"],
  ["context_length", { fail: apiError(400, data("context_length_exceeded")) }, "none"],
  ["content_filter", { fail: apiError(400, data("content_policy_violation")) }, "none"],
  ["content_filter", { finish: "content-filter" }, "none"],
  ["auth", { fail: apiError(401) }, "none"],
  ["auth", { fail: apiError(403) }, "none"],
  ["bad_request", { fail: apiError(422) }, "none"],
  [
    "bad_request",
    { fail: Object.assign(new Error("u"), { name: "AI_UnsupportedFunctionalityError" }) },
    "none",
  ],
  ["egress", { fail: new NodeError("egress_denied", "private-address") }, "none"],
  ["max_output", { text: "x".repeat(1_025) }, "none"],
];

test.each(REASONS)("%s: %o leads to %s", async (...given) => {
  const [reason, entry, next, more = {}] = given as unknown as (typeof REASONS)[number];
  const spare = scripted([{ text: "spare" }], { id: "spare" });
  const { events, summary, mock } = await ask(
    'maxOutputBytes = 1024\nfailover = [{ provider: "spare", modelId: "s" }]',
    [entry, entry],
    { others: [spare] },
  );
  expect(one(events, "llm.failed")).toMatchObject({ reason, next, ...more });
  expect(summary.status).toBe(next === "none" ? "failed" : "succeeded");
  expect([mock.calls.length, spare.calls.length]).toEqual([
    next === "retry" ? 2 : 1,
    next === "none" ? 0 : 1,
  ]);
  if (next === "none") {
    const code = reason === "egress" ? "egress_denied" : `ai_${reason}`;
    expect(summary.error).toMatchObject({ code, retryable: false });
  }
  expect(JSON.stringify(events)).not.toContain("secret");
});

test("a first token that does not come, and silence after one, end the call", async () => {
  const first = await ask("firstTokenMs = 100\nfailoverRetries = 0", [{ after: "hang" }]);
  expect(one(first.events, "llm.failed")).toMatchObject({ reason: "timeout", discarded: 0 });
  const idle = await ask("idleMs = 100\nfailoverRetries = 0", [{ text: "ab", after: "hang" }]);
  expect(one(idle.events, "llm.failed")).toMatchObject({ reason: "stream_cut", discarded: 2 });
  expect(idle.mock.aborted).toEqual(["signal 1", "reader 1"]);
});

test("totalMs ends calls and pauses alike", async () => {
  const call = await ask("totalMs = 100", [{ text: "ab", after: "hang" }]);
  expect(one(call.events, "llm.failed")).toMatchObject({ reason: "deadline", next: "none" });
  expect(call.summary).toMatchObject({ durationMs: 100, error: { code: "ai_deadline" } });
  const wait = await ask("totalMs = 100\nfailoverDelayMs = 60000", [{ fail: apiError(500) }]);
  expect(one(wait.events, "llm.failed")).toMatchObject({ next: "none" });
});

test("a wait that the other side asks for and that is too long is not waited for", async () => {
  const slow = apiError(429, { responseHeaders: { "retry-after": "60" } });
  const { events, summary } = await ask("", [{ fail: slow }, { text: "ok" }]);
  expect(one(events, "llm.failed")).toMatchObject({ retryAfterMs: 60_000, next: "none" });
  expect(summary.error).toMatchObject({ code: "ai_rate_limit", retryable: true, status: 429 });
});

test("a target stands in for its own reasons only; targets are walked forwards", async () => {
  const a = scripted([], { id: "a" });
  const b = scripted([{ text: "ok" }], { id: "b" });
  const { events } = await ask(
    'failover = [{ provider: "a", modelId: "x", on: ["rate_limit"] }, { provider: "b", modelId: "y", on: ["auth"] }]',
    [{ fail: apiError(401) }],
    { others: [a, b] },
  );
  expect(lines(events).filter((line) => line.startsWith("llm.started"))).toEqual([
    "llm.started c1 0 1 generate",
    "llm.started c2 2 1 generate",
  ]);
  expect(one(events, "node.succeeded").output).toMatchObject({ provider: "b", modelId: "y" });
});

test("a target's own parameters replace the node's, its credential is its own", async () => {
  const asked: unknown[] = [];
  const credentials = {
    resolve: async ({ provider, reference }: { provider: string; reference?: string }) => {
      asked.push([provider, reference]);
      return { apiKey: `key-of-${provider}` };
    },
  };
  const spare = scripted([{ text: "echo key-of-spare" }], { id: "spare" });
  const { mock, events } = await ask(
    `credential = "mine"
temperature = 1
topK = 3
failover = [{ provider: "spare", modelId: "s", params: { temperature: 0 } }]`,
    [{ fail: apiError(404) }],
    { others: [spare], ai: { credentials } },
  );
  expect(asked).toEqual([
    ["mock", "mine"],
    ["spare", undefined],
  ]);
  expect(mock.keys).toEqual([{ apiKey: "key-of-mock" }]);
  expect(spare.calls[0]).toMatchObject({ temperature: 0, topK: 3 });
  expect(JSON.stringify(events)).not.toContain("key-of-spare");
});

test.each([
  ["credentials_missing", 5],
  ["credentials_expired", 5],
  ["no_refresh_token", 5],
  ["unavailable", 6],
])("a credential that cannot be had fails with %s and exit code %d", async (code, exitCode) => {
  const credentials = {
    resolve: async () => {
      throw new NodeError(code, "no");
    },
  };
  const { summary, mock, events } = await ask("", [{ text: "never" }], { ai: { credentials } });
  expect(summary).toMatchObject({ exitCode, error: { code } });
  expect(one(events, "llm.failed").next).toBe("none");
  expect(mock.calls).toEqual([]);
});

test("a credential that a flow names and nobody has is missing; without one a provider gets none", async () => {
  const named = await ask('credential = "mine"', [{ text: "never" }]);
  expect(named.summary).toMatchObject({ exitCode: 5, error: { code: "credentials_missing" } });
  const none = await ask("", [{ text: "ok" }]);
  expect(none.mock.keys).toEqual([{}]);
});

test("an unknown provider has exit code 6, and another model stands in for it", async () => {
  const alone = await ask('provider = "ghost"\nmodelId = "m"', []);
  expect(alone.summary).toMatchObject({ exitCode: 6, error: { code: "provider_unavailable" } });
  const both = await ask(
    'provider = "ghost"\nmodelId = "m"\nfailover = [{ provider: "mock", modelId: "m" }]',
    [{ text: "ok" }],
  );
  expect(both.summary.status).toBe("succeeded");
  expect(one(both.events, "llm.failed")).toMatchObject({ reason: "not_found", next: "failover" });
});

test("an unknown specification is refused, and so is a provider that gives no model", async () => {
  for (const model of [{ specificationVersion: "v2", doStream: () => undefined }, "gpt", null]) {
    const odd = { ...scripted([]), languageModel: () => model as never };
    const { start } = await import("@millrace/test-support/flows");
    const { flowOf } = await import("@millrace/test-support/models");
    const { end } = await start(flowOf(""), {
      engine: { settings: [aiSettings({ providers: [odd] })] },
    });
    expect((await end()).error).toMatchObject({ code: "ai_bad_request" });
  }
});

test("a circuit lets one call try after its cool-down, and everything that is open is still tried", async () => {
  const script: Entry[] = [{ fail: apiError(500) }, { text: "first" }, { text: "second" }];
  const ai = { circuit: { failures: 1, coolDownMs: 1_000 } };
  const flow = `failoverRetries = 0\n@retry = { max: 2, delay: 2s, jitter: false, backoff: "constant" }`;
  const { summary, mock } = await ask(flow, script, { ai });
  expect([summary.status, mock.calls.length]).toEqual(["succeeded", 2]);
  const open = await ask(flow.replace("2s", "5ms"), script, { ai });
  expect([open.summary.status, open.mock.calls.length]).toEqual(["succeeded", 2]);
  expect(lines(open.events)).toContain("log ai_circuit_open");
  const off = await ask(`circuit = false\n${flow.replace("2s", "5ms")}`, script, { ai });
  expect(lines(off.events)).not.toContain("log ai_circuit_open");
});

test("a circuit that has opened does not stay open for as long as the clock is set back", () => {
  const circuits = new Circuits({ failures: 1, coolDownMs: 1_000 });
  circuits.end("mock/m", "server", 3_600_000);
  expect(circuits.isOpen("mock/m", 3_600_500)).toBe(true);
  expect(circuits.isOpen("mock/m", 500)).toBe(false);
});

test("cost is added up by the operator's price; more than maxCostUsd is not spent", async () => {
  const ai = { prices: { "mock/m": { input: 1_000_000, output: 500_000 } } };
  const schema = 'task = "extract"\noutputSchema = { type: "integer" }\n';
  const { events, summary } = await ask(`${schema}maxCostUsd = 4`, [{ text: "x" }, { text: "1" }], {
    ai,
  });
  expect(one(events, "llm.finished").costUsd).toBe(4);
  expect(summary).toMatchObject({ costUsd: 4, error: { code: "ai_budget" } });
  const unknown = await ask(`${schema}maxCostUsd = 4`, [{ text: "x" }, { text: "1" }]);
  expect(unknown.summary.status).toBe("succeeded");
  expect(lines(unknown.events)).toContain("log ai_cost_unknown");
});

test("counts that nobody tells are absent, and said once", async () => {
  const { events, summary } = await ask('task = "extract"\noutputSchema = { type: "integer" }', [
    { text: "x", usage: null },
    { text: "1", usage: null },
  ]);
  expect(one(events, "llm.finished")).not.toHaveProperty("usage");
  expect(one(events, "node.succeeded").output).toMatchObject({ usage: null, costUsd: null });
  expect(lines(events).filter((line) => line === "log ai_usage_missing")).toHaveLength(1);
  expect(summary.usage.inputTokens).toBe(0);
});

test("a very long part leaves in slices, and cancelling in between drops the rest", async () => {
  const long = "x".repeat(100_000);
  const { events } = await ask("", [{ text: long }]);
  const deltas = events.filter((e) => e.kind === "llm.delta");
  expect(deltas.map((e) => ("text" in e ? e.text.length : 0))).toEqual([
    ...Array.from({ length: 24 }, () => 4_096),
    1_696,
  ]);
  const started = await startAsk("", [
    {
      text: "ok",
      warnings: [
        { type: "unsupported", feature: "topK" },
        { type: "other", message: "old" },
      ],
    },
  ]);
  await started.end();
  expect(lines(started.events).filter((line) => line.startsWith("log"))).toEqual([
    "log ai_param_unsupported",
    "log ai_provider_warning",
  ]);
});
