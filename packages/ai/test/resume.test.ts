/** What an `ai` node has done is not done again, whenever its process dies. */

import { one, planOf } from "@millrace/test-support/flows";
import type { Entry } from "@millrace/test-support/models";
import { flowOf, lines, scripted, toolType } from "@millrace/test-support/models";
import { expect, test } from "vitest";
import { livesOf } from "./support/resume.ts";

/** Answers by what the messages hold, so that any number of processes may ask. */
const TALK: readonly Entry[] = [
  { tools: [{ name: "test_a" }, { name: "test_b" }] },
  { tools: [{ name: "test_c" }] },
  { text: '{"x":"no"}' },
  { text: '{"x":1}' },
];
const FIELDS = `task = "extract"
outputSchema = { type: "object", properties: { x: { type: "integer" } }, required: ["x"] }
tools = ["action:test.a", "action:test.b", "action:test.c"]`;

/** A model that answers by the state of the conversation. */
function talker(calls: number[]): ReturnType<typeof scripted> {
  const mock = scripted([]);
  const language = mock.languageModel;
  return {
    ...mock,
    languageModel: async (id, ctx) => ({
      ...(await language(id, ctx)),
      doStream: async (call) => {
        const at = call.prompt.filter(({ role }) => role === "assistant").length;
        calls.push(at);
        const model = await scripted([TALK[at] ?? {}]).languageModel(id, ctx);
        return await model.doStream(call);
      },
    }),
  };
}

const LAST = 60; // events of the whole run and more

test("a process that dies after any event: what had ended has its effect once, and an answer that was kept is not asked for again", async () => {
  let cuts = 0;
  for (let cut = 1; cut < LAST; cut += 1) {
    const types = ["a", "b", "c"].map((name) =>
      toolType(name, () => Promise.resolve({ value: 1 })),
    );
    const lives = livesOf(await planOf(flowOf(FIELDS), { types }));
    const { journal } = lives;
    const append = journal.append.bind(journal);
    let stored = 0;
    let isDead = false;
    Object.assign(journal, {
      append: async (...args: Parameters<typeof append>) => {
        await append(...args);
        stored += args[2].length;
        if (isDead || stored < cut) return;
        isDead = true;
        await lives.kill();
      },
    });
    const asked: number[] = [];
    const first = await lives.begin([talker(asked)]);
    await first.clock.advance(1_000);
    const { events: before = [] } = (await journal.load("r")) ?? {};
    if (before.at(-1)?.kind === "summary") break;
    cuts += 1;
    const askedBefore = [...asked];
    const second = await lives.begin([talker(asked)]);
    const summary = await lives.end(second);
    expect(summary.status, `cut ${cut}`).toBe("succeeded");
    expect(one(second.events, "node.succeeded").output).toMatchObject({ output: { x: 1 } });
    const ended = second.events
      .slice(0, before.length)
      .flatMap((e) => (e.kind === "tool.finished" && e.outcome === "ok" ? [e.call] : []));
    for (const { entry, calls } of types) {
      const tool = `action:${entry.type}`;
      const began = second.events.filter((e) => e.kind === "tool.started" && e.tool === tool);
      const isEnded = began.some((e) => e.kind === "tool.started" && ended.includes(e.call));
      if (isEnded) expect(calls.length, `${tool}, cut ${cut}`).toBe(1);
      expect(calls.length).toBeLessThanOrEqual(2);
      expect(calls.length).toBeGreaterThanOrEqual(1);
    }
    // An answer whose tools had begun was kept before they did.
    if (ended.length > 0) expect(asked.slice(askedBefore.length), `cut ${cut}`).not.toContain(0);
  }
  expect(cuts).toBeGreaterThan(8);
});

const WRITE = 'tools = ["action:test.w", "action:test.v"]';
const BOTH = {
  tools: [
    { name: "test_w", input: { n: 1 } },
    { name: "test_v", input: { n: 2 } },
  ],
};

test("a question outlives its process, with the id of its call; an answer after it runs the tool once", async () => {
  const w = toolType("w", () => ({ value: 1 }), "write");
  const v = toolType("v", () => ({ value: 2 }), "read");
  const plan = await planOf(flowOf(WRITE), { types: [w, v] });
  const lives = livesOf(plan);
  const life = await lives.begin([scripted([BOTH])]);
  expect(lines(life.events).slice(2)).toEqual([
    "llm.started c1 0 1 generate",
    "llm.finished c1 tool_calls",
    "tool.started t1 action:test.v c1",
    'confirm.requested k1 "Allow action:test.w?" t2',
    "tool.finished t1 ok",
    'node.waiting confirm ["k1"]',
    'run.paused confirmation ["k1"]',
  ]);
  await lives.kill();
  const again = await lives.begin([scripted([{ text: "done" }])]);
  expect(w.calls).toEqual([]);
  await again.run.confirm("k1", { decision: "approve" });
  const summary = await lives.end(again);
  expect(summary.status).toBe("succeeded");
  expect(lines(again.events).slice(9)).toEqual([
    "confirm.resolved k1 approved",
    "run.resumed confirmation",
    "node.resumed",
    "tool.started t2 action:test.w c1",
    "tool.finished t2 ok",
    "llm.started c2 0 2 generate",
    "llm.delta c2 text 0 done",
    "llm.finished c2 stop",
    "node.succeeded",
    "summary succeeded",
  ]);
  expect([w.calls.length, v.calls.length]).toEqual([1, 1]);
});

test("an answer that a failover has made is taken from where it is kept, and its target goes on", async () => {
  const quick = toolType("q", () => new Promise(() => {}), "read");
  const done = toolType("q", () => ({ value: 1 }), "read");
  const fields =
    'tools = ["action:test.q"]\nfailoverRetries = 0\nfailover = [{ provider: "spare", modelId: "s" }]';
  const plan = await planOf(flowOf(fields), { types: [quick] });
  const lives = livesOf(plan);
  const broken = scripted([{ after: "cut" }]);
  const spare = scripted([{ tools: [{ name: "test_q" }] }], { id: "spare" });
  await lives.begin([broken, spare]);
  await lives.kill();
  expect(quick.calls).toHaveLength(1);
  const later = scripted([{ text: "never" }]);
  const spare2 = scripted([{ text: "done" }], { id: "spare" });
  const second = await lives.begin([later, spare2]);
  expect(quick.calls).toHaveLength(2); // it was at work: nobody knows whether it had its effect
  second.run.cancel();
  await lives.end(second);
  expect(later.calls).toEqual([]);
  expect(done.calls).toEqual([]);
});

test("a flow that was at work as a tool when the process died ends with its call, and begins anew", async () => {
  const slow =
    "flow 1 child\nnode wait: delay { for = 10s }\nnode deep: map {\n  items = [1]\n  body {\n    node inner: delay { for = 20s }\n  }\n}\noutput x = wait.at\n";
  const { parseFlow } = await import("@millrace/dsl");
  const { graph } = parseFlow(slow);
  const subflows = { get: async () => ({ graph, digest: "" }) };
  const plan = await planOf(flowOf('tools = ["flow:child"]'), { subflows });
  const lives = livesOf(plan);
  const asks = { tools: [{ name: "flow_child" }] };
  const first = await lives.begin([scripted([asks])]);
  expect(lines(first.events).filter((line) => line.startsWith("node.started"))).toEqual([
    "node.started",
    "node.started (ask[0]/wait)",
    "node.started (ask[0]/deep)",
    "node.started (ask[0]/deep[0]/inner)",
  ]);
  await lives.kill();
  const second = await lives.begin([scripted([{ text: "done" }])]);
  const summary = await lives.end(second);
  const shown = lines(second.events);
  expect(shown.filter((line) => line.startsWith("node.cancelled"))).toEqual([
    "node.cancelled (ask[0]/deep[0]/inner)",
    "node.cancelled (ask[0]/wait)",
    "node.cancelled (ask[0]/deep)",
  ]);
  expect(shown).toContain("node.started (ask~2[0]/deep[0]/inner)");
  expect(summary).toMatchObject({
    status: "succeeded",
    bodyCounts: { cancelled: 3, succeeded: 3 },
  });
});

test("a node that has left by its label is not asked again, and its edges are what they were", async () => {
  const labels = 'labels = [{ name: "a" }, { name: "b" }]';
  const more =
    'node sure: confirm { prompt = "Sure?" }\nnode no: log { message = "b" }\nask.a -> sure\nask.b -> no\n';
  const lives = livesOf(await planOf(flowOf(labels, more)));
  await lives.begin([scripted([{ text: '{"label":"a"}' }])]);
  await lives.kill();
  const never = scripted([]);
  const again = await lives.begin([never]);
  await again.run.confirm("k1", { decision: "approve" });
  const summary = await lives.end(again);
  expect(summary.counts).toEqual({ succeeded: 2, failed: 0, skipped: 1, cancelled: 0 });
  expect(never.calls).toEqual([]);
});
