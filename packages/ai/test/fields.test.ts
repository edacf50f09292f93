/** Fields of an `ai` node: what is refused before a run, what in one, and what reaches the model. */
import { aiSettings } from "@millrace/ai";
import { compileFlow, createRegistry } from "@millrace/engine";
import { graphOf, one, STANDARD_TYPES } from "@millrace/test-support/flows";
import { ask, flowOf } from "@millrace/test-support/models";
import { expect, test } from "vitest";

async function findings(fields: string, more = ""): Promise<string[]> {
  const { diagnostics } = await compileFlow(graphOf(flowOf(fields, more)), {
    registry: createRegistry([STANDARD_TYPES]),
  });
  return diagnostics.map(
    ({ code, pointer }) => `${code} ${(pointer ?? "").replace("/nodes/0/fields", "")}`,
  );
}

/** A literal that fits, and one that does not, with the code of the finding. */
const RANGES: readonly (readonly [good: string, bad: string, code?: string])[] = [
  ['provider = "openai"', 'provider = "https://x.example"'],
  ['modelId = "gpt-mini"', 'modelId = ""'],
  ['credential = "service:crm"', 'credential = "env:KEY"'],
  ['task = "summarize"', 'task = "sing"', "FLOW3006"],
  ['system = "x"', "system = 1", "FLOW3004"],
  ["temperature = 2", "temperature = 2.1"],
  ["topP = 1", "topP = 0"],
  ["topK = 1000", "topK = 1001"],
  ["maxTokens = 1", "maxTokens = 0"],
  ["seed = 2147483647", "seed = 2147483648"],
  ['stop = ["a"]', "stop = []"],
  ["frequencyPenalty = -2", "frequencyPenalty = 2.5"],
  ["presencePenalty = 2", "presencePenalty = -2.5"],
  ['reasoning = "low"', 'reasoning = "much"', "FLOW3006"],
  ["strictParams = true", 'strictParams = "yes"', "FLOW3004"],
  ['toolChoice = "none"', 'toolChoice = "all"', "FLOW3006"],
  ["maxSteps = 50", "maxSteps = 51"],
  ['onMaxSteps = "return"', 'onMaxSteps = "stop"', "FLOW3006"],
  ["parallelTools = 16", "parallelTools = 17"],
  ["maxToolBytes = 1024", "maxToolBytes = 1023"],
  ["repairMax = 3", "repairMax = 4"],
  ["expectRetries = 3", "expectRetries = 4"],
  ['auditContent = "full"', 'auditContent = "all"', "FLOW3006"],
  ['failoverOn = ["auth"]', 'failoverOn = ["egress"]', "FLOW3006"],
  ["failoverRetries = 5", "failoverRetries = 6"],
  ["failoverDelayMs = 60000", "failoverDelayMs = 60001"],
  ["failoverMaxWaitMs = 600000", "failoverMaxWaitMs = 600001"],
  ["firstTokenMs = 100", "firstTokenMs = 99"],
  ["idleMs = 3600000", "idleMs = 3600001"],
  ["totalMs = 100", "totalMs = 99"],
  ["circuit = false", "circuit = 0", "FLOW3004"],
  ["maxOutputBytes = 16777216", "maxOutputBytes = 16777217"],
  ["maxCostUsd = 0.01", "maxCostUsd = 0"],
];

test.each(RANGES)("%s fits, %s does not", async (...given) => {
  const [good, bad, code = "FLOW3005"] = given as unknown as (typeof RANGES)[number];
  const field = good.split(" ")[0] as string;
  const whole = (text: string) => `${field === "provider" ? "" : 'provider = "mock"\n'}${text}`;
  expect(await findings(whole(good))).toEqual([]);
  expect((await findings(whole(bad)))[0]).toMatch(new RegExp(`^${code} /${field}`));
});

test.each([
  ['task = "embed"\nsystem = "x"', "FLOW3015 /system"],
  ['task = "embed"\nexpect = [{ kind: "contains", value: "x" }]', "FLOW3015 /expect/0"],
  ['labels = [{ name: "a" }, { name: "b" }]\ntask = "generate"', "FLOW3015 /labels"],
  ['task = "classify"', "FLOW3015 /nodes/0"],
  ['task = "judge"\nrubric = "r"\ntools = ["flow:x"]', "FLOW3015 /tools"],
  ['task = "chat"', "FLOW3015 /input"],
  ["maxWords = 5", "FLOW3015 /maxWords"],
  ['tools = ["action:no.such"]', "FLOW3015 /tools/0"],
  [
    'tools = [{ ref: "action:file.read", name: "x" }, { ref: "action:file.list", name: "x" }]',
    "FLOW3015 /tools/1",
  ],
  ['tools = ["flow:missing"]', "FLOW4010 /tools/0"],
  ['labels = [{ name: "a" }, { name: "a" }]', "FLOW3015 /labels/1/name"],
  ['labels = [{ name: "a" }, { name: "error" }]', "FLOW3005 /labels/1/name"],
  ['labels = [{ name: "a" }, { name: "b" }]\nfallbackLabel = "c"', "FLOW3006 /fallbackLabel"],
  ['expect = [{ kind: "regex", pattern: "(a)\\\\1" }]', "FLOW3015 /expect/0/pattern"],
  ['expect = [{ kind: "length" }]', "FLOW3015 /expect/0"],
  ['outputSchema = { type: "nothing" }', "FLOW3007 /outputSchema/type"],
  ["colour = 1", "FLOW3003 /colour"],
  ["maxSteps = 1 + 1", "FLOW3013 /maxSteps"],
])("%s is refused before a run", async (fields, finding) => {
  expect(await findings(fields)).toContain(finding);
});

test("a label that is no port is a finding, and so is an edge of one that is not there", async () => {
  const labels = 'labels = [{ name: "a b" }, { name: "c" }]';
  const edge = (port: string) => `node l: log { message = "x" }\nask.${port} -> l`;
  expect(await findings(labels, edge('"a b"'))).toEqual([]);
  expect((await findings(labels, edge("d")))[0]).toMatch(/^FLOW4002/);
});

test.each([
  ["temperature", '"0.7"'],
  ["temperature", "1e9"],
  ["maxTokens", "0.5"],
  ["provider", '"a b"'],
  ["modelId", "null"],
])("an evaluated %s of %s fails the node", async (field, value) => {
  const from = `node v: transform { value = { x: ${value} } }\n`;
  const { start } = await import("@millrace/test-support/flows");
  const others = field === "provider" ? 'modelId = "m"' : 'provider = "mock"';
  const flow = `${from}node ask: ai {\n  ${others}\n  input = "x"\n  ${field} = v.value.x\n}`;
  const { events, end } = await start(flow);
  await end();
  expect(one(events, "node.failed").error).toMatchObject({ code: "field_invalid" });
  expect(one(events, "node.failed").error.message).toContain(field);
});

test("sampling, stop words and options reach the model; maxTokens is always sent", async () => {
  const { mock } = await ask(
    `system = "Be brief."
temperature = 0.5
topP = 0.9
topK = 5
seed = 3
stop = ["END"]
frequencyPenalty = 1
presencePenalty = -1
reasoning = "low"
providerOptions = { mock: { store: false } }`,
    [{ text: "ok" }],
  );
  const { abortSignal, modelId, ...call } = mock.calls[0] ?? {};
  expect(call).toEqual({
    prompt: [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "hi" }] },
    ],
    maxOutputTokens: 4096,
    temperature: 0.5,
    topP: 0.9,
    topK: 5,
    seed: 3,
    stopSequences: ["END"],
    frequencyPenalty: 1,
    presencePenalty: -1,
    reasoning: "low",
    providerOptions: { mock: { store: false } },
  });
  expect([typeof abortSignal, modelId]).toEqual(["object", "m"]);
});

test("a parameter that the model does not take is left out with a warning, or fails the call", async () => {
  const model = { capabilities: { params: ["topP"], maxOutputTokens: 100 } };
  const { mock, events } = await ask("temperature = 1\ntopP = 0.5", [{ text: "ok" }], { model });
  expect(mock.calls[0]).toMatchObject({ topP: 0.5, maxOutputTokens: 100 });
  expect(mock.calls[0]).not.toHaveProperty("temperature");
  expect(one(events, "log")).toMatchObject({
    code: "ai_param_unsupported",
    data: { field: "temperature" },
  });
  const strict = await ask("temperature = 1\nstrictParams = true", [{ text: "ok" }], { model });
  expect(strict.summary.error?.code).toBe("ai_bad_request");
  expect(strict.mock.calls).toEqual([]);
});

test("the operator's default provider and model stand in", async () => {
  const { start } = await import("@millrace/test-support/flows");
  const { scripted } = await import("@millrace/test-support/models");
  const mock = scripted([{ text: "ok" }]);
  const run = async (ai: object) => {
    const { events, end } = await start('node ask: ai { input = "x" }', {
      engine: { settings: [aiSettings({ providers: [mock], ...ai })] },
    });
    return { summary: await end(), events };
  };
  const { events } = await run({ defaultProvider: "mock", defaultModels: { mock: "big" } });
  expect(one(events, "node.succeeded").output).toMatchObject({ provider: "mock", modelId: "big" });
  expect((await run({})).summary.error).toMatchObject({ code: "field_invalid" });
  expect((await run({ defaultProvider: "mock" })).summary.error?.message).toContain("modelId");
});

test("an input that is null, or is not there, is named before a model is asked", async () => {
  const labels = 'labels = [{ name: "a" }, { name: "b" }]';
  for (const fields of [
    `input = start.value.none\n${labels}`,
    `input = start.value.body\n${labels}`,
    'input = start.value.body\ntask = "summarize"',
    "input = start.value.none",
  ]) {
    const { summary, mock } = await ask(
      fields,
      [],
      {},
      "node start: transform { value = { body: null } }\n",
    );
    expect(summary.error).toMatchObject({
      code: "field_invalid",
      message: expect.stringMatching(/^input: it is null: .* `input = … \?\? ""`$/),
    });
    expect(mock.calls).toEqual([]);
  }
});
