import { finish, kinds, one, outputOf, states } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

test("a reference waits for its node without an edge", async () => {
  const { events } = await finish(`
node late: delay { for = 10ms }
node b: transform { value = late.at }`);
  expect(kinds(events).indexOf("node.succeeded")).toBeGreaterThan(0);
  expect(outputOf(events, "b")).toEqual({ value: outputAt(events) });
});

function outputAt(events: Parameters<typeof outputOf>[0]): unknown {
  return (outputOf(events, "late") as { at: string }).at;
}

const branch = `
node c: condition { if = false }
node a: transform { value = 1 }
c.true -> a`;

test("a required reference to a node that did not run skips the reader and says so", async () => {
  const { events } = await finish(`${branch}\nnode r: transform { value = a.value }`);
  expect(states(events)["r"]).toBe("skipped:dead");
  expect(one(events, "log")).toMatchObject({
    level: "info",
    code: "input_absent",
    data: { node: "r", names: ["a"] },
  });
});

test("an optional reference to it reads null", async () => {
  const { events } = await finish(`${branch}
node r: transform { value = [a?.value, a ?? "none"] }`);
  expect(outputOf(events, "r")).toEqual({ value: [null, "none"] });
});

test("x.error is there when x left by its error port, and x itself is not", async () => {
  const { events } = await finish(`
node x: fail { message = "boom"
  code = "my_code" }
node on: transform { value = x.error.code }
node off: transform { value = x.value }
node maybe: transform { value = x ?? "nothing" }
x.error -> on`);
  expect(states(events)).toEqual({
    x: "failed:port",
    on: "succeeded",
    off: "skipped:dead",
    maybe: "succeeded",
  });
  expect(outputOf(events, "on")).toEqual({ value: "my_code" });
  expect(outputOf(events, "maybe")).toEqual({ value: "nothing" });
});

test("x.error of a node that succeeded skips what requires it and is null where it is optional", async () => {
  const { events } = await finish(`
node x: transform { value = 1 }
node a: transform { value = x.error.code }
node b: transform { value = x?.error }
x.error -> never
node never: log { message = "x" }`);
  expect(states(events)).toMatchObject({
    a: "skipped:dead",
    b: "succeeded",
    never: "skipped:dead",
  });
  expect(outputOf(events, "b")).toEqual({ value: null });
});

test("a body reads the nodes around it, and waits for them through its owner", async () => {
  const { events } = await finish(`
node late: delay { for = 10ms }
node m: map { items = [1]
  body { node s: transform { value = late.at }
    output = s.value } }`);
  expect(outputOf(events, "m")).toMatchObject({ items: [outputAt(events)] });
});

test('nodes["any id"] reads the node of that id', async () => {
  const { events } = await finish(`
node "a b": transform { value = 7 }
node r: transform { value = nodes["a b"].value }`);
  expect(outputOf(events, "r")).toEqual({ value: 7 });
});

test("run gives id, start and flow", async () => {
  const { events } = await finish(
    "node r: transform { value = [run.id, run.flow, type(run.startedAt)] }",
    {
      run: { runId: "r1" },
    },
  );
  expect(outputOf(events, "r")).toEqual({ value: ["r1", "t", "string"] });
});

test("now() is the time at which the attempt started", async () => {
  const { events } = await finish(`
node d: delay { for = 5s }
node r: transform { value = epochMs(now()) }
d -> r`);
  expect(outputOf(events, "r")).toEqual({ value: one(events, "node.started", "r").ts });
});

test("an output that needs a node that did not run is left out; the others keep their order", async () => {
  const { summary } = await finish(`${branch}
node z: delay { for = 5ms }
output late: any = z.at != null
output gone: any = a.value
output early: number = 2`);
  expect(summary.status).toBe("succeeded");
  expect(Object.entries(summary.outputs)).toEqual([
    ["late", true],
    ["early", 2],
  ]);
});

test("an output that breaks its schema fails the run with output_schema", async () => {
  const { summary } = await finish("input x: any\noutput n: number = inputs.x", {
    inputs: { x: "text" },
  });
  expect(summary).toMatchObject({
    status: "failed",
    outputs: {},
    error: { code: "output_schema" },
  });
  expect(summary.error).not.toHaveProperty("node");
});

test("an output whose expression fails fails the run", async () => {
  const { summary } = await finish("input x: any\noutput n: any = inputs.x + 1", {
    inputs: { x: "text" },
  });
  expect(summary).toMatchObject({ status: "failed", error: { code: "expression_error" } });
});

test("the output of a body that needs a node that did not run is null", async () => {
  const { events } = await finish(`
node m: map { items = [true, false]
  body { node c: condition { if = item }
    node a: transform { value = 1 }
    c.true -> a
    output = a.value } }`);
  expect(outputOf(events, "m")).toMatchObject({ items: [1, null] });
});
