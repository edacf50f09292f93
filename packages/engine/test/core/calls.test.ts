/** What bodies tell of models, tools and checks. Every log passes the invariants; a restart closes what was open. */

import { assertLog, type ExecutionEvent } from "@millrace/contracts";
import {
  type CoreContext,
  createEngine,
  createMemoryJournal,
  type NodeType,
} from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { finish, kinds, of, one, planOf, scriptedNode, start } from "@millrace/test-support/flows";
import { graphWith } from "@millrace/test-support/graph";
import { expect, test } from "vitest";

/** A type whose body is core code. */
function coreType(name: string, run: (ctx: CoreContext) => unknown): NodeType {
  const entry = { ...scriptedNode.entry, type: `test.${name}`, effect: "write" as const };
  return { ...scriptedNode, entry, run: (_fields, ctx) => run(ctx) };
}

function begin(ctx: CoreContext, call: string = ctx.newCall("c")): string {
  const how = { provider: "mock", model: "m", target: 0, step: 1, purpose: "generate" } as const;
  ctx.emit({ kind: "llm.started", call, ...how });
  return call;
}

function say(ctx: CoreContext, call: string, text: string): void {
  ctx.emit({ kind: "llm.delta", call, channel: "text", text });
}

const usage = { inputTokens: 3, outputTokens: 2 };

test("a call has its deltas, offsets, sums and cost; the summary adds them up", async () => {
  const talk = coreType("talk", async (ctx) => {
    const call = begin(ctx);
    await ctx.sleep(20);
    for (const piece of ["Hel", "lo", " ", "you"]) say(ctx, call, piece);
    await ctx.sleep(30);
    const tool = ctx.newCall("t");
    ctx.emit({ kind: "tool.started", call: tool, tool: "flow:x", llmCall: call });
    ctx.emit({ kind: "tool.finished", call: tool, outcome: "ok", resultDigest: "hmac:00" });
    say(ctx, call, "!");
    ctx.emit({ kind: "llm.finished", call, finish: "stop", usage, costUsd: 0.5 });
    ctx.emit({ kind: "llm.rejected", call, problems: [{ message: "no" }], repair: 0 });
    ctx.emit({ kind: "node.checked", index: 0, check: "expr", pass: true, level: "warn" });
    say(ctx, call, "too late");
    const broken = begin(ctx);
    ctx.emit({ kind: "llm.failed", call: broken, reason: "server", next: "none", costUsd: null });
    return { value: 1 };
  });
  const { summary, events } = await finish("node a: test.talk\nnode b: test.talk\na -> b", {
    types: [talk],
  });
  const deltas = of(events, "a").flatMap((e) => (e.kind === "llm.delta" ? [e] : []));
  expect(deltas.map(({ offset, text }) => [offset, text])).toEqual([
    [0, "Hel"],
    [3, "lo you"],
    [9, "!"],
  ]);
  expect(one(events, "llm.finished", "a")).toMatchObject({
    lengths: { text: 10 },
    firstTokenMs: 20,
    durationMs: 50,
  });
  expect(kinds(events, "a").slice(1, -1)).toEqual([
    "llm.started",
    "llm.delta",
    "llm.delta",
    "tool.started",
    "tool.finished",
    "llm.delta",
    "llm.finished",
    "llm.rejected",
    "node.checked",
    "llm.started",
    "llm.failed",
  ]);
  expect(summary.usage).toMatchObject({ calls: 4, inputTokens: 6, outputTokens: 4 });
  expect(summary.costUsd).toBeNull();
});

test("what a body leaves open is closed with its attempt, cancelled or not; nothing begins in a run that ends", async () => {
  const leave = coreType("leave", async (ctx) => {
    say(ctx, begin(ctx), "x");
    ctx.emit({ kind: "tool.started", call: ctx.newCall("t"), tool: "flow:x" });
    if (ctx.attempt === 1) throw new Error("no");
    await new Promise<void>((go) => ctx.signal.addEventListener("abort", go));
    begin(ctx);
    return { value: 1 };
  });
  const text = 'node a: test.leave { @retry = { max: 1, delay: 5ms, on: ["extension_threw"] } }';
  const { run, clock, events, end } = await start(text, { types: [leave] });
  await clock.advance(10);
  run.cancel();
  expect((await end()).status).toBe("cancelled");
  const closed = of(events, "a").flatMap((e) => {
    if (e.kind === "llm.failed") return [`${e.attempt} ${e.reason} ${e.discarded}`];
    return e.kind === "tool.finished" ? [`${e.attempt} ${e.outcome}`] : [];
  });
  expect(closed).toEqual(["1 aborted 1", "1 cancelled", "2 aborted 1", "2 cancelled"]);
  expect(kinds(events, "a").filter((kind) => kind === "llm.started")).toHaveLength(2);
});

test("an id is used once; a pair and a secret are never split", async () => {
  const secret = "hunter2-hunter2";
  const odd = coreType("odd", async (ctx) => {
    const call = begin(ctx);
    expect(() => begin(ctx, call)).toThrow(expect.objectContaining({ code: "internal" }));
    for (const piece of ["a", "hun", "ter2-hun", "ter2", "b", "\ud83d", "\ude00", "hunt"]) {
      say(ctx, call, piece);
      await ctx.sleep(20);
    }
    ctx.emit({ kind: "llm.finished", call, finish: "stop", costUsd: 0 });
    return { value: 1 };
  });
  const plan = await planOf(
    graphWith({
      id: "f",
      inputs: [{ name: "key", schema: { type: "string", format: "password" } }],
      nodes: [{ id: "a", type: "test.odd", fields: {} }],
    }),
    { types: [odd] },
  );
  const clock = createSimClock();
  const run = createEngine({ host: clock }).run(plan, { key: secret });
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) events.push(...batch);
  })();
  await clock.run();
  await run.result;
  await reading;
  assertLog(events);
  const texts = events.flatMap((e) => (e.kind === "llm.delta" ? [e.text] : []));
  expect(texts.join("")).toBe("a[redacted]b\u{1f600}hunt");
  expect(texts.filter((text) => /^[\udc00-\udfff]|[\ud800-\udbff]$/.test(text))).toEqual([]);
});

test("calls that were open when the process died end as interrupted; ids and sums go on", async () => {
  const slow = coreType("slow", async (ctx) => {
    const first = begin(ctx);
    ctx.emit({ kind: "llm.finished", call: first, finish: "stop", usage, costUsd: 1 });
    const call = begin(ctx);
    say(ctx, call, "abc");
    ctx.emit({ kind: "tool.started", call: ctx.newCall("t"), tool: "flow:x" });
    await ctx.sleep(100);
    ctx.emit({ kind: "llm.finished", call, finish: "stop", usage, costUsd: 1 });
    return { value: 1 };
  });
  const plan = await planOf("node a: test.slow", { types: [slow] });
  const before = createSimClock();
  const journal = createMemoryJournal({ now: before.now });
  createEngine({ host: before, journal }).run(plan, {}, { runId: "r" });
  await before.advance(50);
  await journal.release("r", 1);
  const clock = createSimClock({ start: before.now() });
  const run = await createEngine({ host: clock, journal }).resume("r", { plan });
  const events: ExecutionEvent[] = [];
  const reading = (async () => {
    for await (const batch of run.batches()) events.push(...batch);
  })();
  await clock.run();
  const summary = await run.result;
  await reading;
  assertLog(events);
  expect(one(events, "llm.failed")).toMatchObject({
    call: "c2",
    reason: "interrupted",
    discarded: 3,
    next: "none",
  });
  expect(one(events, "tool.finished")).toMatchObject({
    outcome: "error",
    error: { code: "interrupted" },
  });
  const ids = events.flatMap((e) =>
    e.kind === "llm.started" || e.kind === "tool.started" ? [e.call] : [],
  );
  expect(new Set(ids).size).toBe(6);
  expect(summary).toMatchObject({ status: "succeeded", usage: { calls: 4 }, costUsd: 3 });
});
