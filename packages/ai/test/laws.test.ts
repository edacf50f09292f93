/** Laws that hold whatever models, tools and people do. */

import { type ExecutionEvent, NodeError, type Usage } from "@millrace/contracts";
import { createRandom } from "@millrace/engine/testing";
import { one } from "@millrace/test-support/flows";
import { apiError, ask, type Entry, scripted, toolType } from "@millrace/test-support/models";
import { expect, test } from "vitest";

const SEEDS = 60; // a few seconds; more find nothing that these do not

/** Something of a list. */
function pick<T>(random: () => number, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T;
}

/** What a model may do, good and bad alike. */
function entry(random: () => number): Entry {
  const usage = pick(random, [[3, 2], [7, 1], null] as const);
  const text = pick(random, ['{"n":1}', '{"n":"x"}', "no", "", '```json\n{"n":2}\n```']);
  const tools = pick(random, [
    [],
    [],
    [{ name: "test_r" }],
    [{ name: "test_w" }, { name: "ghost", input: "{" }],
  ]);
  return pick<() => Entry>(random, [
    () => ({ text, usage }),
    () => ({ text, tools, usage }),
    () => ({ text, tools, usage }),
    () => ({ text, after: pick(random, ["cut", "end", { error: apiError(500) }] as const) }),
    () => ({ text: "long", finish: "length", usage }),
    () => ({ text, after: "hang" }),
    () => ({
      fail: pick(random, [
        apiError(429),
        apiError(500),
        apiError(404),
        new NodeError("network", "x"),
      ]),
    }),
    () => ({ finish: "content-filter" }),
  ])();
}

function fields(random: () => number): string {
  const has = (text: string): string[] => (random() < 0.5 ? [text] : []);
  return [
    'outputSchema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] }',
    'tools = ["action:test.r", "action:test.w"]',
    `maxSteps = ${pick(random, [1, 2, 5])}`,
    `repairMax = ${pick(random, [0, 1, 3])}`,
    `failoverRetries = ${pick(random, [0, 1, 2])}`,
    "firstTokenMs = 500",
    "idleMs = 500",
    ...has('onMaxSteps = "return"'),
    ...has(
      'failover = [{ provider: "spare", modelId: "s", on: ["server", "output_schema", "expect", "timeout"] }]',
    ),
    ...has(
      `expect = [{ kind: "expr", when: output.n == 1, onFail: "${pick(random, ["fail", "retry", "failover"])}" }]`,
    ),
    ...has(`auditContent = "${pick(random, ["none", "redacted", "full"])}"`),
    ...has("@retry = { max: 1, delay: 5ms, jitter: false }"),
  ].join("\n");
}

function total(events: readonly ExecutionEvent[]): { calls: number; usage: Partial<Usage> } {
  let calls = 0;
  const usage = { inputTokens: 0, outputTokens: 0 };
  for (const e of events) {
    if (e.kind !== "llm.finished" && e.kind !== "llm.failed") continue;
    calls += 1;
    usage.inputTokens += e.usage?.inputTokens ?? 0;
    usage.outputTokens += e.usage?.outputTokens ?? 0;
  }
  return { calls, usage };
}

test("any talk of any models ends in a legal log, asks as often as it says, and adds up", async () => {
  const ends = new Map<string, number>();
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const random = createRandom(seed);
    const script = Array.from({ length: 12 }, () => entry(random));
    const spare = scripted(
      Array.from({ length: 12 }, () => entry(random)),
      { id: "spare" },
    );
    const r = toolType("r", () => ({ value: 1 }));
    const w = toolType("w", () => ({ value: 1 }), "write");
    const decision = pick(random, ["approve", "reject"] as const);
    const text = fields(random);
    // `ask` checks the log against all invariants, and that no timer is left.
    const { events, mock, summary } = await ask(text, script, {
      types: [r, w],
      others: [spare],
      run: { confirm: () => ({ decision }) },
    });
    const { calls, usage } = total(events);
    const where = `seed ${seed}:\n${text}`;
    expect(mock.calls.length + spare.calls.length, where).toBe(calls);
    expect(summary.usage, where).toMatchObject({ calls, ...usage });
    if (decision === "reject") expect(w.calls, where).toEqual([]);
    ends.set(summary.status, (ends.get(summary.status) ?? 0) + 1);
    const retried = events.some(({ kind }) => kind === "node.retrying");
    if (summary.status !== "succeeded" || retried) continue;
    const { output } = one(events, "node.succeeded") as unknown as {
      output: { usage: Usage | null; finish: string; output: unknown };
    };
    expect(output.usage ?? { inputTokens: 0, outputTokens: 0 }, where).toMatchObject(usage);
    if (output.finish !== "max_steps") {
      expect(output.output, where).toMatchObject({ n: expect.any(Number) });
    }
  }
  expect(ends.get("succeeded")).toBeGreaterThan(SEEDS / 10);
  expect(ends.get("failed")).toBeGreaterThan(SEEDS / 10);
});
