import { finish, outputOf, portOf, start, states } from "@millrace/test-support/flows";
import { expect, test } from "vitest";

/** Branches b0 … bn-1, each behind a condition that is true or false, and a join behind their `true` ports. */
function branches(taken: readonly boolean[], policy: string): string {
  const nodes = taken.map(
    (is, i) => `node c${i}: condition { if = ${is} }
node b${i}: log { message = "b" }
c${i}.true -> b${i}
b${i} -> j`,
  );
  return [
    ...nodes,
    `node j: join { ${policy} }`,
    `node after: log { message = "a" }`,
    "j -> after",
  ].join("\n");
}

const shapes = [2, 3].flatMap((n) =>
  Array.from({ length: 2 ** n }, (_, bits) =>
    Array.from({ length: n }, (_, i) => (bits & (1 << i)) !== 0),
  ),
);

const policies: [string, (live: number, all: number) => boolean][] = [
  ["", (live) => live >= 1],
  ['@join = "any"', (live) => live >= 1],
  ['@join = "all"', (live, all) => live === all],
  ["@join = 1", (live) => live >= 1],
  ["@join = 2", (live) => live >= 2],
];

for (const [policy, runs] of policies) {
  const name = policy === "" ? "the default policy" : policy;
  test(`a join with ${name} always completes, and runs when enough branches were taken`, async () => {
    for (const taken of shapes) {
      const { events, summary } = await finish(branches(taken, policy));
      const live = taken.filter(Boolean).length;
      const state = runs(live, taken.length) ? "succeeded" : "skipped:dead";
      expect({ taken, ...states(events) }).toMatchObject({ taken, j: state, after: state });
      expect(summary.status).toBe("succeeded");
    }
  });
}

test("a join names its live sources in the order in which they came", async () => {
  const { events } = await finish(`
node slow: delay { for = 20ms }
node fast: delay { for = 10ms }
node no: condition { if = false }
node never: log { message = "x" }
node j: join
no.true -> never
slow -> j
fast -> j
never -> j`);
  expect(outputOf(events, "j")).toEqual({ from: ["fast", "slow"], first: "fast" });
});

test("a join with any fires at the first live edge, once, and the losers run on", async () => {
  const { events } = await finish(`
node slow: delay { for = 50ms }
node fast: delay { for = 10ms }
node j: join { @join = "any" }
slow -> j
fast -> j`);
  expect(outputOf(events, "j")).toEqual({ from: ["fast"], first: "fast" });
  expect(events.filter((e) => e.kind === "node.started" && e.node === "j")).toHaveLength(1);
  expect(states(events)["slow"]).toBe("succeeded");
});

test("a join with n is dead as soon as n is out of reach", async () => {
  const { events } = await finish(`
node no: condition { if = false }
node a: log { message = "a" }
node b: log { message = "b" }
node slow: delay { for = 1s }
node j: join { @join = 3 }
no.true -> a
no.true -> b
a -> j
b -> j
slow -> j`);
  const skipped = events.findIndex((e) => e.kind === "node.skipped" && e.node === "j");
  const slow = events.findIndex((e) => e.kind === "node.succeeded" && e.node === "slow");
  expect(skipped).toBeGreaterThan(0);
  expect(skipped).toBeLessThan(slow);
});

test("two edges from one node to a join count as two", async () => {
  const { events } = await finish(`
node c: condition { if = true }
node j: join { @join = "all" }
c.true -> j
c.false -> j`);
  expect(states(events)["j"]).toBe("skipped:dead");
});

test("a node without edges is live, and an edge that was not taken skips what follows, to the end of the path", async () => {
  const { events, summary } = await finish(`
node c: condition { if = false }
node a: log { message = "a" }
node b: log { message = "b" }
node d: log { message = "d" }
c.true -> a -> b -> d`);
  expect(portOf(events, "c")).toBe("false");
  expect(states(events)).toEqual({
    c: "succeeded",
    a: "skipped:dead",
    b: "skipped:dead",
    d: "skipped:dead",
  });
  expect(summary.counts).toEqual({ succeeded: 1, failed: 0, skipped: 3, cancelled: 0 });
});

test("a join that is out of reach is skipped while a person is waited for, and then the run pauses", async () => {
  const { run, clock, events, end } = await start(`
node ask: confirm { prompt = "?" }
node w: delay { for = 10ms }
node j: join { @join = 2 }
ask.approved -> j
w.error -> j`);
  await clock.advance(10);
  expect(events.slice(-2).map(({ kind }) => kind)).toEqual(["node.skipped", "run.paused"]);
  await run.confirm("k1", { decision: "approve" });
  await end();
});
