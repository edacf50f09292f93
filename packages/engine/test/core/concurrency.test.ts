/** How many nodes work at once: in a run, of a type, of a node, and by key. */
import { finish, graphOf, kinds, one } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { gauge } from "./types.ts";

describe("concurrency", () => {
  const wide = (n: number, policy = "") =>
    Array.from({ length: n }, (_, i) => `node n${i}: test.gauge { ${policy} }`).join("\n");

  test("a run works on 64 nodes at once, on fewer when the flow or the engine says so", async () => {
    const a = gauge();
    await finish(wide(100), { types: [a.type] });
    expect(a.seen.most).toBe(64);
    const b = gauge();
    await finish(`flow 1 t { @concurrency = 5 }\n${wide(20)}`, { types: [b.type] });
    expect(b.seen.most).toBe(5);
    const c = gauge();
    await finish(wide(20), { types: [c.type], engine: { concurrency: { run: 7 } } });
    expect(c.seen.most).toBe(7);
  });

  test("a type has its own slots, and a blocked node blocks nobody behind it", async () => {
    const a = gauge();
    const { events } = await finish(`${wide(4)}\nnode last: log { message = "x" }`, {
      types: [a.type],
      engine: { concurrency: { types: { "test.gauge": 1 } } },
    });
    expect(a.seen.most).toBe(1);
    const order = events.flatMap((e) => (e.kind === "node.started" ? [e.node] : []));
    expect(order).toEqual(["n0", "last", "n1", "n2", "n3"]);
  });

  test("a number bounds the instances of that node in the run, over all items", async () => {
    const a = gauge();
    await finish(
      `node m: map { items = range(10)
  @concurrency = 10
  body { node g: test.gauge { @concurrency = 2 } } }`,
      { types: [a.type] },
    );
    expect(a.seen.most).toBe(2);
  });

  test("a key bounds its holders in the whole engine; who waits says so and goes on in order", async () => {
    const a = gauge();
    const { events } = await finish(
      ["a", "b", "c"]
        .map((id) => `node ${id}: test.gauge { @concurrency = { max: 1, key: "k" } }`)
        .join("\n"),
      { types: [a.type] },
    );
    expect(a.seen.most).toBe(1);
    expect(kinds(events, "b")).toEqual([
      "node.started",
      "node.waiting",
      "node.resumed",
      "node.succeeded",
    ]);
    expect(one(events, "node.waiting", "b")).toMatchObject({ on: "slot", key: "k" });
    const ends = events.flatMap((e) => (e.kind === "node.succeeded" ? [e.node] : []));
    expect(ends).toEqual(["a", "b", "c"]);
  });

  test("long keys that begin alike, or differ in half a character, are two keys; none is shown in part", async () => {
    const long = "k".repeat(300);
    const keys = [`${long}a`, `${long}b`, "\ud83d", "\ud83e"];
    const a = gauge();
    const graph = graphOf(
      keys.flatMap((_, at) => [0, 1].map((n) => `node n${at}_${n}: test.gauge {}`)).join("\n"),
    );
    const nodes = graph.nodes.map((node, at) => ({
      ...node,
      policy: { concurrency: { max: 1, key: keys[at >> 1] as string } },
    }));
    const { events } = await finish({ ...graph, nodes }, { types: [a.type] });
    expect(a.seen.most).toBe(keys.length);
    const shown = events.flatMap((e) =>
      e.kind === "node.waiting" && e.on === "slot" ? [e.key] : [],
    );
    expect(shown).toHaveLength(keys.length);
    expect(new Set(shown).size).toBe(keys.length);
    for (const key of shown) expect(key).toMatch(/^sha256:[0-9a-f]{64}$/);
  });

  test("of different bounds for one key the lowest open one counts", async () => {
    const a = gauge();
    await finish(
      `node a: test.gauge { @concurrency = { max: 5, key: "k" } }
node b: test.gauge { @concurrency = { max: 1, key: "k" } }
node c: test.gauge { @concurrency = { max: 5, key: "k" } }`,
      { types: [a.type] },
    );
    expect(a.seen.most).toBeLessThanOrEqual(2);
  });

  test("maps within maps with one slot never block each other", async () => {
    const a = gauge();
    const { summary } = await finish(
      `flow 1 t { @concurrency = 1 }
node m: map { items = [1, 2]
  @concurrency = 1
  body { node n: map { items = [1, 2]
      @concurrency = 1
      body { node g: test.gauge } } } }`,
      { types: [a.type] },
    );
    expect(summary.status).toBe("succeeded");
    expect(a.seen.most).toBe(1);
  });

  test("a node that waits gives its slot to others", async () => {
    const { summary } = await finish(`
flow 1 t { @concurrency = 1 }
node a: delay { for = 1h }
node b: delay { for = 1h }`);
    expect(summary.durationMs).toBe(3_600_000);
  });
});
