/** What a node was given is read from the log as it was: of each attempt, wherever its node stands. */
import type { RunHeader } from "@millrace/contracts";
import {
  createEngine,
  createMemoryJournal,
  type RecordedRun,
  readNodeInputs,
  type SubflowPort,
} from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { graphOf, planOf } from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";
import { type Recorded, recorded, recorder, type Seen } from "./recorded.ts";

/** Every attempt is read as its body was given it. */
async function expectAsGiven({ seen, read }: Recorded): Promise<void> {
  expect(seen.length).toBeGreaterThan(0);
  for (const { node, attempt, fields } of seen) {
    const known = { type: "test.work", attempt, fields, redacted: [], absent: [] };
    expect([node, await read(node, attempt)]).toEqual([node, known]);
  }
}

describe("what a body was given is read again", () => {
  test("constants, inputs, the output of a node, the run and the clock of the attempt", async () => {
    const run = await recorded(
      `
      input n: int = 3
      node a: test.work { value = inputs.n + 1 }
      node b: test.work { value = { of: a.value, id: run.id, at: now(), began: run.startedAt }
        other = "x" }`,
    );
    await expectAsGiven(run);
    expect((await run.read("b"))?.fields["other"]).toBe("x");
  });

  test("each attempt of a node by its own clock, and the last one where none is named", async () => {
    const run = await recorded(
      `
      node a: test.work {
        value = now()
        fails = 2
        @retry = { max: 3, delay: 1s, on: ["extension_threw"] }
      }`,
    );
    expect(run.seen.map(({ attempt }) => attempt)).toEqual([1, 2, 3]);
    expect(new Set(run.seen.map(({ fields }) => fields["value"])).size).toBe(3);
    await expectAsGiven(run);
    expect(await run.read("a")).toEqual(await run.read("a", 3));
    expect(await run.read("a", 4)).toBeNull();
  });

  test("items of a map in a map, with their index, also those of a map that was tried again", async () => {
    const run = await recorded(
      `
      input rows: any = [[1, 2], [3]]
      node first: test.work { value = 10 }
      node rows: map {
        items = inputs.rows
        as = "row"
        @retry = { max: 3, delay: 1s, on: ["item_failed"] }
        body {
          node sum: map {
            items = row
            body {
              node one: test.work { value = [item, index, row, first.value] }
            }
          }
          node after: test.work { value = sum.items
 fails = first.value - 9 }
        }
      }`,
    );
    expect(run.seen.map(({ node }) => node)).toContain("rows[1]/sum[0]/one");
    expect(run.seen.some(({ node }) => node.startsWith("rows~2["))).toBe(true);
    await expectAsGiven(run);
  });

  test("rounds of a loop, each with the state that the one before left", async () => {
    const run = await recorded(
      `
      node poll: loop {
        init = { n: 1 }
        max = 4
        as = "last"
        body {
          node step: test.work { value = { n: last.n * 2, round: index } }
          node more: test.work { value = step.value.n + last.n }
          output = { n: step.value.n, at: now() }
        }
      }`,
    );
    expect(run.seen).toHaveLength(8);
    await expectAsGiven(run);
  });

  test("behind joins, default outputs and error ports", async () => {
    const run = await recorded(
      `
      node a: test.work { fails = 1 }
      node b: test.work {
        fails = 1
        @on-error = { default: { value: "instead" } }
      }
      node c: test.work { value = a.error.code }
      node d: test.work { value = [b.value, a?.value] }
      a.error -> c`,
      {},
      { options: { onFailure: "finish" } },
    );
    await expectAsGiven(run);
  });

  test("a value that is kept beside the log", async () => {
    const run = await recorded(
      `
      input text: string
      node a: test.work { value = inputs.text }
      node b: test.work { value = a.value }`,
      { text: "x".repeat(100_000) },
    );
    expect(run.events.some((e) => e.kind === "node.succeeded" && e.outputRef !== undefined)).toBe(
      true,
    );
    await expectAsGiven(run);
  });

  test("in a flow that is a step of another one", async () => {
    const inner = graphOf(`flow 1 inner
      input n: int
      input m: int = 5
      node leaf: test.work { value = inputs.n + inputs.m }
      output sum: int = leaf.value`);
    const subflows: SubflowPort = { get: async () => ({ graph: inner, digest: "" }) };
    const run = await recorded(
      `
      node a: test.work { value = 2 }
      node child: subflow {
 flow = "inner"
 inputs = { n: a.value }
 }`,
      {},
      { subflows },
    );
    expect(run.seen.map(({ node }) => node)).toContain("child/leaf");
    await expectAsGiven(run);
  });
});

describe("what a body was given is read again where bodies are in bodies", () => {
  test("a loop without an output, in a loop, in a map", async () => {
    const run = await recorded(
      `
      node all: map {
        items = [3, 4]
        as = "n"
        body {
          node outer: loop {
            init = n
            max = 2
            as = "seen"
            body {
              node inner: loop {
                init = { of: seen, at: now() }
                max = 2
                as = "deep"
                body {
                  node work: test.work { value = [n, seen, deep, index] }
                }
              }
              node after: test.work { value = [inner, seen] }
              output = seen + n
            }
          }
        }
      }`,
    );
    expect(run.seen).toHaveLength(12);
    await expectAsGiven(run);
  });

  test("a loop whose round skips a node, and whose output is then another one", async () => {
    const run = await recorded(
      `
      node poll: loop {
        init = 0
        max = 4
        as = "n"
        body {
          node odd: test.work {
            value = n + 1
            @when = n % 2 == 0
          }
          node even: test.work { value = odd?.value ?? "none" }
          output = odd?.value ?? n + 1
        }
      }`,
    );
    expect(run.seen).toHaveLength(6);
    await expectAsGiven(run);
  });

  test("a loop that was tried again, in a flow in a map", async () => {
    const inner = graphOf(`flow 1 inner
      input n: int
      node poll: loop {
        init = inputs.n
        max = 2
        as = "last"
        @retry = { max: 2, delay: 1s, on: ["item_failed"] }
        body {
          node step: test.work { value = [last, inputs.n] }
          node fails: test.work { fails = index - (inputs.n == 1 ? 0 : 1) }
          output = last + 10
        }
      }`);
    const subflows: SubflowPort = { get: async () => ({ graph: inner, digest: "" }) };
    const run = await recorded(
      `
      node each: map {
        items = [0, 1]
        body {
          node child: subflow {
            flow = "inner"
            inputs = { n: item }
          }
        }
        @on-error = { default: { items: [] } }
      }`,
      {},
      { subflows },
    );
    expect(run.seen.some(({ node }) => node.includes("/poll~2["))).toBe(true);
    await expectAsGiven(run);
  });
});

test("a node whose result a rerun takes over has what it was given in the rerun", async () => {
  const seen: Seen[] = [];
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const engine = createEngine({ host: clock, journal });
  const plan = await planOf(
    `node a: test.work { value = 4 }
      node m: map {
        items = [a.value, 5]
        body { node x: test.work { value = item } }
      }
      node b: test.work { value = m.items }`,
    { types: [recorder(seen)] },
  );
  engine.run(plan, {}, { runId: "first" });
  await clock.run();
  const before = [...seen];
  seen.length = 0;
  await engine.rerun("first", { plan, runId: "second", from: ["b"] });
  await clock.run();
  expect(seen.map(({ node }) => node)).toEqual(["b"]);
  const header = (await journal.load("second", { private: false })) as RunHeader;
  const read = (node: string) => readNodeInputs({ journal, header, plan }, { node });
  for (const { node, fields } of [...before, ...seen]) {
    const known = await read(node);
    if (node.includes("/"))
      expect(known).toBeNull(); // a map that is taken over does not run its body
    else expect(known).toMatchObject({ fields, absent: [] });
  }
});

describe("reading costs what the log has", () => {
  test("a value beside the log is loaded once, whatever number of rounds is made again", async () => {
    const rounds = 40;
    const { run, seen } = await recorded(
      `
      input text: string
      node poll: loop {
        init = { n: 0, text: inputs.text }
        max = ${rounds}
        as = "last"
        body {
          node step: transform { value = { n: last.n + 1, text: last.text } }
          node more: test.work { value = last.n }
          output = step.value
        }
      }`,
      { text: "x".repeat(70_000) },
    );
    expect(seen).toHaveLength(rounds);
    let loaded = 0;
    const journal: RecordedRun["journal"] = {
      read: run.journal.read,
      getValue(runId, ref) {
        loaded += 1;
        return run.journal.getValue(runId, ref);
      },
    };
    const known = await readNodeInputs({ ...run, journal }, { node: `poll[${rounds - 1}]/more` });
    expect(known).toMatchObject({ fields: { value: rounds - 1 }, absent: [] });
    expect(loaded).toBe(rounds - 1);
  });

  test("a round that no loop can have is not there", async () => {
    const { read } = await recorded(`
      node poll: loop {
        init = 0
        max = 2
        as = "last"
        body {
          node step: test.work { value = last }
          output = last
        }
      }`);
    expect(await read("poll[4000000000]/step")).toBeNull();
    expect((await read("poll[1]/step"))?.fields).toEqual({ value: 0 });
  });

  test("tags and titles that look like the place of a node are none", async () => {
    const tags = { node: "x/y" };
    const run = await recorded("node a: test.work { value = run.id }", {}, { options: { tags } });
    await expectAsGiven(run);
  });
});
