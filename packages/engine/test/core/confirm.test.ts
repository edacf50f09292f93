import type { OpenConfirmation } from "@millrace/engine";
import {
  finish,
  kinds,
  of,
  one,
  outputOf,
  portOf,
  start,
  states,
} from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType } from "./types.ts";

describe("confirm", () => {
  const flow = `
node k: confirm { prompt = "Refund?"
  schema = { type: "object", required: ["reason"], properties: { reason: { type: "string" } } }
  @timeout = 1h }
node yes: transform { value = [k.value.reason, k.by] }
node no: log { message = "no" }
node late: log { message = "late" }
k.approved -> yes
k.rejected -> no
k.expired -> late`;

  test("asks, parks, pauses the run, and goes on with the answer", async () => {
    const { run, events, clock, end } = await start(flow);
    expect(kinds(events)).toEqual([
      "run.started",
      "node.started",
      "confirm.requested",
      "node.waiting",
      "run.paused",
    ]);
    expect(run.confirmations()).toMatchObject([
      { id: "k1", node: "k", attempt: 1, prompt: "Refund?", deadline: clock.now() + 3_600_000 },
    ]);
    await clock.advance(1_000);
    const answer = { decision: "approve", value: { reason: "broken" }, by: "ann" } as const;
    expect(await run.confirm("k1", answer)).toEqual({ ok: true });
    expect(run.confirmations()).toEqual([]);
    await end();
    expect(kinds(events).slice(5, 9)).toEqual([
      "confirm.resolved",
      "run.resumed",
      "node.resumed",
      "node.succeeded",
    ]);
    expect(outputOf(events, "k")).toEqual({
      outcome: "approved",
      value: { reason: "broken" },
      by: "ann",
      comment: null,
      at: new Date(one(events, "confirm.resolved").ts).toISOString(),
    });
    expect(outputOf(events, "yes")).toEqual({ value: ["broken", "ann"] });
    expect(states(events)).toMatchObject({ no: "skipped:dead", late: "skipped:dead" });
  });

  test("the first valid answer wins; a value that does not fit leaves it open", async () => {
    const { run, end } = await start(flow);
    const bad = await run.confirm("k1", { decision: "approve", value: { reason: 5 } });
    expect(bad).toMatchObject({
      ok: false,
      code: "value_invalid",
      problems: [{ pointer: "/reason" }],
    });
    expect(await run.confirm("k1", { decision: "approve" })).toMatchObject({
      code: "value_invalid",
    });
    const good = { decision: "approve", value: { reason: "x" } } as const;
    const replies = await Promise.all([run.confirm("k1", good), run.confirm("k1", good)]);
    expect(replies).toEqual([{ ok: true }, { ok: false, code: "already_resolved" }]);
    expect(await run.confirm("k9", good)).toEqual({ ok: false, code: "not_found" });
    await end();
  });

  test("a rejection needs no value and leaves by rejected", async () => {
    const { run, events, end } = await start(flow);
    await run.confirm("k1", { decision: "reject", comment: "not now" });
    await end();
    expect(portOf(events, "k")).toBe("rejected");
    expect(outputOf(events, "k")).toMatchObject({ value: null, comment: "not now", by: null });
  });

  test("nobody answers in time: it leaves by expired, and a later answer is told so", async () => {
    const { run, clock, events, end } = await start(`${flow}
node w: delay { for = 2h }`);
    await clock.advance(3_600_000);
    expect(await run.confirm("k1", { decision: "reject" })).toEqual({
      ok: false,
      code: "confirmation_expired",
    });
    await end();
    expect(portOf(events, "k")).toBe("expired");
    expect(states(events)["late"]).toBe("succeeded");
  });

  test.each([
    ["reject", "confirm_rejected"],
    [undefined, "confirm_expired"],
  ] as const)(
    "without an edge for it (%s) the node fails %s and the run ends with exit code 4",
    async (decision, code) => {
      const { run, events, end } = await start('node k: confirm { prompt = "?"\n @timeout = 1m }');
      if (decision !== undefined) await run.confirm("k1", { decision });
      expect(await end()).toMatchObject({
        status: "failed",
        exitCode: 4,
        error: { code, node: "k", retryable: false },
      });
      expect(one(events, "node.failed", "k").routed).toBe("none");
    },
  );

  test("a rejection without an edge goes where every failure goes", async () => {
    const { run, events, end } = await start(`node k: confirm { prompt = "?" }
node sad: log { message = k.error.code }
k.error -> sad`);
    await run.confirm("k1", { decision: "reject" });
    await end();
    expect(one(events, "log", "sad").text).toBe("confirm_rejected");
  });

  test("the handler is asked first, once; what it throws leaves the question open", async () => {
    const asked: OpenConfirmation[] = [];
    const auto = await finish(
      'node k: confirm { prompt = "a" }\nnode l: confirm { prompt = "b" }',
      {
        run: {
          confirm: (open) => {
            asked.push(open);
            return { decision: "approve", by: "auto" };
          },
        },
      },
    );
    expect(asked.map(({ id, node }) => [id, node])).toEqual([
      ["k1", "k"],
      ["k2", "l"],
    ]);
    expect(auto.summary.status).toBe("succeeded");
    const broken = await start('node k: confirm { prompt = "a" }', {
      run: {
        confirm: () => {
          throw new Error("oops");
        },
      },
    });
    expect(one(broken.events, "log")).toMatchObject({ level: "warn" });
    expect(broken.run.confirmations()).toHaveLength(1);
    await broken.run.confirm("k1", { decision: "approve" });
    expect((await broken.end()).status).toBe("succeeded");
  });

  test("a handler that answers later ends the pause", async () => {
    const { summary, events } = await finish('node k: confirm { prompt = "a" }', {
      run: { confirm: async () => ({ decision: "approve" }) },
    });
    expect(summary.status).toBe("succeeded");
    expect(one(events, "run.resumed")).toMatchObject({ reason: "confirmation", by: "k1" });
  });

  test("fifty at once inside items are answered in any order", async () => {
    const { run, events, end } = await start(`
node m: map { items = range(50)
  @concurrency = 50
  body { node k: confirm { prompt = "item \${item}" }
    output = k.by } }`);
    const open = run.confirmations();
    expect(open).toHaveLength(50);
    const order = open.map((_, i) => open[(i * 17) % 50] as OpenConfirmation);
    for (const { id } of order) await run.confirm(id, { decision: "approve", by: id });
    await end();
    const { items } = outputOf(events, "m") as { items: string[] };
    expect(items).toEqual(open.map(({ id }) => id));
  });

  test("the run's clock stands still while it waits for people", async () => {
    const { run, clock, end } = await start('node k: confirm { prompt = "?" }', {
      run: { timeoutMs: 60_000 },
    });
    await clock.advance(3_600_000);
    await run.confirm("k1", { decision: "approve" });
    expect((await end()).status).toBe("succeeded");
  });

  test("a node that asks twice in one try waits for both", async () => {
    const twice = bodyType("twice", async (_fields, ctx) => {
      const both = ["a", "b"].map((key) => ctx.confirm(key, { prompt: key }));
      return { by: (await Promise.all(both)).map(({ by }) => by) };
    });
    const { run, events, end } = await start("node q: test.twice", { types: [twice] });
    expect(run.confirmations().map(({ id }) => id)).toEqual(["k1", "k2"]);
    expect(of(events, "q").findLast((e) => e.kind === "node.waiting")).toMatchObject({
      ids: ["k1", "k2"],
    });
    await run.confirm("k2", { decision: "approve", by: "second" });
    await run.confirm("k1", { decision: "approve", by: "first" });
    await end();
    expect(outputOf(events, "q")).toEqual({ by: ["first", "second"] });
  });

  test("an answer that is none, or too large for the log, is refused and leaves the question open", async () => {
    const { run, events, end } = await start('node k: confirm { prompt = "?" }');
    for (const answer of [
      null,
      {},
      { decision: "maybe" },
      { decision: "approve", by: 5 },
      { decision: "approve", comment: {} },
      { decision: "approve", value: "x".repeat(70_000) },
    ]) {
      expect(await run.confirm("k1", answer as never)).toMatchObject({
        ok: false,
        code: "value_invalid",
      });
    }
    const long = "y".repeat(300_000);
    const answer = { decision: "approve", by: long, comment: long } as const;
    expect(await run.confirm("k1", answer)).toEqual({ ok: true });
    await end();
    expect(one(events, "confirm.resolved").by).toHaveLength(2_048);
  });

  test("one key asked twice in one try is refused", async () => {
    const again = bodyType("again", async (_fields, ctx) => {
      void ctx.confirm("same", { prompt: "?" });
      await ctx.confirm("same", { prompt: "?" });
      return {};
    });
    const { events, summary } = await finish("node q: test.again", { types: [again] });
    expect(summary.error?.code).toBe("extension_key_reused");
    expect(kinds(events, "q")).toContain("confirm.resolved");
  });
});
