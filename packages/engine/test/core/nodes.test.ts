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

describe("condition", () => {
  test("leaves by true or false with its result", async () => {
    const { events } = await finish(`
node yes: condition { if = 1 < 2 }
node no: condition { if = 1 > 2 }`);
    expect([portOf(events, "yes"), outputOf(events, "yes")]).toEqual(["true", { result: true }]);
    expect([portOf(events, "no"), outputOf(events, "no")]).toEqual(["false", { result: false }]);
  });

  test("fails with expression_error when it is neither true nor false", async () => {
    const { events, summary } = await finish("input n: any\nnode c: condition { if = inputs.n }", {
      inputs: { n: 1 },
    });
    expect(one(events, "node.failed", "c").error.code).toBe("expression_error");
    expect(summary).toMatchObject({ status: "failed", error: { node: "c" }, exitCode: 1 });
  });
});

describe("switch", () => {
  const flow = `
input on: any
node s: switch { on = inputs.on
  cases = { a: "x", b: ["y", { k: [1, 2] }] } }`;
  test.each([
    ["x", "a"],
    ["y", "b"],
    [{ k: [1, 2] }, "b"],
    [{ k: [2, 1] }, "default"],
    [null, "default"],
    ["z", "default"],
  ])("leaves for %j by %s", async (on, port) => {
    const { events } = await finish(flow, { inputs: { on } });
    expect([portOf(events, "s"), outputOf(events, "s")]).toEqual([port, { port, value: on }]);
  });

  test("takes the first match in the order of the flow", async () => {
    const { events } = await finish(`node s: switch { on = 1
  cases = { second: [2, 1], first: 1 } }`);
    expect(portOf(events, "s")).toBe("second");
  });
});

describe("transform, log, fail", () => {
  test("transform hands on its value with every reference filled in", async () => {
    const { events } = await finish(`
node a: transform { value = { day: "2030-01-01", list: [1, 2] } }
node b: transform { value = { day: a.value.day, text: "on \${a.value.day}", n: size(a.value.list) } }`);
    expect(outputOf(events, "b")).toEqual({
      value: { day: "2030-01-01", text: "on 2030-01-01", n: 2 },
    });
  });

  test("transform fails with expression_error and the code of the language as its cause", async () => {
    const { events } = await finish('node a: transform { value = number("x") / 0 }');
    expect(one(events, "node.failed", "a").error).toMatchObject({
      code: "expression_error",
      retryable: false,
    });
  });

  test("log writes a line of its node; level and data have defaults", async () => {
    const { events } = await finish(`
node a: log { message = "hello" }
node b: log { message = "careful"
  level = "warn"
  data = { n: 1, password: "hunter22" } }`);
    expect(one(events, "log", "a")).toMatchObject({
      level: "info",
      channel: "node",
      text: "hello",
    });
    expect(one(events, "log", "a")).not.toHaveProperty("data");
    expect(one(events, "log", "b")).toMatchObject({
      level: "warn",
      data: { n: 1, password: "[redacted]" },
    });
    expect(outputOf(events, "a")).toEqual({});
  });

  test("fail fails with its message and its own code, failed by default, and is never retried", async () => {
    const { events, summary } = await finish(`
node stop: fail { message = "Nothing to do"
  code = "no_work"
  @retry = { max: 3 } }`);
    expect(kinds(events, "stop")).toEqual(["node.started", "node.failed"]);
    expect(summary.error).toMatchObject({
      code: "no_work",
      message: "Nothing to do",
      node: "stop",
    });
    const plain = await finish('node stop: fail { message = "x" }');
    expect(plain.summary.error?.code).toBe("failed");
  });

  test("a code of the engine that comes from an expression becomes failed", async () => {
    const { summary } = await finish(
      'input code: string\nnode stop: fail { message = "x"\n  code = inputs.code }',
      { inputs: { code: "timeout" } },
    );
    expect(summary.error?.code).toBe("failed");
  });
});

describe("delay", () => {
  test("parks for its time and gives the moment of its end", async () => {
    const { clock, events, end } = await start("node d: delay { for = 90s }");
    const { until } = one(events, "node.waiting", "d");
    expect(until).toBe(clock.now() + 90_000);
    await clock.advance(89_999);
    expect(kinds(events, "d")).toEqual(["node.started", "node.waiting"]);
    await clock.advance(1);
    await end();
    expect(outputOf(events, "d")).toEqual({ at: new Date(until as number).toISOString() });
    expect(kinds(events, "d").slice(2)).toEqual(["node.resumed", "node.succeeded"]);
  });

  test("until a time in the past is over at once", async () => {
    const { events } = await finish('node d: delay { until = "2001-01-01T00:00:00Z" }');
    expect(kinds(events, "d")).toEqual(["node.started", "node.succeeded"]);
  });

  test.each([
    ["too long", "for = inputs.ms * 400"],
    ["no date", 'until = "${inputs.ms} o\'clock"'],
  ])("fails with field_invalid for %s", async (_name, fields) => {
    const { events } = await finish(`input ms: number\nnode d: delay { ${fields} }`, {
      inputs: { ms: 86_400_000 },
    });
    expect(one(events, "node.failed", "d").error.code).toBe("field_invalid");
  });
});

describe("map", () => {
  const each = (
    more = "",
    body = "node s: transform { value = item * 2 }\n    output = s.value",
  ) => `
input items: any
node m: map { items = inputs.items
  ${more}
  body { ${body} } }`;

  test("keeps length and order, whatever order the items end in", async () => {
    const { events } = await finish(
      each("", "node d: delay { for = item }\n    output = { item: item, index: index }"),
      { inputs: { items: [30, 10, 20] } },
    );
    expect(outputOf(events, "m")).toEqual({
      items: [
        { item: 30, index: 0 },
        { item: 10, index: 1 },
        { item: 20, index: 2 },
      ],
      errors: [],
      count: 3,
    });
    expect(kinds(events, "m[1]/d").at(-1)).toBe("node.succeeded");
  });

  test("an item without output is null, and an empty list succeeds without a body", async () => {
    const some = await finish(each("", 'node s: log { message = "x" }'), {
      inputs: { items: [1, 2] },
    });
    expect(outputOf(some.events, "m")).toEqual({ items: [null, null], errors: [], count: 2 });
    const none = await finish(each(), { inputs: { items: [] } });
    expect(outputOf(none.events, "m")).toEqual({ items: [], errors: [], count: 0 });
    expect(none.summary).not.toHaveProperty("bodyCounts");
  });

  test("starts items in order, at most as many as concurrency says, eight by default", async () => {
    for (const [more, most] of [
      ["", 8],
      ["@concurrency = 3", 3],
    ] as const) {
      const { events } = await finish(each(more, "node d: delay { for = 10ms }"), {
        inputs: { items: Array.from({ length: 20 }, (_, i) => i) },
      });
      let open = 0;
      let seen = 0;
      const order: string[] = [];
      for (const e of events) {
        if (!("node" in e) || !e.node?.startsWith("m[")) continue;
        if (e.kind === "node.started") {
          open += 1;
          order.push(e.node);
        }
        if (e.kind === "node.succeeded") open -= 1;
        seen = Math.max(seen, open);
      }
      expect(seen).toBe(most);
      expect(order).toEqual(Array.from({ length: 20 }, (_, i) => `m[${i}]/d`));
    }
  });

  const failing =
    'node c: condition { if = item == 1 }\n    node f: fail { message = "bad"\n      code = "bad_item" }\n    node d: delay { for = 1s }\n    c.true -> f\n    output = item';

  test("the first failed item stops the others and the map fails with item_failed", async () => {
    const { events, summary } = await finish(each("", failing), { inputs: { items: [0, 1, 2] } });
    expect(summary.error).toMatchObject({ code: "item_failed", cause: "bad_item", node: "m" });
    expect(summary.error?.message).toContain("item 1");
    expect(one(events, "node.failed", "m[1]/f").routed).toBe("parent");
    expect(one(events, "node.cancelled", "m[1]/d").reason).toBe("sibling");
    expect(one(events, "node.cancelled", "m[0]/d").reason).toBe("sibling");
  });

  test("collect keeps null at failed positions, lists the errors by index, and succeeds", async () => {
    const { events, summary } = await finish(each('@on-error = "collect"', failing), {
      inputs: { items: [1, 0, 1] },
    });
    expect(summary.status).toBe("succeeded");
    expect(outputOf(events, "m")).toMatchObject({
      items: [null, 0, null],
      count: 3,
      errors: [
        { index: 0, error: { code: "bad_item" } },
        { index: 2, error: { code: "bad_item" } },
      ],
    });
  });

  test("reads its item under the name of `as`, and nodes and inputs around it", async () => {
    const { events } = await finish(
      `
input base: number
node k: transform { value = 10 }
node m: map { items = [1, 2]
  as = "n"
  body { node s: transform { value = n + k.value + inputs.base }
    output = s.value } }`,
      { inputs: { base: 100 } },
    );
    expect(outputOf(events, "m")).toMatchObject({ items: [111, 112] });
  });

  test("bodies nest, and their paths say where", async () => {
    const { events } = await finish(`
node m: map { items = [[1, 2], [3]]
  as = "row"
  @concurrency = 1
  body { node cells: map { items = row
      @concurrency = 1
      body { node s: transform { value = item * 10 + index }
        output = s.value } }
    output = cells.items } }`);
    expect(outputOf(events, "m")).toMatchObject({ items: [[10, 21], [30]] });
    expect(of(events, "m[0]/cells[1]/s")).toHaveLength(2);
  });

  test("an item that is parked does not hold back the next one beyond the limit", async () => {
    const { events } = await finish(
      each("@concurrency = 1", "node d: delay { for = 5ms }\n    output = item"),
      { inputs: { items: [1, 2, 3] } },
    );
    expect(outputOf(events, "m")).toMatchObject({ items: [1, 2, 3] });
  });
});

describe("loop", () => {
  test("until ends it after the round that fits", async () => {
    const { events } = await finish(`
node l: loop { init = 1
  until = state >= 8
  max = 20
  body { node s: transform { value = state * 2 }
    output = s.value } }`);
    expect(outputOf(events, "l")).toEqual({ state: 8, rounds: 3 });
  });

  test("while is tested before the first round", async () => {
    const { events } = await finish(`
node l: loop { init = 5
  while = state < 5
  max = 20
  body { node s: transform { value = state + 1 }
    output = s.value } }`);
    expect(outputOf(events, "l")).toEqual({ state: 5, rounds: 0 });
  });

  test("without a condition max rounds run; init is null by default", async () => {
    const { events } = await finish(`
node l: loop { max = 3
  as = "seen"
  body { node s: transform { value = [seen, index] }
    output = s.value } }`);
    expect(outputOf(events, "l")).toEqual({ state: [[[null, 0], 1], 2], rounds: 3 });
  });

  test("a condition that never holds is limit_exceeded and names loop.max", async () => {
    const { summary } = await finish(`
node l: loop { init = 0
  until = state > 100
  max = 3
  body { node s: transform { value = state + 1 }
    output = s.value } }`);
    expect(summary.error).toMatchObject({ code: "limit_exceeded" });
    expect(summary.error?.message).toContain("loop.max");
  });

  test("a round that fails fails the loop with item_failed", async () => {
    const { summary } = await finish(`
node l: loop { max = 3
  body { node s: fail { message = "no" } } }`);
    expect(summary.error).toMatchObject({ code: "item_failed", cause: "failed", node: "l" });
  });

  test("ten thousand rounds of an empty body grow no stack", async () => {
    const { events } = await finish(`
node l: loop { max = 10000
  body { output = index } }`);
    expect(outputOf(events, "l")).toEqual({ state: 9999, rounds: 10_000 });
  });
});

test("fields of a type are checked when they come from expressions", async () => {
  const { events } = await finish("input x: any\nnode a: log { message = inputs.x }", {
    inputs: { x: 5 },
  });
  expect(one(events, "node.failed", "a").error).toMatchObject({ code: "field_invalid" });
  expect(states(events)).toEqual({ a: "failed:none" });
});

test("what constant expressions add up to is checked like every other value", async () => {
  const { events } = await finish('node a: log { message = "x"\n level = "in" + "fos" }');
  expect(one(events, "node.failed", "a").error.code).toBe("field_invalid");
});
