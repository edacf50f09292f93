import { compileFlow, createEngine, createRegistry } from "@millrace/engine";
import { createRandom, createSimClock } from "@millrace/engine/testing";
import { randomFlow, referenceRun, scriptedNode } from "@millrace/test-support/flows";
import { graphWith } from "@millrace/test-support/graph";
import { describe, expect, test } from "vitest";

describe("the simulated clock", () => {
  test("stands still until it is advanced, and then fires what falls due in the order of time and of setting", async () => {
    const clock = createSimClock({ start: 1_000 });
    const fired: string[] = [];
    const set = (name: string, ms: number) =>
      clock.setTimer(() => fired.push(`${name}@${clock.now()}`), ms);
    set("late", 20);
    set("first", 10);
    set("second", 10);
    set("never", 30)();
    await clock.advance(9);
    expect([fired, clock.now(), clock.nextIn]).toEqual([[], 1_009, 1]);
    await clock.advance(11);
    expect(fired).toEqual(["first@1010", "second@1010", "late@1020"]);
    expect([clock.now(), clock.pending, clock.nextIn]).toEqual([1_020, 0, undefined]);
  });

  test("lets promises and yields run to their end between two timers", async () => {
    const clock = createSimClock();
    const seen: string[] = [];
    clock.setTimer(() => {
      void Promise.resolve()
        .then(() => null)
        .then(() => clock.yield(() => void Promise.resolve().then(() => seen.push("follows"))));
    }, 1);
    clock.setTimer(() => seen.push("next"), 2);
    await clock.advance(2);
    expect(seen).toEqual(["follows", "next"]);
  });

  test("a timer that a timer sets falls due within the same advance", async () => {
    const clock = createSimClock({ start: 0 });
    const times: number[] = [];
    const again = (): void => {
      times.push(clock.now());
      if (times.length < 4) clock.setTimer(again, 5);
    };
    clock.setTimer(again, 5);
    await clock.advance(17);
    expect([times, clock.now()]).toEqual([[5, 10, 15], 17]);
    await clock.run();
    expect([times.at(-1), clock.pending]).toEqual([20, 0]);
  });
});

describe("random numbers", () => {
  test("are the same for a seed, differ between seeds, and stay in [0, 1)", () => {
    const [a, b, c] = [createRandom(7), createRandom(7), createRandom(8)];
    const draw = (random: () => number) => Array.from({ length: 100 }, () => random());
    const first = draw(a);
    expect(draw(b)).toEqual(first);
    expect(draw(c)).not.toEqual(first);
    expect(first.every((value) => value >= 0 && value < 1)).toBe(true);
  });

  test("pick, integer and chance cover their range, and a fork goes its own way", () => {
    const random = createRandom(1);
    const seen = new Set(Array.from({ length: 200 }, () => random.integer(2, 5)));
    expect([...seen].sort()).toEqual([2, 3, 4, 5]);
    expect(new Set(Array.from({ length: 100 }, () => random.pick(["a", "b"]))).size).toBe(2);
    const heads = Array.from({ length: 1_000 }, () => random.chance(0.25)).filter(Boolean).length;
    expect(heads).toBeGreaterThan(150);
    expect(heads).toBeLessThan(350);
    const one = createRandom(1);
    const fork = one.fork();
    const other = createRandom(1);
    const silent = other.fork();
    fork();
    fork();
    expect([one(), silent() === fork()]).toEqual([other(), false]);
  });
});

describe("random flows", () => {
  test("a seed gives one graph, of 1 to 60 nodes and bodies to depth 3", () => {
    const sizes = new Set<number>();
    let deepest = 0;
    const count = (
      nodes: readonly { body?: { nodes: readonly never[] } }[],
      depth: number,
    ): number =>
      nodes.reduce((sum, { body }) => {
        deepest = Math.max(deepest, depth);
        return sum + 1 + (body === undefined ? 0 : count(body.nodes, depth + 1));
      }, 0);
    for (let seed = 0; seed < 300; seed += 1) {
      const graph = randomFlow(seed);
      expect(randomFlow(seed)).toEqual(graph);
      sizes.add(count(graph.nodes as never, 0));
    }
    expect(Math.min(...sizes)).toBe(1);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(60);
    expect(Math.max(...sizes)).toBeGreaterThan(50);
    expect(deepest).toBe(3);
  });

  test("the reference knows defaults of inputs and takes others", () => {
    const graph = graphWith({
      id: "g",
      inputs: [{ name: "n", default: 1 }],
      nodes: [{ id: "a", type: "transform", fields: { value: { $: "inputs.n" } } }],
      outputs: [{ name: "o", value: { $: "a.value" } }],
    });
    expect(referenceRun(graph).outputs).toEqual({ o: 1 });
    expect(referenceRun(graph, { n: 2 }).outputs).toEqual({ o: 2 });
  });
});

test("a scripted node fails, waits, leaves and hangs as its fields say", async () => {
  const clock = createSimClock();
  const node = (id: string, fields: object, policy: object = {}) => ({
    id,
    type: scriptedNode.entry.type,
    fields: fields as never,
    policy,
  });
  const graph = graphWith({
    id: "g",
    nodes: [
      node("sync", { value: 1, port: "left" }),
      node("slow", { value: [2], delayMs: 50 }),
      node("flaky", { fail: 2 }, { retry: { max: 2, delayMs: 10, backoff: "constant" } }),
      node("stubborn", { fail: 1, code: "mine", retryable: false }, { retry: { max: 2 } }),
      node("deaf", { hang: true }, { timeoutMs: 100 }),
    ],
  });
  const compiled = await compileFlow(graph, { registry: createRegistry([scriptedNode]) });
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const run = createEngine({ host: clock }).run(compiled.plan, {}, { onFailure: "finish" });
  await clock.run();
  const { nodes } = run.snapshot().view;
  const ends = nodes.map(({ node, state, attempt, ports, output, error }) => [
    node,
    state,
    attempt,
    ports?.[0] ?? error?.code,
    output,
  ]);
  expect(ends).toEqual([
    ["sync", "succeeded", 1, "left", { value: 1 }],
    ["slow", "succeeded", 1, undefined, { value: [2] }],
    ["flaky", "succeeded", 3, undefined, { value: null }],
    ["stubborn", "failed", 1, "mine", undefined],
    ["deaf", "failed", 1, "timeout", undefined],
  ]);
});
