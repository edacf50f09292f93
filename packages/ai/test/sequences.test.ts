/** The fourteen sequences of events of an `ai` node, whole. */
import { aiSettings } from "@millrace/ai";
import { one } from "@millrace/test-support/flows";
import { apiError, ask, lines, scripted, startAsk, toolType } from "@millrace/test-support/models";
import { expect, test } from "vitest";

const HEAD = ["run.started", "node.started"];
const DONE = ["node.succeeded", "summary succeeded"];
const c = (n: number, how = "target 0"): string => {
  const [, target = "0", , step = "1", , purpose = "generate"] = how.split(" ");
  return `llm.started c${n} ${target} ${step} ${purpose}`;
};
const LIMITED = { fail: apiError(429, { responseHeaders: { "retry-after": "1" } }) };

test.each(["v3", "v4"] as const)("1: a plain answer of a model of %s", async (version) => {
  const { events } = await ask("", [{ text: ["Hel", "lo"] }], { model: { version } });
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    "llm.delta c1 text 0 Hel",
    "llm.delta c1 text 3 lo",
    "llm.finished c1 stop",
    ...DONE,
  ]);
  expect(one(events, "node.succeeded").output).toEqual({
    output: "Hello",
    text: "Hello",
    finish: "stop",
    provider: "mock",
    modelId: "m",
    usage: { inputTokens: 3, outputTokens: 2, cachedInputTokens: 0 },
    costUsd: null,
    steps: 1,
    toolCalls: [],
  });
});

test("2: limited twice, then the next model", async () => {
  const spare = scripted([{ text: "ok" }], { id: "spare" });
  const { events } = await ask(
    'failover = [{ provider: "spare", modelId: "s" }]',
    [LIMITED, LIMITED],
    { others: [spare] },
  );
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    "llm.failed c1 rate_limit 429 1000 0 retry",
    c(2),
    "llm.failed c2 rate_limit 429 1000 0 failover",
    c(3, "target 1"),
    "llm.delta c3 text 0 ok",
    "llm.finished c3 stop",
    ...DONE,
  ]);
  const [, , , failed, again] = events;
  expect((again?.ts ?? 0) - (failed?.ts ?? 0)).toBe(1_000);
});

test("3: an answer that breaks off begins again from nothing", async () => {
  const { events, mock } = await ask("", [
    { text: "Hello from", after: "cut" },
    { text: ["Hello", " you"] },
  ]);
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    'llm.delta c1 text 0 "Hello from"',
    "llm.failed c1 stream_cut 10 retry",
    c(2),
    "llm.delta c2 text 0 Hello",
    'llm.delta c2 text 5 " you"',
    "llm.finished c2 stop",
    ...DONE,
  ]);
  expect(mock.calls[1]?.prompt).toEqual(mock.calls[0]?.prompt);
});

const SCHEMA = `task = "extract"
outputSchema = { type: "object", properties: { label: { type: "string" } }, required: ["label"] }`;
const WRONG = '{"label":1}';

test("4: an answer that does not fit is repaired", async () => {
  const { events, mock } = await ask(SCHEMA, [{ text: WRONG }, { text: '{"label":"a"}' }]);
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    `llm.delta c1 object 0 ${WRONG}`,
    "llm.finished c1 stop",
    'llm.rejected c1 [{"path":"/label","message":"must be string"}] 1',
    c(2, "target 0 step 1 purpose repair"),
    'llm.delta c2 object 0 {"label":"a"}',
    "llm.finished c2 stop",
    ...DONE,
  ]);
  expect(mock.calls[1]?.prompt.at(-1)?.content).toEqual([
    {
      type: "text",
      text: "Your answer was not accepted:\n- /label: must be string\nAnswer again with the corrected JSON only.",
    },
  ]);
  expect(one(events, "node.succeeded").output).toMatchObject({ output: { label: "a" } });
});

test("5: an answer that never fits fails the node", async () => {
  const { events } = await ask(SCHEMA, [{ text: WRONG }, { text: WRONG }, { text: WRONG }]);
  const problems = '[{"path":"/label","message":"must be string"}]';
  const round = (n: number, purpose: string, repair: number): string[] => [
    c(n, `target 0 step 1 purpose ${purpose}`),
    `llm.delta c${n} object 0 ${WRONG}`,
    `llm.finished c${n} stop`,
    `llm.rejected c${n} ${problems} ${repair}`,
  ];
  expect(lines(events)).toEqual([
    ...HEAD,
    ...round(1, "generate", 1),
    ...round(2, "repair", 2),
    ...round(3, "repair", 0),
    "node.failed ai_output_schema none",
    "summary failed",
  ]);
});

const TOOLS = 'tools = ["action:test.slow", "action:test.quick"]';
const BOTH = { tools: [{ name: "test_slow" }, { name: "test_quick" }] };

test("6: two tools at once; the next call waits for both", async () => {
  let release: () => void = () => undefined;
  const slow = toolType("slow", () => new Promise((go) => (release = () => go({ value: "s" }))));
  const quick = toolType("quick", () => ({ value: "q" }));
  const started = await startAsk(TOOLS, [BOTH, { text: "done" }], { types: [slow, quick] });
  release();
  const summary = await started.end();
  expect(lines(started.events)).toEqual([
    ...HEAD,
    c(1),
    "llm.finished c1 tool_calls",
    "tool.started t1 action:test.slow c1",
    "tool.started t2 action:test.quick c1",
    "tool.finished t2 ok",
    "tool.finished t1 ok",
    c(2, "target 0 step 2"),
    "llm.delta c2 text 0 done",
    "llm.finished c2 stop",
    ...DONE,
  ]);
  expect(summary.status).toBe("succeeded");
  expect(started.mock.calls[1]?.prompt.at(-1)).toEqual({
    role: "tool",
    content: ["slow", "quick"].map((name, at) => ({
      type: "tool-result",
      toolCallId: `p${at}`,
      toolName: `test_${name}`,
      output: { type: "text", value: `{"value":"${name[0]}"}` },
    })),
  });
});

const WRITE = 'tools = ["action:test.write"]';
const WRITES = { tools: [{ name: "test_write", input: { q: "x" } }] };
const ASKED = [
  ...HEAD,
  c(1),
  "llm.finished c1 tool_calls",
  'confirm.requested k1 "Allow action:test.write?" t1',
  'node.waiting confirm ["k1"]',
  'run.paused confirmation ["k1"]',
];
const write = () => toolType("write", () => ({ value: 1 }), "write");

test("7: a tool that a person allows", async () => {
  const type = write();
  const started = await startAsk(WRITE, [WRITES, { text: "done" }], { types: [type] });
  expect(lines(started.events)).toEqual(ASKED);
  expect(type.calls).toEqual([]);
  expect(one(started.events, "confirm.requested").tool).toEqual({
    call: "t1",
    name: "action:test.write",
    args: { q: "x" },
  });
  await started.run.confirm("k1", { decision: "approve" });
  await started.end();
  expect(lines(started.events).slice(ASKED.length)).toEqual([
    "confirm.resolved k1 approved",
    "run.resumed confirmation",
    "node.resumed",
    "tool.started t1 action:test.write c1",
    "tool.finished t1 ok",
    c(2, "target 0 step 2"),
    "llm.delta c2 text 0 done",
    "llm.finished c2 stop",
    ...DONE,
  ]);
  expect(type.calls).toHaveLength(1);
});

test("8: a tool that a person rejects; the model is told", async () => {
  const type = write();
  const started = await startAsk(WRITE, [WRITES, { text: "done" }], { types: [type] });
  await started.run.confirm("k1", { decision: "reject", comment: "Not today." });
  await started.end();
  expect(lines(started.events).slice(ASKED.length)).toEqual([
    "confirm.resolved k1 rejected",
    "run.resumed confirmation",
    "node.resumed",
    "tool.started t1 action:test.write c1",
    "tool.finished t1 denied confirm_rejected",
    c(2, "target 0 step 2"),
    "llm.delta c2 text 0 done",
    "llm.finished c2 stop",
    ...DONE,
  ]);
  expect(type.calls).toEqual([]);
  expect(started.mock.calls[1]?.prompt.at(-1)?.content).toMatchObject([
    { output: { type: "execution-denied", reason: "Denied by a person. Not today." } },
  ]);
});

test("9: a cancel in the middle of an answer", async () => {
  const started = await startAsk("", [{ text: ["abc", "def"], after: "hang" }]);
  started.run.cancel();
  const summary = await started.end();
  expect(lines(started.events)).toEqual([
    ...HEAD,
    c(1),
    "llm.delta c1 text 0 abc",
    "run.cancelling",
    "llm.delta c1 text 3 def",
    "llm.failed c1 aborted 6 none",
    "node.cancelled",
    "summary cancelled",
  ]);
  expect(summary.durationMs).toBe(0);
  expect(started.mock.aborted).toEqual(["signal 1", "reader 1"]);
});

test("10: a cancel while a person is asked", async () => {
  const started = await startAsk(WRITE, [WRITES], { types: [write()] });
  started.run.cancel();
  await started.end();
  expect(lines(started.events).slice(ASKED.length)).toEqual([
    "run.cancelling",
    "confirm.resolved k1 cancelled",
    "node.cancelled",
    "summary cancelled",
  ]);
});

test("11: every model fails; the node fails for the reason of the last call", async () => {
  const spare = scripted([{ fail: apiError(401) }], { id: "spare" });
  const { summary, events } = await ask(
    'failover = [{ provider: "spare", modelId: "s" }]',
    [{ fail: apiError(500) }, { fail: apiError(503) }],
    { others: [spare] },
  );
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    "llm.failed c1 server 500 0 retry",
    c(2),
    "llm.failed c2 server 503 0 failover",
    c(3, "target 1"),
    "llm.failed c3 auth 401 0 none",
    "node.failed ai_auth none",
    "summary failed",
  ]);
  expect(summary.exitCode).toBe(5);
  expect(summary.error).toMatchObject({ status: 401, retryable: false });
  expect(JSON.stringify(events)).not.toContain("secret");
});

test("12: a model that keeps failing is passed over", async () => {
  const spare = scripted([{ text: "b" }, { text: "ok" }], { id: "spare" });
  const mock = scripted([{ fail: apiError(500) }]);
  const flow = (id: string, after: string): string =>
    `node ${id}: ai {\n  provider = "mock"\n  modelId = "m"\n  input = "hi"\n  failoverRetries = 0\n` +
    `  failover = [{ provider: "spare", modelId: "s" }]\n}\n${after}`;
  const { start } = await import("@millrace/test-support/flows");
  const { events, end } = await start(flow("one", flow("ask", "one -> ask\n")), {
    engine: { settings: [aiSettings({ providers: [mock, spare], circuit: { failures: 1 } })] },
  });
  await end();
  const shown = lines(events);
  expect(shown.slice(shown.indexOf("node.started"))).toEqual([
    "node.started",
    "log ai_circuit_open",
    c(3, "target 1"),
    "llm.delta c3 text 0 ok",
    "llm.finished c3 stop",
    ...DONE,
  ]);
  expect(mock.calls).toHaveLength(1);
});

test("13: a check that fails asks again", async () => {
  const { events, mock } = await ask(
    'expect = [{ kind: "contains", value: "Order", onFail: "retry", message: "name the order" }]',
    [{ text: "none" }, { text: "Order 7" }],
  );
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    "llm.delta c1 text 0 none",
    "llm.finished c1 stop",
    "node.checked 0 contains false error",
    c(2, "target 0 step 2"),
    'llm.delta c2 text 0 "Order 7"',
    "llm.finished c2 stop",
    "node.checked 0 contains true error",
    ...DONE,
  ]);
  expect(mock.calls[1]?.prompt.at(-1)?.content).toEqual([
    { type: "text", text: "Your answer was not accepted:\n- name the order\nAnswer again." },
  ]);
});

test("14: another model goes on after a tool, which is not run again", async () => {
  const quick = toolType("quick", () => ({ value: 1 }));
  const spare = scripted([{ text: "done" }], { id: "spare" });
  const { events } = await ask(
    'tools = ["action:test.quick"]\nfailoverRetries = 0\nfailover = [{ provider: "spare", modelId: "s" }]',
    [
      { reasoning: "hm", tools: [{ name: "test_quick" }] },
      { text: "par", after: "cut" },
    ],
    { types: [quick], others: [spare] },
  );
  expect(lines(events)).toEqual([
    ...HEAD,
    c(1),
    "llm.delta c1 reasoning 0 hm",
    "llm.finished c1 tool_calls",
    "tool.started t1 action:test.quick c1",
    "tool.finished t1 ok",
    c(2, "target 0 step 2"),
    "llm.delta c2 text 0 par",
    "llm.failed c2 stream_cut 3 failover",
    c(3, "target 1 step 2"),
    "llm.delta c3 text 0 done",
    "llm.finished c3 stop",
    ...DONE,
  ]);
  expect(quick.calls).toHaveLength(1);
  expect(JSON.stringify(spare.calls[0]?.prompt)).not.toMatch(/reasoning|signature/);
});
