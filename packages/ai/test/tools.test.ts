/** Tools of an `ai` node: flows and actions; what the model is shown and told of them. Those of servers: `server-tools.test.ts`. */
import { aiPack } from "@millrace/ai";
import { NodeError } from "@millrace/contracts";
import { parseFlow } from "@millrace/dsl";
import { kinds, one } from "@millrace/test-support/flows";
import {
  type AiSetup,
  ask,
  type Entry,
  lines,
  resultsOf,
  scripted,
  startAsk,
  toolType,
} from "@millrace/test-support/models";
import { expect, test } from "vitest";

const call = (name: string, input: unknown = {}): Entry => ({ tools: [{ name, input }] });
const DONE: Entry = { text: "done" };

/** Runs one call of a tool and answers what the model is told. */
async function told(fields: string, entry: Entry, setup: AiSetup = {}): Promise<unknown[]> {
  const { mock } = await ask(fields, [entry, DONE], setup);
  return resultsOf(mock).map(({ output }) => output);
}

const CHILD = `flow 1 child {
  title = "Adds one"
}
input n: int
input more: string = "x"
node t: transform { value = inputs.n + 1 }
node bad: fail { message = "too big", code = "too_big" @when = inputs.n > 5 }
output sum = t.value
`;

function flows(text: string): AiSetup {
  const { graph, diagnostics } = parseFlow(text);
  expect(diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  return {
    subflows: { get: async ({ slug }) => (slug === "child" ? { graph, digest: "" } : null) },
  };
}

const child = flows(CHILD.replace("@when", "\n  @when").replace(", code", "\n  code"));

test("a flow is a tool: its inputs are the schema, its outputs the result, its nodes are in the log", async () => {
  const script = [call("flow_child", { n: 1 }), call("flow_child", { n: 2 }), DONE];
  const { events, mock, summary } = await ask('tools = ["flow:child"]', script, child);
  expect(mock.calls[0]?.tools).toEqual([
    {
      type: "function",
      name: "flow_child",
      description: "Adds one",
      inputSchema: {
        type: "object",
        properties: { n: { type: "integer" }, more: { type: "string" } },
        required: ["n"],
        additionalProperties: false,
      },
    },
  ]);
  expect(lines(events).filter((line) => line.startsWith("node.started"))).toEqual([
    "node.started",
    "node.started (ask[0]/t)",
    "node.started (ask[1]/t)",
  ]);
  expect(mock.calls[2]?.prompt.at(-1)?.content).toMatchObject([{ output: { value: '{"sum":3}' } }]);
  expect(one(events, "node.succeeded", "ask").output).toMatchObject({
    steps: 3,
    toolCalls: [
      { call: "t1", tool: "flow:child", outcome: "ok" },
      { call: "t2", tool: "flow:child", outcome: "ok" },
    ],
  });
  expect(summary.bodyCounts).toMatchObject({ succeeded: 2 });
});

test("a flow that fails, and inputs that do not fit, are results", async () => {
  expect(await told('tools = ["flow:child"]', call("flow_child", { n: 7 }), child)).toEqual([
    { type: "error-text", value: "Tool failed: too_big: too big" },
  ]);
  expect(await told('tools = ["flow:child"]', call("flow_child", { n: "7" }), child)).toEqual([
    { type: "error-text", value: expect.stringMatching(/^Tool failed: bad_args: \/n must be /) },
  ]);
});

test("a flow as a tool gives its node's slots to the nodes within, so one slot is enough", async () => {
  const inner = flows(
    'flow 1 child\nnode deep: ai {\n  provider = "mock"\n  modelId = "m"\n  input = "x"\n}\noutput t = deep.text\n',
  );
  const engine = { concurrency: { run: 1, types: { ai: 1 } } };
  const script = [call("flow_child"), { text: "inner" }, DONE];
  const { events } = await ask('tools = ["flow:child"]', script, { ...inner, engine });
  expect(one(events, "node.succeeded", "ask").output).toMatchObject({ text: "done" });
  expect(one(events, "node.succeeded", "ask[0]/deep").output).toMatchObject({ text: "inner" });
});

test("a flow that calls the node's own flow as a tool is refused before a run", async () => {
  const { compileFlow, createRegistry } = await import("@millrace/engine");
  const text = 'flow 1 child\nnode a: ai { input = "x"\n  tools = ["flow:child"] }\n';
  const { graph } = parseFlow(text);
  const { diagnostics } = await compileFlow(graph, {
    registry: createRegistry([aiPack()]),
    subflows: { get: async () => ({ graph, digest: "" }) },
  });
  expect(diagnostics.map(({ code }) => code)).toContain("FLOW4010");
});

test("a question within a flow that is a tool leaves the node at work; its answer goes on", async () => {
  const asks = flows(
    'flow 1 child\nnode ok: confirm { prompt = "Sure?" }\noutput o = ok.outcome\n',
  );
  const started = await startAsk('tools = ["flow:child"]', [call("flow_child"), DONE], asks);
  expect(kinds(started.events)).not.toContain("run.paused");
  await started.run.confirm("k1", { decision: "approve" });
  expect((await started.end()).status).toBe("succeeded");
});

test("arguments that are broken, unknown tools and tools that throw are results", async () => {
  const boom = toolType("boom", () => {
    throw new NodeError("no_stock", "nothing left");
  });
  const odd = toolType("odd", () => {
    throw new Error("secret stack");
  });
  const fields = 'tools = ["action:test.boom", "action:test.odd"]';
  const script: Entry = {
    tools: [
      { name: "test_boom", input: "{broken" },
      { name: "test_boom", input: "[1]" },
      { name: "test_boom", input: { z: 1 } },
      { name: "nothing", input: {} },
      { name: "test_boom", input: "" },
      { name: "test_odd", input: {} },
    ],
  };
  const setup = { types: [boom, odd] };
  const { mock, events } = await ask(fields, [script, DONE], setup);
  const results = resultsOf(mock);
  expect(results.map(({ output }) => output.value.replace(/(bad_args): .*/, "$1"))).toEqual([
    "Tool failed: bad_args",
    "Tool failed: bad_args",
    "Tool failed: bad_args",
    "Tool failed: unknown_tool: there is no tool nothing; there are: test_boom, test_odd",
    "Tool failed: no_stock: nothing left",
    "Tool failed: extension_threw: test.odd threw Error; its message is withheld from the log: see onError, or run with --verbose",
  ]);
  expect(kinds(events).filter((kind) => kind === "tool.started")).toHaveLength(6);
  expect(boom.calls).toHaveLength(1);
  expect(JSON.stringify(events)).not.toContain("secret stack");
});

test("a tool that hangs is given up after its time; what it still does has no effect", async () => {
  const hang = toolType("hang", () => new Promise(() => {}));
  const { events, mock } = await ask(
    'tools = [{ ref: "action:test.hang", timeoutMs: 250 }]',
    [call("test_hang"), DONE],
    { types: [hang] },
  );
  expect(one(events, "tool.finished")).toMatchObject({
    outcome: "error",
    error: { code: "timeout" },
    durationMs: 250,
  });
  expect(mock.calls).toHaveLength(2);
});

test("a flow that takes too long is stopped, and its nodes end before the tool does", async () => {
  const slow = flows("flow 1 child\nnode d: delay { for = 10s }\n");
  const { events, summary } = await ask(
    'tools = [{ ref: "flow:child", timeoutMs: 250 }]',
    [call("flow_child"), DONE],
    slow,
  );
  const shown = lines(events);
  expect(shown.indexOf("node.cancelled (ask[0]/d)")).toBeLessThan(
    shown.indexOf("tool.finished t1 error timeout"),
  );
  expect(summary.status).toBe("succeeded");
});

test("fifty megabytes of a tool are cut on the border of a character", async () => {
  const big = toolType("big", () => ({ value: "é".repeat(25 * 1_048_576) }));
  const { mock, events } = await ask(
    'maxToolBytes = 1024\ntools = ["action:test.big"]',
    [call("test_big"), DONE],
    { types: [big] },
  );
  const output = resultsOf(mock)[0]?.output.value ?? "";
  const [kept = "", note] = output.split("[cut: ");
  expect(new TextEncoder().encode(kept).length).toBeLessThanOrEqual(1_024);
  expect(kept).toMatch(/^\{"value":"é+$/);
  expect(note).toBe(`${25 * 1_048_576 * 2 + 12 - new TextEncoder().encode(kept).length} bytes]`);
  expect(lines(events)).toContain("log ai_tool_result_cut");
});

test("pinned arguments are not shown and win; the author's name and description are shown", async () => {
  const type = toolType("t", () => ({ value: 1 }));
  const { mock } = await ask(
    'tools = [{ ref: "action:test.t", name: "my tool", description: "Does it.", with: { q: inputs.who } }]',
    [call("my_tool", { q: "evil", n: 2 }), DONE],
    { types: [type], inputs: { who: "me" } },
    "input who: string",
  );
  expect(mock.calls[0]?.tools).toEqual([
    {
      type: "function",
      name: "my_tool",
      description: "Does it.",
      inputSchema: {
        type: "object",
        properties: { n: { type: "integer" } },
        required: [],
        additionalProperties: false,
      },
    },
  ]);
  expect(type.calls).toEqual([{ n: 2, q: "me" }]);
});

test("a condition decides who is asked; one that cannot be evaluated asks", async () => {
  const run = async (confirm: string, n: number) => {
    const type = toolType("t", () => ({ value: 1 }));
    const fields = `tools = [{ ref: "action:test.t", confirm: ${confirm} }]`;
    const setup = { types: [type], run: { confirm: () => ({ decision: "reject" as const }) } };
    const { events } = await ask(fields, [call("test_t", { n }), DONE], setup);
    return [kinds(events).includes("confirm.requested"), type.calls.length];
  };
  expect(await run("args.n > 1", 1)).toEqual([false, 1]);
  expect(await run("args.n > 1", 2)).toEqual([true, 0]);
  expect(await run("args.missing.deep", 1)).toEqual([true, 0]);
  expect(await run("true", 1)).toEqual([true, 0]);
});

test("an action whose fixed fields only read asks nobody; with fields that the model decides it asks", async () => {
  const run = async (fixed: string) => {
    const type = {
      ...toolType("t", () => ({ value: 1 }), "write"),
      effectOf: (fields: { readonly [name: string]: unknown }) =>
        "q" in fields && fields["q"] !== "read" ? ("write" as const) : ("read" as const),
    };
    const fields = `tools = [{ ref: "action:test.t"${fixed} }]`;
    const setup = { types: [type], run: { confirm: () => ({ decision: "reject" as const }) } };
    const { events } = await ask(fields, [call("test_t", {}), DONE], setup);
    return kinds(events).includes("confirm.requested");
  };
  expect(await run(', with: { q: "read" }')).toBe(false);
  expect(await run(', with: { q: "other" }')).toBe(true);
  expect(await run("")).toBe(true);
});

test("an action that reads asks where the model writes its code, and not where the flow fixes it", async () => {
  const run = async (fixed: string) => {
    const type = toolType("t", () => ({ value: 1 }));
    const properties = { q: { type: "string", "x-millrace": { literal: true, sink: "sql" } } };
    const types = [{ ...type, entry: { ...type.entry, fields: { type: "object", properties } } }];
    const fields = `tools = [{ ref: "action:test.t"${fixed} }]`;
    const setup = { types, run: { confirm: () => ({ decision: "reject" as const }) } };
    const { events } = await ask(
      fields,
      [call("test_t", fixed === "" ? { q: "select 1" } : {}), DONE],
      setup,
    );
    return kinds(events).includes("confirm.requested");
  };
  expect(await run("")).toBe(true);
  expect(await run(', with: { q: "select 2" }')).toBe(false);
});

test("at most parallelTools are at work, and results keep the order of the calls", async () => {
  let now = 0;
  let most = 0;
  const type = toolType("t", async ({ n }) => {
    now += 1;
    most = Math.max(most, now);
    await new Promise((go) => setImmediate(go));
    now -= 1;
    return { value: n };
  });
  const tools = Array.from({ length: 7 }, (_, n) => ({ name: "test_t", input: { n } }));
  const { mock } = await ask('parallelTools = 2\ntools = ["action:test.t"]', [{ tools }, DONE], {
    types: [type],
  });
  expect(most).toBe(2);
  const results = resultsOf(mock);
  expect(results.map(({ output }) => output.value)).toEqual(tools.map((_, n) => `{"value":${n}}`));
});

test("two questions are asked at once, and the others do not wait for them", async () => {
  const w = toolType("w", ({ n }) => ({ value: n }), "write");
  const r = toolType("r", () => ({ value: 0 }));
  const tools = [
    { name: "test_w", input: { n: 1 } },
    { name: "test_r" },
    { name: "test_w", input: { n: 2 } },
  ];
  const fields = 'tools = ["action:test.w", "action:test.r"]';
  const started = await startAsk(fields, [{ tools }, DONE], { types: [w, r] });
  expect(started.run.confirmations().map(({ id }) => id)).toEqual(["k1", "k2"]);
  expect(r.calls).toHaveLength(1);
  expect(kinds(started.events).filter((kind) => kind === "node.waiting")).toHaveLength(1);
  await started.run.confirm("k2", { decision: "approve" });
  await started.run.confirm("k1", { decision: "reject" });
  await started.end();
  expect(w.calls).toEqual([{ n: 2 }]);
  expect(one(started.events, "node.succeeded").output).toMatchObject({
    toolCalls: [{ outcome: "denied" }, { outcome: "ok" }, { outcome: "ok" }],
  });
});

test("time stands still while a person is asked", async () => {
  const w = toolType("w", () => ({ value: 1 }), "write");
  const fields = 'totalMs = 100\ntools = ["action:test.w"]';
  const started = await startAsk(fields, [call("test_w"), DONE], { types: [w] });
  await started.clock.advance(3_600_000);
  await started.run.confirm("k1", { decision: "approve" });
  expect((await started.end()).status).toBe("succeeded");
});

test("maxSteps calls are made; the last text or a failure follows", async () => {
  const type = toolType("t", () => ({ value: 1 }));
  const script = [call("test_t"), { text: "so far", tools: [{ name: "test_t" }] }];
  const fields = 'maxSteps = 2\ntools = ["action:test.t"]';
  const failed = await ask(fields, script, { types: [type] });
  expect(failed.summary.error?.code).toBe("ai_max_steps");
  const kept = await ask(`${fields}\nonMaxSteps = "return"`, script, { types: [type] });
  expect(one(kept.events, "node.succeeded").output).toMatchObject({
    text: "so far",
    finish: "max_steps",
    steps: 2,
  });
  expect(kept.mock.calls).toHaveLength(2);
});

test("toolChoice required holds for the first step; a model without tools is refused", async () => {
  const type = toolType("t", () => ({ value: 1 }));
  const fields = 'toolChoice = "required"\ntools = ["action:test.t"]';
  const { mock } = await ask(fields, [call("test_t"), DONE], { types: [type] });
  expect(mock.calls.map(({ toolChoice }) => toolChoice?.type)).toEqual(["required", "auto"]);
  const without = await ask(fields, [DONE], {
    types: [type],
    model: { capabilities: { tools: false } },
  });
  expect(without.summary.error?.code).toBe("ai_bad_request");
});

test("another model's answer to tools carries no marks of the first", async () => {
  const type = toolType("t", () => ({ value: 1 }));
  const spare = scripted([DONE], { id: "spare" });
  const marked: Entry = {
    parts: [
      {
        type: "tool-call",
        toolCallId: "p",
        toolName: "test_t",
        input: "{}",
        providerMetadata: { mock: { sig: "s" } },
      },
      { type: "finish", finishReason: "tool-calls", usage: { inputTokens: 1, outputTokens: 1 } },
    ],
  };
  const { mock } = await ask(
    'failoverRetries = 0\ntools = ["action:test.t"]\nfailover = [{ provider: "spare", modelId: "s" }]',
    [marked, { after: "cut" }],
    { types: [type], others: [spare] },
  );
  expect(JSON.stringify(mock.calls[1]?.prompt)).toContain('"sig"');
  expect(JSON.stringify(spare.calls[0]?.prompt)).not.toContain('"sig"');
});

test("arguments whose names say that they are secret are hidden from the log, whatever it keeps", async () => {
  const fields = { type: "object", properties: { password: { type: "string" } } } as const;
  const type = toolType("w", () => ({ value: 1 }), "write");
  const odd = { ...type, entry: { ...type.entry, fields } };
  const { events } = await ask(
    'auditContent = "full"\ntools = ["action:test.w"]',
    [call("test_w", { password: "letmein-letmein" }), DONE],
    { types: [odd], run: { confirm: () => ({ decision: "approve" }) } },
  );
  expect(type.calls).toEqual([{ password: "letmein-letmein" }]);
  expect(one(events, "confirm.requested").tool?.args).toEqual({ password: "[redacted]" });
  expect(one(events, "tool.started").args).toEqual({ password: "[redacted]" });
});
