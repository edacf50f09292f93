/** Questions to people: many at once, answered in any order, raced for, and over restarts. */

import { type AnyEvent, assertLog, parseEvent } from "@millrace/contracts";
import { createEngine, createMemoryJournal, type Run } from "@millrace/engine";
import { createRandom, createSimClock } from "@millrace/engine/testing";
import { finish, graphOf, kinds, planOf, start } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType } from "./types.ts";

const ITEMS = 50;

const MANY = `
node m: map { items = range(${ITEMS})
  @concurrency = ${ITEMS}
  body { node k: confirm { prompt = "item \${item}?"
      schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } }
    node t: transform { value = [index, k.value.n] }
    k.approved -> t
    output = t.value } }
output all: any = m.items`;

test(`${ITEMS} open at once within items are answered in any order, with restarts between`, async () => {
  const random = createRandom(7);
  const graph = graphOf(MANY);
  const plan = await planOf(graph);
  const now = { ms: 1_750_000_000_000 };
  const journal = createMemoryJournal({ now: () => now.ms });
  let epoch = 1;
  let run: Run | null = null;
  const answered = new Map<string, number>();
  const clocks = [];
  for (let life = 0; life < 3; life += 1) {
    const clock = createSimClock({ start: now.ms });
    clocks.push(clock);
    const engine = createEngine({ host: clock, journal });
    run =
      life === 0 ? engine.run(plan, {}, { runId: "many" }) : await engine.resume("many", { plan });
    await clock.settle();
    const open = [...run.confirmations()];
    expect(open).toHaveLength(ITEMS - answered.size);
    expect(run.state).toBe("paused");
    const most = life === 2 ? open.length : 17;
    for (let i = 0; i < most; i += 1) {
      const [one] = open.splice(random.integer(0, open.length - 1), 1);
      if (one === undefined) break;
      const n = random.integer(0, 999);
      const item = Number(/\[(\d+)\]/.exec(one.node)?.[1]);
      expect(await run.confirm(one.id, { decision: "approve" })).toMatchObject({
        ok: false,
        code: "value_invalid",
      });
      expect(await run.confirm(one.id, { decision: "approve", value: { n } })).toEqual({
        ok: true,
      });
      expect(await run.confirm(one.id, { decision: "reject" })).toMatchObject({
        code: "already_resolved",
      });
      answered.set(`${item}`, n);
      if (random.chance(0.3)) await clock.settle();
    }
    await clock.advance(10);
    now.ms = clock.now() + 1_000;
    await journal.release("many", epoch);
    epoch += 1;
  }
  const summary = await run?.result;
  const all = Array.from({ length: ITEMS }, (_, i) => [i, answered.get(`${i}`)]);
  expect(summary).toMatchObject({ status: "succeeded", outputs: { all } });
  const log: AnyEvent[] = [];
  for await (const page of journal.read("many", 0)) {
    log.push(...page.map(({ line }) => parseEvent(new TextDecoder().decode(line))));
  }
  assertLog(log, { graph });
  const starts = log.flatMap((e) => (e.kind === "node.started" ? [String(e["node"])] : []));
  expect(new Set(starts).size).toBe(starts.length);
  expect(log.filter(({ kind }) => kind === "confirm.resolved")).toHaveLength(ITEMS);
});

test("of two answers at the same time one wins, and the other is told", async () => {
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const { run, end } = await start('node k: confirm { prompt = "?" }\noutput by: any = k.by', {
    engine: { host: clock, journal },
  });
  await clock.settle();
  const replies = await Promise.all([
    run.confirm("k1", { decision: "approve", by: "one" }),
    run.confirm("k1", { decision: "reject", by: "two" }),
    run.confirm("k9", { decision: "approve" }),
  ]);
  expect(replies).toEqual([
    { ok: true },
    { ok: false, code: "already_resolved" },
    { ok: false, code: "not_found" },
  ]);
  await clock.run();
  expect((await run.result).outputs).toEqual({ by: "one" });
  await end();
});

test("a handler that answers at once finds the run paused, like every other", async () => {
  const { events, summary } = await finish(
    'node a: confirm { prompt = "a?" }\nnode b: confirm { prompt = "b?" }\na.approved -> b',
    { run: { confirm: () => ({ decision: "approve" }) } },
  );
  expect(summary.status).toBe("succeeded");
  const step = ["run.paused", "confirm.resolved", "run.resumed", "node.resumed"];
  const own = kinds(events).filter((kind) => step.includes(kind));
  expect(own).toEqual([...step, ...step]);
});

describe("after a restart", () => {
  const slow = bodyType("slow", async (_fields, ctx) => {
    await ctx.sleep(500);
    const [a, b] = await Promise.all([
      ctx.confirm("a", { prompt: "a?" }),
      ctx.confirm("b", { prompt: "b?" }),
    ]);
    return { by: [a.by, b.by] };
  });

  async function parked(policy = "") {
    const plan = await planOf(`node s: test.slow {${policy}}\noutput by: any = s.by`, {
      types: [slow],
    });
    const before = createSimClock();
    const journal = createMemoryJournal({ now: before.now });
    const first = createEngine({ host: before, journal }).run(plan, {}, { runId: "r" });
    await before.advance(500);
    return { plan, before, journal, first };
  }

  test("questions are open at once, however long the body takes to come to them again", async () => {
    const { plan, before, journal } = await parked();
    await journal.release("r", 1);
    const clock = createSimClock({ start: before.now() });
    const run = await createEngine({ host: clock, journal }).resume("r", { plan });
    await clock.settle();
    expect(run.confirmations().map(({ id }) => id)).toEqual(["k1", "k2"]);
    expect(await run.confirm("k2", { decision: "approve", by: "y" })).toEqual({ ok: true });
    await clock.settle();
    expect(run.state).toBe("paused");
    expect(await run.confirm("k1", { decision: "approve", by: "x" })).toEqual({ ok: true });
    await clock.run();
    expect((await run.result).outputs).toEqual({ by: ["x", "y"] });
  });

  test("an answer that was there waits for the others, and the clock of the attempt stands still", async () => {
    const { plan, before, journal, first } = await parked("\n@timeout = 2s ");
    await first.confirm("k2", { decision: "approve", by: "y" });
    await journal.release("r", 1);
    const clock = createSimClock({ start: before.now() });
    const run = await createEngine({ host: clock, journal }).resume("r", { plan });
    await clock.advance(3_600_000);
    expect(run.state).toBe("paused");
    expect(run.confirmations().map(({ id }) => id)).toEqual(["k1"]);
    await run.confirm("k1", { decision: "approve", by: "x" });
    await clock.run();
    expect((await run.result).outputs).toEqual({ by: ["x", "y"] });
  });

  test("the handler of the new process is asked about everything that is open", async () => {
    const { plan, before, journal } = await parked();
    await journal.release("r", 1);
    const clock = createSimClock({ start: before.now() });
    const asked: string[] = [];
    const run = await createEngine({ host: clock, journal }).resume("r", {
      plan,
      confirm: ({ id }) => {
        asked.push(id);
        return { decision: "approve", by: id };
      },
    });
    await clock.run();
    expect((await run.result).outputs).toEqual({ by: ["k1", "k2"] });
    expect(asked).toEqual(["k1", "k2"]);
  });
});
