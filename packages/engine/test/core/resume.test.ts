/** What taking up an interrupted run keeps, refuses and gives back. */
import { assertLog, type FlowGraph, NodeError } from "@millrace/contracts";
import { createEngine, createMemoryJournal } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { cut, linesOf, resumed, utf8, whole } from "./resumed.ts";
import { bodyType } from "./types.ts";

describe("what is taken up", () => {
  test("an open confirmation stays open with its deadline, and a run that waited for it says nothing", async () => {
    const text = 'node k: confirm { prompt = "?"\n  @timeout = 1h }';
    const run = await whole(text, { run: { confirm: () => undefined, onFailure: "stop" } });
    const clock = createSimClock();
    const journal = await cut(run, 5, clock);
    const engine = createEngine({ host: clock, journal });
    const handle = await engine.resume("r", { plan: run.plan });
    await clock.settle();
    expect(handle.state).toBe("paused");
    expect(handle.seq).toBe(5);
    expect(handle.confirmations()).toMatchObject([
      { id: "k1", node: "k", deadline: (run.lines[2]?.event.ts as number) + 3_600_000 },
    ]);
    expect(await handle.confirm("k1", { decision: "approve" })).toEqual({ ok: true });
    await clock.run();
    expect((await handle.result).status).toBe("succeeded");
  });

  test("a question keeps its id, also when the process died before its node was said to wait", async () => {
    const run = await whole(
      'node ok: confirm {\n  prompt = "go?"\n}\nok.approved -> end\nnode end: log {\n  message = "x"\n}',
    );
    const asked = run.lines.findIndex(({ kind }) => kind === "confirm.requested");
    const { events, summary } = await resumed(run, asked + 1);
    expect(summary.status).toBe("succeeded");
    const questions = events.filter(({ kind }) => kind.startsWith("confirm."));
    expect(questions).toMatchObject([{ id: "k1" }, { id: "k1", outcome: "approved" }]);
  });

  test("an overdue one expires at once", async () => {
    const run = await whole('node k: confirm { prompt = "?"\n  @timeout = 1m }', {
      run: { confirm: () => undefined },
    });
    const clock = createSimClock({ start: 1_750_000_000_000 + 3_600_000 });
    const journal = await cut(run, 5, clock);
    const handle = await createEngine({ host: clock, journal }).resume("r", { plan: run.plan });
    await clock.settle();
    expect(await handle.confirm("k1", { decision: "approve" })).toMatchObject({
      code: "confirmation_expired",
    });
    await clock.run();
    expect((await handle.result).error?.code).toBe("confirm_expired");
  });

  test("a parked delay keeps its time", async () => {
    const run = await whole("node d: delay { for = 1h }");
    const { events } = await resumed(run, 3);
    const due = run.lines[2]?.event;
    expect(events.find((e) => e.kind === "node.resumed")?.ts).toBe(
      due?.kind === "node.waiting" ? due.until : 0,
    );
    expect(events.filter((e) => e.kind === "node.waiting")).toHaveLength(1);
  });

  test("finished items of a map are not run again", async () => {
    let calls = 0;
    const count = bodyType("count", async (fields, ctx) => {
      calls += 1;
      await ctx.sleep(10);
      return { n: fields["n"] };
    });
    const text = `
node m: map { items = [1, 2, 3, 4]
  @concurrency = 1
  body { node c: test.count { n = item }
    output = c.n } }
output items: any = m.items`;
    const run = await whole(text, { types: [count] });
    const third = run.lines.findIndex(
      ({ event: e }) => e.kind === "node.started" && e.node === "m[2]/c",
    );
    calls = 0;
    const { summary } = await resumed(run, third + 1);
    expect(calls).toBe(2);
    expect(summary.outputs).toEqual({ items: [1, 2, 3, 4] });
  });

  test("a body that begins again sleeps only what was left of its sleeps; a retry sleeps anew", async () => {
    const woke: number[] = [];
    const sleeper = bodyType("sleeper", async (_fields, ctx) => {
      for (const ms of [10_000, 20_000]) {
        await ctx.sleep(ms);
        woke.push(ctx.now());
      }
      if (ctx.attempt <= 2) throw new NodeError("again", "x", { retryable: true });
      return {};
    });
    const graph = graphOf(
      "node s: test.sleeper { @retry = { max: 2\n delay = 1s\n jitter = false } }",
    );
    const plan = await planOf(graph, { types: [sleeper] });
    const first = createSimClock();
    const journal = createMemoryJournal({ now: first.now });
    createEngine({ host: first, journal }).run(plan, {}, { runId: "r" });
    await first.advance(15_000); // in the middle of the second sleep; then the process dies
    const clock = createSimClock({ start: first.now() });
    await clock.advance(60_000);
    await journal.release("r", 1);
    const handle = await createEngine({ host: clock, journal }).resume("r", { plan });
    await clock.run();
    expect((await handle.result).status).toBe("succeeded");
    const zero = woke[0] as number;
    expect(woke.map((at) => at - zero)).toEqual([0, 65_000, 65_000, 76_000, 96_000]);
  });

  test("steps of a body that was interrupted answer from the journal", async () => {
    let ran = 0;
    const steps = bodyType("steps", async (_fields, ctx) => {
      const first = await ctx.step("first", () => {
        ran += 1;
        return ran;
      });
      await ctx.sleep(1_000);
      return { first };
    });
    const run = await whole("node s: test.steps\noutput first: any = s.first", { types: [steps] });
    const { summary } = await resumed(run, 2);
    expect(ran).toBe(1);
    expect(summary.outputs).toEqual({ first: 1 });
  });

  test("a cancel that had begun is finished", async () => {
    const text = `node m: map { items = [1, 2]
  body { node d: delay { for = 1h } } }
node k: confirm { prompt = "?" }
node after: log { message = "x" }
m -> after`;
    const graph = graphOf(text);
    const plan = await planOf(graph);
    const clock = createSimClock();
    const journal = createMemoryJournal({ now: clock.now });
    const handle = createEngine({ host: clock, journal }).run(plan, {}, { runId: "r" });
    await clock.settle();
    handle.cancel({ reason: "shutdown" });
    await clock.run();
    const summary = await handle.result;
    const run = { graph, plan, summary, journal, lines: await linesOf(journal, "r") };
    const from = run.lines.findIndex(({ event }) => event.kind === "run.cancelling");
    for (let k = from + 1; k < run.lines.length; k += 1) {
      const ended = await resumed(run, k);
      expect(ended.summary).toMatchObject({ status: "cancelled", exitCode: 143 });
      expect(ended.summary.counts).toEqual(summary.counts);
    }
  });

  test("an operator's pause lasts over the restart", async () => {
    const text = 'node d: delay { for = 10ms }\nnode b: log { message = "b" }\nd -> b';
    const graph = graphOf(text);
    const plan = await planOf(graph);
    const clock = createSimClock();
    const journal = createMemoryJournal({ now: clock.now });
    const handle = createEngine({ host: clock, journal }).run(plan, {}, { runId: "r" });
    await clock.settle();
    handle.pause();
    await clock.settle();
    const lines = await linesOf(journal, "r");
    handle.cancel();
    await clock.run();
    const other = createSimClock();
    const copy = await cut(
      { graph, plan, lines, journal, summary: await handle.result },
      lines.length,
      other,
    );
    const again = await createEngine({ host: other, journal: copy }).resume("r", { plan });
    await other.advance(60_000);
    expect(again.state).toBe("paused");
    again.resume();
    await other.run();
    expect((await again.result).status).toBe("succeeded");
    assertLog(
      (await linesOf(copy, "r")).map(({ event }) => event),
      { graph },
    );
  });

  test("an output that the log shows redacted is read as it was", async () => {
    const graph = {
      ...graphOf(
        "input key: string\nnode a: transform { value = inputs.key }\nnode d: delay { for = 5ms }\nnode b: transform { value = size(a.value) }\nd -> b\noutput n: any = b.value",
      ),
      inputs: [{ name: "key", schema: { type: "string", format: "password" } }],
    } as FlowGraph;
    const plan = await planOf(graph);
    const clock = createSimClock();
    const journal = createMemoryJournal({ now: clock.now });
    const handle = createEngine({ host: clock, journal }).run(
      plan,
      { key: "hunter2-hunter2" },
      { runId: "r" },
    );
    await clock.advance(1);
    const state = await journal.load("r");
    expect(state?.privateValues).toMatchObject({ "a#1": { value: "hunter2-hunter2" } });
    await clock.run();
    expect((await handle.result).outputs).toEqual({ n: 15 });
    expect(
      (await linesOf(journal, "r")).some(({ line }) => utf8.decode(line).includes("hunter2")),
    ).toBe(false);
  });
});

describe("resume refuses", () => {
  test("a run that is not there, has ended, is alive, or was started with another flow", async () => {
    const run = await whole('node a: log { message = "a" }');
    const clock = createSimClock();
    const engine = createEngine({ host: clock, journal: run.journal });
    const code = (promise: Promise<unknown>) => promise.catch((e: { code?: string }) => e.code);
    expect(await code(engine.resume("nobody", { plan: run.plan }))).toBe("run_not_found");
    expect(await code(createEngine().resume("r", { plan: run.plan }))).toBe("run_not_found");
    expect(await code(engine.resume("r", { plan: run.plan }))).toBe("run_not_resumable");
    const open = await cut(run, 2, clock);
    const other = await planOf('node b: log { message = "b" }');
    const second = createEngine({ host: clock, journal: open });
    expect(await code(second.resume("r", { plan: other }))).toBe("plan_mismatch");
    await second.resume("r", { plan: run.plan });
    expect(await code(second.resume("r", { plan: run.plan }))).toBe("run_not_resumable");
    const third = createEngine({ host: clock, journal: open });
    expect(await code(third.resume("r", { plan: run.plan }))).toBe("run_not_resumable");
  });

  test("no run whose journal has lost an output that is to be read: it fails with resume_impossible", async () => {
    const text = `
input s: string
node a: transform { value = inputs.s }
node d: delay { for = 5ms }
node b: transform { value = size(a.value) }
d -> b`;
    const run = await whole(text, { inputs: { s: "x".repeat(70_000) } });
    const k = run.lines.findIndex(({ event: e }) => e.kind === "node.resumed");
    const clock = createSimClock();
    const journal = { ...(await cut(run, k, clock)), getValue: async () => undefined };
    const handle = await createEngine({ host: clock, journal }).resume("r", { plan: run.plan });
    await clock.run();
    const log = (await linesOf(journal, "r")).map(({ event }) => event);
    assertLog(log, { graph: run.graph });
    expect(await handle.result).toMatchObject({
      status: "failed",
      error: { code: "resume_impossible", retryable: false },
      counts: { cancelled: 1, skipped: 1, succeeded: 1 },
    });
  });

  test("a run whose values cannot be read, and leaves it to whoever gives it up", async () => {
    const text = `
input s: string
node a: transform { value = inputs.s }
node d: delay { for = 5ms }`;
    const run = await whole(text, { inputs: { s: "x".repeat(70_000) } });
    const clock = createSimClock();
    const getValue = () => Promise.reject(new Error("unreadable"));
    const k = run.lines.findIndex(({ event: e }) => e.kind === "node.resumed");
    const journal = { ...(await cut(run, k, clock)), getValue };
    const engine = createEngine({ host: clock, journal });
    await expect(engine.resume("r", { plan: run.plan })).rejects.toThrow("unreadable");
    await engine.giveUp("r", "its values cannot be read");
    const log = (await linesOf(journal, "r")).map(({ event }) => event);
    assertLog(log, { graph: run.graph });
    expect(log.at(-1)).toMatchObject({ status: "failed", error: { code: "resume_impossible" } });
  });

  test("a run that was interrupted again and again without getting on fails with crash_loop", async () => {
    const run = await whole("node d: delay { for = 1h }");
    let lines = run.lines.slice(0, 2);
    for (let i = 0; i < 5; i += 1) {
      const clock = createSimClock();
      const journal = await cut({ ...run, lines }, lines.length, clock);
      await createEngine({ host: clock, journal }).resume("r", { plan: run.plan });
      await clock.settle();
      lines = (await linesOf(journal, "r")).filter(({ kind }) => kind !== "node.waiting");
    }
    const { summary } = await resumed({ ...run, lines }, lines.length);
    expect(summary).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  });
});

describe("the lease of a run that was taken up", () => {
  const answered = 'node k: confirm { prompt = "?"\n  @timeout = 1h }';

  async function taken(text: string, k: number) {
    const run = await whole(text, { run: { confirm: () => undefined, timeoutMs: 86_400_000 } });
    const clock = createSimClock();
    const journal = await cut(run, k, clock);
    const first = await createEngine({ host: clock, journal }).resume("r", { plan: run.plan });
    const second = createEngine({ host: clock, journal });
    await clock.settle();
    const take = () => second.resume("r", { plan: run.plan });
    return { run, clock, journal, first, take };
  }

  test("is renewed as long as it works, however little it writes", async () => {
    const { clock, first, take } = await taken("node d: delay { for = 10m }", 3);
    for (let minute = 0; minute < 9; minute += 1) {
      await clock.advance(60_000);
      await expect(take()).rejects.toMatchObject({ code: "run_not_resumable" });
    }
    await clock.run();
    expect((await first.result).status).toBe("succeeded");
    expect(clock.pending).toBe(0);
  });

  test("lapses while it waits for people; who takes it over has it, and the other one stops and writes nothing", async () => {
    const { clock, journal, first, take } = await taken(answered, 5);
    await expect(take()).rejects.toMatchObject({ code: "run_not_resumable" });
    await clock.advance(60_000);
    const second = await take();
    await clock.settle();
    const before = (await linesOf(journal, "r")).length;
    const told = first.confirm("k1", { decision: "approve" }).catch((e) => e.code);
    const ended = first.result.catch((e) => e.code);
    await clock.settle();
    expect([await told, await ended]).toEqual(["lease_lost", "lease_lost"]);
    expect((await linesOf(journal, "r")).length).toBe(before);
    expect(await second.confirm("k1", { decision: "reject" })).toEqual({ ok: true });
    await clock.run();
    expect((await second.result).error?.code).toBe("confirm_rejected");
    expect(clock.pending).toBe(0);
  });

  test("is noticed when it is lost, even by a run that writes nothing", async () => {
    const { clock, journal, first } = await taken("node d: delay { for = 10m }", 3);
    const before = (await linesOf(journal, "r")).length;
    const late = { ...journal };
    await late.release("r", 2);
    expect(await late.lease("r", "somebody", 3_600_000)).toEqual({ epoch: 3 });
    const ended = first.result.catch((e) => e.code);
    await clock.advance(15_000);
    expect(await ended).toBe("lease_lost");
    expect((await linesOf(journal, "r")).length).toBe(before);
    expect(clock.pending).toBe(0);
  });
});
