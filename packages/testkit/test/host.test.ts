/** A host of a test: types run in it, time and models do what the test says. */
import { defineExtension, defineNodeType, jsonSchema, NodeError } from "@millrace/contracts";
import { weather } from "@millrace/test-support/definitions";
import {
  conformance,
  createScriptedProvider,
  createSimClock,
  createTestHost,
} from "@millrace/testkit";
import { expect, test } from "vitest";

const quorum = defineNodeType({
  type: "approval.quorum",
  title: "Quorum",
  summary: "Asks, and waits a little.",
  fields: jsonSchema<object>({ type: "object" }),
  output: jsonSchema<{ outcome: string }>({ type: "object" }),
  effect: "read",
  run: async (_, ctx) => {
    const { outcome } = await ctx.confirm("q", { prompt: "Agreed?" });
    await ctx.sleep(10);
    return { outcome };
  },
});

const good = defineExtension({ adapters: [weather], nodeTypes: [quorum] });
const oslo = "https://api.weather.example/v1/Oslo?u=c";
const http = [{ url: oslo, json: { high: 7, low: -1 } }];

test("a test host runs a type, and shows what it did", async () => {
  const t = createTestHost({ extension: good, secrets: { WEATHER_KEY: "canary-1" }, http });
  expect(await t.run("weather.forecast", { city: "Oslo" })).toEqual({ high: 7, low: -1 });
  expect(t.requests).toEqual([
    { method: "GET", url: oslo, headers: { "x-key": "canary-1" }, body: "" },
  ]);
  expect(t.events.map(({ kind }) => kind)).toEqual([
    "run.started",
    "node.started",
    "node.succeeded",
    "summary",
  ]);
  await expect(t.run("weather.forecast", { city: "Rome" })).rejects.toMatchObject({
    code: "http_not_expected",
  });
  await expect(t.run("weather.nothing", {})).rejects.toMatchObject({ code: "flow_invalid" });
});

test("a misspelt option is refused with the name that was meant", () => {
  expect(() => createTestHost({ extension: good, secret: {} } as never)).toThrow(
    'createTestHost: unknown option "secret"; did you mean "secrets"?',
  );
});

test("time passes when the test says so", async () => {
  const confirm = () => ({ decision: "reject" as const });
  const t = createTestHost({ extension: good, confirm });
  const from = t.clock.now();
  const output = t.run("approval.quorum", {});
  await t.clock.advance(10);
  expect(await output).toEqual({ outcome: "rejected" });
  expect(t.clock.now() - from).toBe(10);
});

const ask = { provider: "scripted", modelId: "m", input: "hi" };

test("a scripted model answers text, data, failures and tools in turn, and keeps what it was asked", async () => {
  const model = createScriptedProvider([
    { text: "hello there", usage: [3, 2] },
    { object: { n: 7 } },
    { error: { code: "ai_auth", reason: "auth", status: 401 } },
    { text: "half a", error: { code: "ai_auth", reason: "auth", status: 401 } },
    { tools: [{ name: "lookup", input: { q: "x" } }] },
  ]);
  const t = createTestHost({ extension: good, providers: [model] });
  expect(await t.run("ai", ask)).toMatchObject({ text: "hello there", finish: "stop" });
  const outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  expect(await t.run("ai", { ...ask, outputSchema })).toMatchObject({ output: { n: 7 } });
  await expect(t.run("ai", ask)).rejects.toMatchObject({ code: "ai_auth" });
  expect(model.calls.map(({ modelId }) => modelId)).toEqual(["m", "m", "m"]);
  expect(model.calls[1]?.responseFormat).toMatchObject({ type: "json" });

  const opened = await model.languageModel("m", {} as never);
  const kinds = async (): Promise<readonly unknown[]> => {
    const { stream } = await opened.doStream({ prompt: [] } as never);
    const reader = stream.getReader();
    const told: unknown[] = [];
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read()) {
        told.push(next.value?.["delta"] ?? next.value?.["toolName"] ?? next.value?.type);
      }
    } catch (error) {
      told.push((error as NodeError).code);
    }
    return told;
  };
  const begin = ["stream-start", "text-start"];
  expect(await kinds()).toEqual([...begin, "half", " a", "text-end", "ai_auth"]);
  expect(await kinds()).toEqual(["stream-start", "lookup", "finish"]);
  await expect(kinds()).rejects.toMatchObject({ code: "script_exhausted" });
});

test("a scripted model takes its time on the clock of the test, and stops when it is told", async () => {
  const clock = createSimClock();
  const script = [
    { text: "one two three", delayMs: 1_000 },
    { text: "never", delayMs: 1_000 },
  ];
  const model = createScriptedProvider(script, { clock });
  const t = createTestHost({ extension: good, providers: [model], clock });
  const from = clock.now();
  const { summary } = await t.start("ai", ask);
  await clock.advance(2_999);
  expect(t.events.map(({ kind }) => kind)).not.toContain("summary");
  await clock.advance(1);
  expect((await summary).status).toBe("succeeded");
  expect(clock.now() - from).toBe(3_000);
  const second = await t.start("ai", ask);
  second.run.cancel();
  expect((await second.summary).status).toBe("cancelled");
  expect(() => createScriptedProvider(script)).toThrow(/needs the clock/);
});

test("what a body throws is the cause of what a host and a suite reject with", async () => {
  const thrown = new TypeError("Cannot read properties of null");
  const breaks = defineNodeType({
    type: "shop.total",
    title: "Total",
    summary: "Adds up.",
    fields: jsonSchema<object>({ type: "object" }),
    output: jsonSchema<object>({ type: "object" }),
    effect: "pure",
    async run() {
      throw thrown;
    },
  });
  const extension = defineExtension({ nodeTypes: [breaks] });
  const failure = await createTestHost({ extension })
    .run("shop.total", {})
    .catch((error) => error);
  expect(NodeError.isInstance(failure) && failure.code).toBe("extension_threw");
  expect(failure.cause).toBe(thrown);

  const cases = conformance(extension, { fixtures: { "shop.total": [{ fields: {} }] } });
  const runs = cases.find(({ name }) => name.includes("its fixture runs as it says"));
  const problem = await runs?.run().catch((error: unknown) => error);
  expect(problem).toMatchObject({ cause: thrown });
  expect(String(problem)).toContain("shop.total threw TypeError");
});
