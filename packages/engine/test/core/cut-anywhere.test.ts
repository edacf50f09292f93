/** A run that is cut after any of its events, also again and again, has the same end. */

import type { FlowGraph } from "@millrace/contracts";
import { createEngine } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { randomFlow, type Setup, scriptedNode, states } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { cut, linesOf, resumed, utf8, type Whole, whole } from "./resumed.ts";
import { bodyType } from "./types.ts";

const flows: { [name: string]: string } = {
  "a chain with branches and a join": `
node a: transform { value = 3 }
node c: condition { if = a.value > 2 }
node y: log { message = "yes \${a.value}" }
node z: log { message = "no" }
node j: join
node d: delay { for = 20ms }
node e: transform { value = [a.value, j.from] }
c.true -> y
c.false -> z
y -> j
z -> j
j -> d -> e
output e: any = e.value`,
  "a map of delays": `
node m: map { items = [30, 10, 20]
  @concurrency = 2
  body { node d: delay { for = item }
    node t: transform { value = item + index }
    d -> t
    output = t.value } }
output sum: number = sum(m.items)`,
  "a loop": `
node l: loop { init = 1
  until = state > 20
  max = 10
  body { node d: delay { for = 5ms }
    node t: transform { value = state * 2 }
    d -> t
    output = t.value } }
output state: number = l.state`,
  "bodies within bodies": `
node k: transform { value = 100 }
node m: map { items = [[1, 2], [3]]
  as = "row"
  body { node n: map { items = row
      body { node d: delay { for = item }
        node t: transform { value = item + k.value }
        d -> t
        output = t.value } }
    output = n.items } }
output rows: any = m.items`,
  confirmations: `
node a: confirm { prompt = "a?"
  @timeout = 1h }
node m: map { items = [1, 2, 3]
  body { node k: confirm { prompt = "item \${item}?" }
    output = k.by } }
node end: transform { value = [a.by, m.items] }
output end: any = end.value`,
  "failures that are handled": `
node x: fail { message = "boom"
  code = "mine"
  @on-error = { default: { value: 7 } } }
node y: fail { message = "boom"
  code = "mine" }
node on: log { message = y.error.code }
y.error -> on
node m: map { items = [0, 1, 2]
  @on-error = "collect"
  body { node d: delay { for = 5ms }
    node c: condition { if = item == 1 }
    node f: fail { message = "bad" }
    d -> c
    c.true -> f
    output = item } }
output all: any = [x.value, m.items, size(m.errors)]`,
  "a failure that ends the run": `
node d: delay { for = 5ms }
node busy: delay { for = 1h }
node f: fail { message = "boom" }
node after: log { message = "x" }
d -> f -> after`,
  retries: `
node a: transform { value = 1
  @retry = { max: 2, delay: 10ms, jitter: false, if: true }
  @on-error = { default: { value: 2 } } }
output a: any = a.value`,
};

describe("a run that is cut anywhere ends as if it had not been", () => {
  for (const [name, text] of Object.entries(flows)) {
    test(name, async () => {
      const run = await whole(text);
      for (let k = 0; k < run.lines.length; k += 1) {
        const { summary, events } = await resumed(run, k);
        const want = run.summary;
        expect({
          k,
          status: summary.status,
          outputs: summary.outputs,
          counts: summary.counts,
        }).toEqual({
          k,
          status: want.status,
          outputs: want.outputs,
          counts: want.counts,
        });
        expect(states(events)).toEqual(states(run.lines.map(({ event }) => event)));
        const again = events.slice(0, k).map((e) => JSON.stringify(e));
        expect(again).toEqual(run.lines.slice(0, k).map(({ line }) => utf8.decode(line)));
      }
    });
  }
});

/** Flows whose end does not depend on how often a node was tried or on which of two came first. */
function isSteady(graph: FlowGraph): boolean {
  return !/"fail"|"hang"|"timeoutMs"|"join":(?:"any"|\d)/.test(JSON.stringify(graph));
}

test("a random flow that is cut anywhere has a legal log to its end, and the same end if nothing in it depends on time", {
  timeout: 60_000,
}, async () => {
  let steady = 0;
  for (let seed = 1; seed <= 40; seed += 1) {
    const graph = randomFlow(seed);
    const run = await whole(graph, { types: [scriptedNode], run: { onFailure: "finish" } });
    const want = states(run.lines.map(({ event }) => event));
    for (let k = seed % 7; k < run.lines.length; k += 7) {
      const { summary, events } = await resumed(run, k, { run: { onFailure: "finish" } });
      if (!isSteady(graph)) continue;
      steady += 1;
      const { status, outputs } = run.summary;
      expect({
        seed,
        k,
        ...states(events),
        status: summary.status,
        outputs: summary.outputs,
      }).toEqual({
        seed,
        k,
        ...want,
        status,
        outputs,
      });
    }
  }
  expect(steady).toBeGreaterThan(5);
});

describe("an effect that was committed is not repeated, wherever the run is cut", () => {
  test.each([
    ["atLeastOnce", 2],
    ["atMostOnce", 1],
  ] as const)("with %s an effect in flight happens at most %i times", async (delivery, most) => {
    for (let k = 0; ; k += 1) {
      const done = new Map<string, number>();
      const write = bodyType(
        "write",
        (fields) => {
          const key = String(fields["key"]);
          done.set(key, (done.get(key) ?? 0) + 1);
          return { key };
        },
        { effect: "write" },
      );
      const text = ["a", "b", "c"]
        .map(
          (id) =>
            `node ${id}: test.write { key = "${id}"\n @delivery = "${delivery}"\n @on-error = "port" }`,
        )
        .join("\n");
      const run = await whole(`${text}\na -> b -> c\na.error -> b\nb.error -> c`, {
        types: [write],
      });
      if (k >= run.lines.length) return;
      const before = new Map(done);
      const ended = new Set(
        run.lines
          .slice(0, k)
          .flatMap(({ event: e }) => (e.kind === "node.succeeded" ? [e.node] : [])),
      );
      done.clear();
      await resumed(run, k);
      for (const id of ["a", "b", "c"]) {
        expect(before.get(id)).toBe(1);
        if (ended.has(id)) expect(done.get(id)).toBeUndefined();
        const started = run.lines
          .slice(0, k)
          .some(({ event: e }) => e.kind === "node.started" && e.node === id);
        if (started) expect((done.get(id) ?? 0) + 1).toBeLessThanOrEqual(most);
      }
    }
  });

  test("an idempotent effect runs again under its key, whatever delivery says", async () => {
    const keys: string[] = [];
    const put = bodyType(
      "put",
      (_fields, ctx) => {
        keys.push(ctx.idempotencyKey);
        return {};
      },
      { effect: "write", idempotent: true },
    );
    const run = await whole('node a: test.put { @delivery = "atMostOnce" }', { types: [put] });
    const { summary, events } = await resumed(run, 2);
    expect(summary.status).toBe("succeeded");
    expect(keys).toEqual(["r/a", "r/a"]);
    expect(events.find((e) => e.kind === "node.retrying")).toMatchObject({
      error: { code: "interrupted", retryable: true },
      delayMs: 0,
      next: 2,
    });
  });
});

describe("a run that is taken up again and again", () => {
  /** Takes it up so many times after its first `k` events; the process is gone for an hour each time, and ends at once. */
  async function restarts(run: Whole, k: number, times: number, setup: Setup = {}) {
    let lines = run.lines.slice(0, k);
    for (let i = 0; i < times; i += 1) {
      const clock = createSimClock({ start: (lines.at(-1)?.event.ts ?? 0) + 3_600_000 });
      const journal = await cut({ ...run, lines }, lines.length, clock);
      const engine = createEngine({ host: clock, journal });
      await engine.resume("r", { plan: run.plan, ...setup.run });
      await clock.settle();
      lines = await linesOf(journal, "r");
    }
    return resumed({ ...run, lines }, lines.length, setup);
  }
  const upTo = (run: Whole, kind: string) => run.lines.findIndex(({ event: e }) => e.kind === kind);

  test.each([
    ["a delay", "node d: delay { for = 20h }"],
    [
      "delays in bodies",
      `node m: map { items = [1, 2]
  body { node l: loop { init = 1
    max = 1
    body { node d: delay { for = 20h }
      node t: transform { value = 2 }
      d -> t
      output = t.value } }
    output = l.state } }`,
    ],
  ])("and only sleeps is no crash loop: %s", async (_what, text) => {
    const run = await whole(text);
    const k = run.lines.findLastIndex(({ kind }) => kind === "node.waiting") + 1;
    const { summary, events } = await restarts(run, k, 8);
    expect(summary.status).toBe("succeeded");
    expect(events.filter((e) => e.kind === "run.resumed")).toHaveLength(9);
  });

  test("and was due each time is one", async () => {
    const run = await whole("node d: delay { for = 1s }");
    const k = upTo(run, "node.resumed");
    let lines = run.lines.slice(0, k);
    for (let i = 0; i < 5; i += 1) {
      const clock = createSimClock({ start: (lines.at(-1)?.event.ts ?? 0) + 3_600_000 });
      const journal = await cut({ ...run, lines }, lines.length, clock);
      await createEngine({ host: clock, journal }).resume("r", { plan: run.plan });
      await clock.settle();
      // What it did after that is what its process did not live to store.
      lines = (await linesOf(journal, "r")).slice(0, lines.length + 2);
    }
    const { summary } = await resumed({ ...run, lines }, lines.length);
    expect(summary).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  });

  test("has the time that it had: what passed while nobody had it is not its own", async () => {
    const run = await whole("node d: delay { for = 5h }");
    const k = upTo(run, "node.waiting") + 1;
    const { summary } = await restarts(run, k, 4, { run: { timeoutMs: 7_200_000 } });
    expect(summary.status).toBe("succeeded");
  });
});
