import type { CoreContext } from "@millrace/engine";
import { finish, kinds, one, outputOf, portOf, start, states } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType, deaf, gauge, patient } from "./types.ts";

describe("cancel", () => {
  test("aborts everything in the same tick, starts nothing more, and ends with a summary", async () => {
    const { run, events, clock, end } = await start(
      `node a: test.patient
node d: delay { for = 1h }
node k: confirm { prompt = "?" }
node after: log { message = "x" }
a -> after`,
      { types: [patient] },
    );
    expect(run.cancel({ by: "me", note: "enough" })).toBe(true);
    expect(run.state).toBe("cancelling");
    await clock.settle();
    const at = events.findIndex((e) => e.kind === "run.cancelling");
    expect(events[at]).toMatchObject({ reason: "user", by: "me", note: "enough" });
    const summary = await end();
    expect(summary).toMatchObject({ status: "cancelled", exitCode: 130, outputs: {} });
    expect(summary).not.toHaveProperty("error");
    expect(one(events, "confirm.resolved", "k").outcome).toBe("cancelled");
    expect(states(events)).toEqual({
      a: "cancelled:run_cancelled",
      d: "cancelled:run_cancelled",
      k: "cancelled:run_cancelled",
      after: "cancelled:run_cancelled",
    });
    expect(run.cancel()).toBe(false);
    expect(run.state).toBe("cancelled");
  });

  test("all signals of a thousand nodes are aborted before cancel returns, and none starts after", async () => {
    let aborted = 0;
    const watch = bodyType("watch", (_fields, ctx) => {
      ctx.signal.addEventListener("abort", () => {
        aborted += 1;
      });
      return new Promise(() => undefined);
    });
    const nodes = Array.from({ length: 1_000 }, (_, i) => `node n${i}: test.watch`).join("\n");
    const { run, events, end } = await start(`flow 1 t { @concurrency = 1000 }\n${nodes}`, {
      types: [watch],
    });
    run.cancel({ graceMs: 0 });
    expect(aborted).toBe(1_000);
    await end();
    const cancelling = events.findIndex((e) => e.kind === "run.cancelling");
    expect(kinds(events.slice(cancelling))).not.toContain("node.started");
  });

  test("a body that waits for a person is aborted too, with all that it does beside", async () => {
    let reason: unknown;
    const both = bodyType("both", async (_fields, ctx) => {
      const slept = ctx.sleep(3_600_000).catch((error: unknown) => {
        reason = error;
      });
      await Promise.all([ctx.confirm("a", { prompt: "a?" }), slept]);
      return {};
    });
    const { run, clock, end } = await start("node a: test.both", { types: [both] });
    expect(run.state).toBe("paused");
    run.cancel();
    expect((await end()).status).toBe("cancelled");
    expect(clock.pending).toBe(0);
    expect(reason).toMatchObject({ name: "AbortError" });
  });

  test.each<[string, (fields: unknown, ctx: CoreContext) => Promise<unknown>, string]>([
    ["is cancelled while it asks", (_, ctx) => ctx.confirm("a", { prompt: "a?" }), "AbortError"],
    ["is late while it waits", (_, ctx) => ctx.waitUntil(ctx.now() + 3_600_000), "TimeoutError"],
  ])("who hears that a body %s finds a signal with the reason", async (_, wait, name) => {
    const heard: unknown[] = [];
    const note = ({ signal }: CoreContext) => heard.push(signal.aborted, signal.reason);
    const contexts: CoreContext[] = [];
    const parked = (which: string) =>
      bodyType(which, (fields, given) => {
        const ctx = given as unknown as CoreContext;
        contexts.push(ctx);
        if (which === "hears") ctx.onAbort(() => note(ctx));
        return wait(fields, ctx);
      });
    const { run, clock, end } = await start(
      "node a: test.hears { @timeout = 1m }\nnode b: test.looks { @timeout = 1m }",
      { types: [parked("hears"), parked("looks")], run: { onFailure: "finish" } },
    );
    if (name === "AbortError") run.cancel();
    else await clock.advance(60_000);
    await end();
    expect(heard).toEqual([true, expect.objectContaining({ name })]);
    contexts.forEach(note); // a first look after the stop
    expect(heard.slice(2)).toEqual([heard[0], heard[1], true, expect.objectContaining({ name })]);
  });

  test("a body that asks or parks while it stops is refused at once: nobody is asked any more", async () => {
    const refused: unknown[] = [];
    const stubborn = bodyType("stubborn", async (fields, ctx) => {
      await ctx.sleep(60_000).catch(() => undefined);
      const late =
        fields["how"] === "ask"
          ? ctx.confirm("late", { prompt: "still?" })
          : (ctx as unknown as CoreContext).waitUntil(ctx.now() + 1_000);
      await late.catch((error: unknown) => refused.push(error));
      return { done: true };
    });
    const { run, events, end } = await start(
      'node a: test.stubborn { how = "ask" }\nnode b: test.stubborn { how = "park" }',
      { types: [stubborn] },
    );
    run.cancel();
    const summary = await end();
    expect(summary).toMatchObject({ status: "cancelled", durationMs: 0, counts: { succeeded: 2 } });
    expect(refused).toHaveLength(2);
    expect(kinds(events)).not.toContain("confirm.requested");
    expect(kinds(events)).not.toContain("node.waiting");
  });

  test("a body that answers within the grace has succeeded; one that does neither ends with the grace", async () => {
    const polite = bodyType("polite", async (_fields, ctx) => {
      await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()));
      return { stopped: true };
    });
    const { run, clock, events, end } = await start(
      'node p: test.polite\nnode d: test.deaf\nnode after: log { message = "x" }\np -> after',
      { types: [polite, deaf] },
    );
    run.cancel();
    await clock.advance(1_999);
    expect(outputOf(events, "p")).toEqual({ stopped: true });
    expect(kinds(events, "d")).toEqual(["node.started"]);
    await clock.advance(1);
    const summary = await end();
    expect(states(events)).toMatchObject({
      d: "cancelled:run_cancelled",
      after: "cancelled:run_cancelled",
    });
    expect(summary.counts).toEqual({ succeeded: 1, failed: 0, skipped: 0, cancelled: 2 });
  });

  test("a second cancel may only shorten the grace", async () => {
    const { run, clock, end } = await start("node d: test.deaf", { types: [deaf] });
    run.cancel({ graceMs: 10_000 });
    expect(run.cancel({ graceMs: 60_000 })).toBe(true);
    expect(run.cancel({ graceMs: 100 })).toBe(true);
    const before = clock.now();
    await end();
    expect(clock.now() - before).toBe(100);
  });

  test("stops bodies within bodies before the nodes that hold them", async () => {
    const { run, events, end } = await start(
      `node m: map { items = [1, 2]
  body { node l: loop { max = 2
      body { node p: test.patient } } } }`,
      { types: [patient] },
    );
    run.cancel();
    await end();
    const order = events.flatMap((e) => (e.kind === "node.cancelled" ? [e.node] : []));
    expect(order.indexOf("m[0]/l[0]/p")).toBeLessThan(order.indexOf("m[0]/l"));
    expect(order.at(-1)).toBe("m");
  });

  test("an aborted signal of the caller cancels, before the first event too", async () => {
    const controller = new AbortController();
    const running = await start("node d: delay { for = 1h }", {
      run: { signal: controller.signal },
    });
    controller.abort();
    expect((await running.end()).status).toBe("cancelled");
    const early = await finish("node d: delay { for = 1h }", {
      run: { signal: AbortSignal.abort() },
    });
    expect(early.summary.status).toBe("cancelled");
    expect(states(early.events)).toEqual({ d: "cancelled:run_cancelled" });
  });

  test("a run that takes longer than it may is cancelled with reason timeout", async () => {
    for (const [text, run] of [
      ["node d: delay { for = 1h }", { timeoutMs: 1_000 }],
      ["flow 1 t { @timeout = 1s }\nnode d: delay { for = 1h }", {}],
    ] as const) {
      const { summary } = await finish(text, { run });
      expect(summary).toMatchObject({
        status: "cancelled",
        error: { code: "run_timeout" },
        exitCode: 124,
        durationMs: 1_000,
      });
    }
  });

  test("closing the engine cancels every run with reason shutdown and refuses new ones", async () => {
    const { engine, plan, run, clock } = await start("node d: test.deaf", { types: [deaf] });
    const other = engine.run(plan);
    const closed = engine.close({ graceMs: 5 });
    await clock.advance(5);
    await closed;
    for (const one of [run, other]) {
      expect(await one.result).toMatchObject({ status: "cancelled", exitCode: 143 });
    }
    expect(() => engine.run(plan)).toThrow(expect.objectContaining({ code: "engine_closed" }));
    expect(clock.pending).toBe(0);
    await engine.close();
  });

  test("cancelling a run that fails already changes nothing", async () => {
    const { run, clock, end } = await start(
      'node w: delay { for = 1ms }\nnode f: fail { message = "x" }\nnode d: test.deaf\nw -> f',
      { types: [deaf] },
    );
    await clock.advance(1);
    expect(run.cancel()).toBe(false);
    expect((await end()).status).toBe("failed");
  });
});

describe("pause", () => {
  test("nothing starts while the operator pauses; what runs goes on, and timers queue up", async () => {
    const { type } = gauge();
    const { run, clock, events, end } = await start(
      'node a: test.gauge { ms = 10 }\nnode d: delay { for = 10ms }\nnode b: log { message = "b" }\na -> b',
      { types: [type] },
    );
    expect(run.pause()).toBe(true);
    expect(run.pause()).toBe(false);
    expect(run.state).toBe("paused");
    await clock.advance(1_000);
    expect(kinds(events, "a").at(-1)).toBe("node.succeeded");
    expect(kinds(events, "b")).toEqual([]);
    expect(kinds(events, "d").at(-1)).toBe("node.waiting");
    expect(run.resume()).toBe(true);
    expect(run.resume()).toBe(false);
    const summary = await end();
    expect(one(events, "run.paused")).toMatchObject({ reason: "operator", confirmations: [] });
    expect(summary.status).toBe("succeeded");
  });

  test("a pause ends by itself when the run has nothing left to do, whether it succeeds or fails", async () => {
    for (const [text, status] of [
      ["node w: test.gauge", "succeeded"],
      [`node w: test.patient { @timeout = 10ms }\nnode p: test.patient`, "failed"],
    ] as const) {
      const { run, clock, events, end } = await start(text, { types: [gauge().type, patient] });
      run.pause();
      await clock.advance(10);
      expect((await end()).status).toBe(status);
      expect(kinds(events).slice(-2)).toEqual(["run.resumed", "summary"]);
      expect(run.resume()).toBe(false);
    }
  });

  test("a paused run can be cancelled", async () => {
    const { run, end } = await start("node d: delay { for = 1h }");
    run.pause();
    run.cancel();
    expect((await end()).status).toBe("cancelled");
  });

  test("an answer given in an operator's pause is recorded, and the node goes on after it", async () => {
    const { run, events, clock, end } = await start(
      'node k: confirm { prompt = "?" }\nnode p: test.gauge { ms = 50 }',
      { types: [gauge().type] },
    );
    run.pause();
    expect(await run.confirm("k1", { decision: "approve" })).toEqual({ ok: true });
    await clock.settle();
    expect(kinds(events, "k").at(-1)).toBe("confirm.resolved");
    run.resume();
    await end();
    expect(portOf(events, "k")).toBe("approved");
  });

  test("a pause asked for while people are waited for begins when they have answered", async () => {
    const { run, events, clock, end } = await start(
      'node k: confirm { prompt = "?" }\nnode b: log { message = "b" }\nk.approved -> b',
    );
    expect(run.state).toBe("paused");
    expect(run.pause()).toBe(true);
    await run.confirm("k1", { decision: "approve" });
    await clock.settle();
    expect(kinds(events).slice(-4)).toEqual([
      "run.paused",
      "confirm.resolved",
      "run.resumed",
      "run.paused",
    ]);
    run.resume();
    await end();
    expect(states(events)).toEqual({ k: "succeeded", b: "succeeded" });
  });
});
