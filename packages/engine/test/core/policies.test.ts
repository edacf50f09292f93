import { NodeError } from "@millrace/contracts";
import { finish, kinds, one, outputOf, start, states } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { bodyType, deaf, flaky, patient } from "./types.ts";

describe("retry", () => {
  const flow = (retry: string) => `node a: test.flaky { @retry = ${retry} }`;

  test("repeats a retryable failure after its delay, and the event says when", async () => {
    const { clock, events, end } = await start(
      flow('{ max: 2, delay: 500ms, backoff: "constant", jitter: false }'),
      { types: [flaky(2)] },
    );
    await clock.advance(499);
    expect(kinds(events, "a")).toEqual(["node.started", "node.retrying"]);
    expect(one(events, "node.retrying", "a")).toMatchObject({ attempt: 1, next: 2, delayMs: 500 });
    await clock.advance(1);
    expect(kinds(events, "a")).toEqual([
      "node.started",
      "node.retrying",
      "node.started",
      "node.retrying",
    ]);
    await end();
    expect(outputOf(events, "a")).toEqual({ tries: 3 });
  });

  test.each([
    ["constant", [100, 100, 100]],
    ["linear", [100, 200, 300]],
    ["exponential", [100, 200, 400]],
  ])("with %s backoff waits %j", async (backoff, waits) => {
    const { events } = await finish(
      flow(`{ max: 3, delay: 100ms, backoff: "${backoff}", jitter: false }`),
      { types: [flaky(3)] },
    );
    const delays = events.flatMap((e) => (e.kind === "node.retrying" ? [e.delayMs] : []));
    expect(delays).toEqual(waits);
  });

  test("never waits longer than maxDelay, and jitter takes between half and all of the delay", async () => {
    const { events } = await finish(flow("{ max: 6, delay: 1s, maxDelay: 3s }"), {
      types: [flaky(6)],
    });
    const delays = events.flatMap((e) => (e.kind === "node.retrying" ? [e.delayMs] : []));
    for (const [i, delay] of delays.entries()) {
      const whole = Math.min(1_000 * 2 ** i, 3_000);
      expect(delay).toBeGreaterThanOrEqual(whole / 2);
      expect(delay).toBeLessThanOrEqual(whole);
    }
    expect(new Set(delays.slice(2)).size).toBeGreaterThan(1);
  });

  test("after the last retry the node fails", async () => {
    const { events, summary } = await finish(flow("{ max: 1, delay: 1ms }"), { types: [flaky(5)] });
    expect(kinds(events, "a").filter((kind) => kind === "node.started")).toHaveLength(2);
    expect(summary.error).toMatchObject({ code: "broken", retryable: true, node: "a" });
  });

  test("an error that is not retryable is not repeated, unless `on` names it", async () => {
    const types = [flaky(1, { retryable: false, reason: "server" })];
    const plain = await finish(flow("{ max: 1 }"), { types });
    expect(plain.summary.status).toBe("failed");
    const byCode = await finish(flow('{ max: 1, on: ["broken"] }'), { types });
    expect(byCode.summary.status).toBe("succeeded");
    const byReason = await finish(flow('{ max: 1, on: ["server"] }'), { types });
    expect(byReason.summary.status).toBe("succeeded");
    const other = await finish(flow('{ max: 1, on: ["timeout"] }'), { types: [flaky(1)] });
    expect(other.summary.status).toBe("failed");
  });

  test("waits as long as the other side asks, without jitter, and not at all beyond ten minutes", async () => {
    const asked = await finish(flow("{ max: 1, delay: 10ms }"), {
      types: [flaky(1, { retryAfterMs: 7_000 })],
    });
    expect(one(asked.events, "node.retrying", "a").delayMs).toBe(7_000);
    const tooLong = await finish(flow("{ max: 1 }"), {
      types: [flaky(1, { retryAfterMs: 600_001 })],
    });
    expect(tooLong.summary.status).toBe("failed");
  });

  test("`if` treats a success as a failed try", async () => {
    const flowIf = (max: number) =>
      `node a: test.flaky { @retry = { max: ${max}, delay: 1ms, if: output.tries < 3 } }`;
    const ends = await finish(flowIf(5), { types: [tries] });
    expect(outputOf(ends.events, "a")).toEqual({ tries: 3 });
    expect(one(ends.events, "node.retrying", "a").error.code).toBe("retry_condition");
    const never = await finish(flowIf(1), { types: [tries] });
    expect(never.summary.error?.code).toBe("retry_condition");
  });

  const tries = bodyType("flaky", (_fields, ctx) => ({ tries: ctx.attempt }));

  test("with delivery atMostOnce only failures before anything was sent are repeated", async () => {
    const at = 'node a: test.flaky { @retry = { max: 1, delay: 1ms }\n @delivery = "atMostOnce" }';
    const maybe = await finish(at, { types: [flaky(1)] });
    expect(maybe.summary.status).toBe("failed");
    const unsent = await finish(at, { types: [flaky(1, { sent: false })] });
    expect(unsent.summary.status).toBe("succeeded");
  });

  test("a retried map runs its items again under the number of the attempt", async () => {
    const once = bodyType("once", (_fields, ctx) => {
      if (!ctx.node.includes("~")) throw new NodeError("broken", "first try", { retryable: true });
      return { node: ctx.node };
    });
    const { events } = await finish(
      `node m: map { items = [1]
  @retry = { max: 1, delay: 1ms }
  body { node o: test.once
    output = o.node } }`,
      { types: [once] },
    );
    expect(outputOf(events, "m")).toMatchObject({ items: ["m~2[0]/o"] });
  });
});

describe("timeout", () => {
  test("aborts the attempt and fails it with timeout", async () => {
    const { events, summary } = await finish("node a: test.patient { @timeout = 1s }", {
      types: [patient],
    });
    expect(summary.error).toMatchObject({ code: "timeout", retryable: true });
    expect(one(events, "node.failed", "a").durationMs).toBe(1_000);
  });

  test("a body that does not stop is abandoned when its grace is over, and only then retried", async () => {
    const { events, summary } = await finish(
      "node a: test.deaf { @timeout = 1s\n @retry = { max: 1, delay: 1ms, jitter: false } }",
      { types: [deaf] },
    );
    const [first, second] = events.filter((e) => e.kind === "node.started");
    expect((second?.ts ?? 0) - (first?.ts ?? 0)).toBe(3_001);
    expect(one(events, "log", "a")).toMatchObject({ level: "warn", code: "attempt_abandoned" });
    expect(summary.error?.code).toBe("timeout");
  });

  test("a result that comes after the timeout does not count", async () => {
    const late = bodyType("late", async (_fields, ctx) => {
      const until = ctx.now() + 1_500;
      await new Promise<void>((resolve) => {
        ctx.signal.addEventListener("abort", () => resolve());
      });
      return { until };
    });
    const { summary } = await finish("node a: test.late { @timeout = 1s }", { types: [late] });
    expect(summary.error?.code).toBe("timeout");
  });

  test("of a map stops its items with reason parent", async () => {
    const { events, summary } = await finish(
      `node m: map { items = [1, 2]
  @timeout = 1s
  body { node d: delay { for = 1h } } }`,
    );
    expect(summary.error).toMatchObject({ code: "timeout", node: "m" });
    expect(one(events, "node.cancelled", "m[0]/d").reason).toBe("parent");
  });

  test("of a delay ends it", async () => {
    const { summary } = await finish("node d: delay { for = 1h\n @timeout = 1s }");
    expect(summary).toMatchObject({
      status: "failed",
      durationMs: 1_000,
      error: { code: "timeout" },
    });
  });
});

describe("when", () => {
  test("false skips the node, true runs it", async () => {
    const { events } = await finish(
      `
input n: number
node a: log { message = "a"
  @when = inputs.n > 1 }
node b: log { message = "b"
  @when = inputs.n <= 1 }
node c: log { message = "c" }
b -> c`,
      { inputs: { n: 2 } },
    );
    expect(states(events)).toEqual({ a: "succeeded", b: "skipped:when", c: "skipped:dead" });
  });

  test.each(["inputs.n", "inputs.n.x"])(
    "that errs (%s) starts the node and fails it",
    async (when) => {
      const { events } = await finish(
        `input n: any\nnode a: log { message = "a"\n  @when = ${when} }`,
        { inputs: { n: 2 } },
      );
      expect(kinds(events, "a")).toEqual(["node.started", "node.failed"]);
      expect(one(events, "node.failed", "a").error.code).toBe("expression_error");
    },
  );
});

describe("onError", () => {
  const failing = (more: string) => `node x: fail { message = "boom"
  code = "mine"
  ${more} }`;

  test("port: the edges of error are live and out is dead", async () => {
    const { events, summary } = await finish(`${failing('@on-error = "port"')}
node good: log { message = "good" }
node bad: log { message = "bad: \${x.error.message}" }
x -> good
x.error -> bad`);
    expect(states(events)).toEqual({
      x: "failed:port",
      good: "skipped:dead",
      bad: "succeeded",
    });
    expect(summary.status).toBe("succeeded");
  });

  test("default: the value stands in, the edges of out are live, the node stays failed", async () => {
    const { events, summary } = await finish(
      `input v: any
${failing("@on-error = { default: { status: 404, body: inputs.v } }")}
node next: transform { value = x.body }
x -> next`,
      { inputs: { v: "none" } },
    );
    expect(one(events, "node.failed", "x")).toMatchObject({
      routed: "default",
      output: { status: 404, body: "none" },
    });
    expect(outputOf(events, "next")).toEqual({ value: "none" });
    expect(summary.counts).toMatchObject({ failed: 1, succeeded: 1 });
    expect(summary.status).toBe("succeeded");
  });

  test("fail under stop ends the run: started nodes are cancelled, the others skipped", async () => {
    const { events, summary } = await finish(
      `${failing("")}
node first: delay { for = 1ms }
first -> x
node busy: test.patient
node pause: delay { for = 1h }
node never: log { message = "n" }
busy -> never`,
      { types: [patient] },
    );
    expect(states(events)).toEqual({
      first: "succeeded",
      x: "failed:none",
      busy: "cancelled:run_failed",
      pause: "cancelled:run_failed",
      never: "skipped:run_ended",
    });
    expect(summary).toMatchObject({ status: "failed", error: { code: "mine", node: "x" } });
  });

  test("fail under finish lets everything end that does not follow", async () => {
    const text = `${failing("")}
node after: log { message = "n" }
node other: delay { for = 1h }
x -> after`;
    const byRun = await finish(text, { run: { onFailure: "finish" } });
    expect(states(byRun.events)).toEqual({
      x: "failed:none",
      after: "skipped:dead",
      other: "succeeded",
    });
    expect(byRun.summary).toMatchObject({ status: "failed", error: { node: "x" } });
    const byFlow = await finish(`flow 1 t { @on-failure = "finish" }\n${text}`);
    expect(byFlow.summary.counts.succeeded).toBe(1);
  });
});

describe("idempotency key", () => {
  const key = bodyType("key", (_fields, ctx) => ({
    key: ctx.idempotencyKey,
    attempt: ctx.attempt,
  }));

  test("is run and path, the same for every attempt, unless the policy writes it out", async () => {
    const { events } = await finish(
      `input id: string
node a: test.key { @retry = { max: 1, delay: 1ms, if: output.attempt < 2 } }
node b: test.key { @idempotency-key = "order-\${inputs.id}" }
node m: map { items = [1]
  @retry = { max: 1, delay: 1ms, if: true }
  body { node k: test.key
    output = k.key } }`,
      { types: [key], inputs: { id: "7" }, run: { runId: "r1", onFailure: "finish" } },
    );
    expect(outputOf(events, "a")).toEqual({ key: "r1/a", attempt: 2 });
    expect(outputOf(events, "b")).toMatchObject({ key: "order-7" });
    expect(outputOf(events, "m~2[0]/k")).toMatchObject({ key: "r1/m[0]/k" });
  });
});
