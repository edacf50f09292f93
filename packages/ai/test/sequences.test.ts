/** The fourteen sequences of events of an `ai` node, and the prompts behind them. */
import { one } from "@millrace/test-support/flows";
import {
  apiError,
  ask,
  type Entry,
  flowOf,
  lines,
  type ScriptedAnswer,
  scripted,
  startAsk,
  testSequences,
  toolType,
} from "@millrace/test-support/models";
import { expect, test } from "vitest";

const HEAD = ["run.started", "node.started"];
const DONE = ["node.succeeded", "summary succeeded"];
const LIMITED = { responseHeaders: { "retry-after": "1" } };

function entryOf({ status, ending, ...answer }: ScriptedAnswer): Entry {
  if (status !== undefined) return { fail: apiError(status, status === 429 ? LIMITED : {}) };
  if (ending === undefined) return answer;
  return { ...answer, after: ending === "cut" ? "cut" : "hang" };
}

testSequences({
  retryAfterMs: 1_000,
  async start({ script, spare = [], fields = "", types = [], isTwice = false }) {
    const other = scripted(spare.map(entryOf), { id: "spare" });
    const before = `${flowOf(fields).replace("ask", "one")}one -> ask\n`;
    const setup = { types, others: [other], ai: isTwice ? { circuit: { failures: 1 } } : {} };
    const started = await startAsk(fields, script.map(entryOf), setup, isTwice ? before : "");
    return Object.assign(started, {
      spare: other,
      until: async (kind: string) =>
        expect(started.events.map((event) => event.kind)).toContain(kind),
      /** The last message of the second call. */
      told: () => started.mock.calls[1]?.prompt.at(-1),
    });
  },
  checks: {
    2({ events: [, , , failed, again] }) {
      expect((again?.ts ?? 0) - (failed?.ts ?? 0)).toBe(1_000);
    },
    3({ mock }) {
      expect(mock.calls[1]?.prompt).toEqual(mock.calls[0]?.prompt);
    },
    4({ events, told }) {
      const text =
        "Your answer was not accepted:\n- /label: must be string\nAnswer again with the corrected JSON only.";
      expect(told()?.content).toEqual([{ type: "text", text }]);
      expect(one(events, "node.succeeded").output).toMatchObject({ output: { label: "a" } });
    },
    6({ told }) {
      expect(told()).toEqual({
        role: "tool",
        content: ["slow", "quick"].map((name, at) => ({
          type: "tool-result",
          toolCallId: `p${at}`,
          toolName: `test_${name}`,
          output: { type: "text", value: `{"value":"${name[0]}"}` },
        })),
      });
    },
    7({ events }) {
      const tool = { call: "t1", name: "action:test.write", args: { q: "x" } };
      expect(one(events, "confirm.requested").tool).toEqual(tool);
    },
    8({ told }) {
      expect(told()?.content).toMatchObject([
        { output: { type: "execution-denied", reason: "Denied by a person. Not today." } },
      ]);
    },
    11(_run, { exitCode, error }) {
      expect(exitCode).toBe(5);
      expect(error).toMatchObject({ status: 401, retryable: false });
    },
    12({ mock }) {
      expect(mock.calls).toHaveLength(1);
    },
    13({ told }) {
      const text = "Your answer was not accepted:\n- name the order\nAnswer again.";
      expect(told()?.content).toEqual([{ type: "text", text }]);
    },
  },
});

test.each(["v3", "v4"] as const)(
  "a plain answer of a model of %s, piece by piece",
  async (version) => {
    const { events } = await ask("", [{ text: ["Hel", "lo"] }], { model: { version } });
    expect(lines(events)).toEqual([
      ...HEAD,
      "llm.started c1 0 1 generate",
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
  },
);

test("a piece that was held at a cancel is sent, and the stream is let go", async () => {
  const started = await startAsk("", [{ text: ["abc", "def"], after: "hang" }]);
  started.run.cancel();
  const summary = await started.end();
  expect(lines(started.events)).toEqual([
    ...HEAD,
    "llm.started c1 0 1 generate",
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

test("the reasoning of one model is not shown to the next", async () => {
  const spare = scripted([{ text: "done" }], { id: "spare" });
  const { events } = await ask(
    'tools = ["action:test.quick"]\nfailoverRetries = 0\nfailover = [{ provider: "spare", modelId: "s" }]',
    [
      { reasoning: "hm", tools: [{ name: "test_quick" }] },
      { text: "par", after: "cut" },
    ],
    { types: [toolType("quick", () => ({ value: 1 }))], others: [spare] },
  );
  expect(lines(events)).toContain("llm.delta c1 reasoning 0 hm");
  expect(spare.calls).toHaveLength(1);
  expect(JSON.stringify(spare.calls[0]?.prompt)).not.toMatch(/reasoning|signature/);
});
