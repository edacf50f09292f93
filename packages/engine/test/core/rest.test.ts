/** Runs that rest: they wait for people or for times, and who drives them may leave them meanwhile. */
import type { FlowGraph, Journal } from "@millrace/contracts";
import { createEngine, createMemoryJournal, type Run, type RunOptions } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import {
  graphOf,
  planOf,
  randomFlow,
  type Setup,
  scriptedNode,
} from "@millrace/test-support/flows";
import { describe, expect, test } from "vitest";

const utf8 = new TextDecoder();

async function textsOf(journal: Journal): Promise<string[]> {
  const texts: string[] = [];
  for await (const page of journal.read("r", 0)) {
    texts.push(...page.map(({ line }) => utf8.decode(line)));
  }
  return texts;
}

/** The log of a run; with `leaves` it is left whenever it rests, and taken up by another engine at once. */
async function logOf(
  flow: string | FlowGraph,
  { leaves = false, run: options = {}, ...setup }: Setup & { readonly leaves?: boolean } = {},
): Promise<{ texts: string[]; left: number }> {
  const plan = await planOf(typeof flow === "string" ? graphOf(flow) : flow, setup);
  const clock = createSimClock({ random: () => 0.5 });
  const journal = createMemoryJournal({ now: clock.now });
  const open = () => createEngine({ host: clock, journal });
  const all: RunOptions = { runId: "r", ...options };
  let run = open().run(plan, {}, all);
  let left = 0;
  for (let isLeft = false; ; isLeft = false) {
    await clock.settle();
    if (leaves && Number.isFinite(run.restsUntil ?? Number.NaN)) {
      isLeft = true;
      left += 1;
      run.result.catch(() => {});
      await run.leave();
      const { runId, ...rest } = all;
      run = await open().resume("r", { plan, wakes: true, ...rest });
    }
    const next = clock.nextIn;
    if (next !== undefined) await clock.advance(next);
    else if (!isLeft) break;
  }
  await run.result;
  return { texts: await textsOf(journal), left };
}

const delays = `
node a: delay { for = 1h }
node m: map { items = [30s, 10s, 20s]
  @concurrency = 2
  body { node d: delay { for = item }
    node t: transform { value = item + index }
    d -> t
    output = t.value } }
node l: loop { init = 1
  until = state > 4
  max = 10
  body { node d: delay { for = 5m }
    node t: transform { value = state * 2 }
    d -> t
    output = t.value } }
a -> l
output rest: any = [m.items, l.state]`;

const limits = `
node slow: delay { for = 2h
  @timeout = 1h
  @on-error = { default: { at: "2030-01-01T00:00:00Z" } } }
node again: fail { message = "no"
  @retry = { max: 3, delay: 10m, jitter: false }
  @on-error = { default: { value: 7 } } }
node end: delay { for = 3h }
slow -> end`;

describe("a run that is left whenever it rests has the log of one that is not", () => {
  test.each([
    ["delays in bodies", delays, {}],
    ["timeouts and retries", limits, {}],
    ["the clock of the run", "node d: delay { for = 5h }", { timeoutMs: 7_200_000 }],
  ])("%s", async (_what, flow, run) => {
    const { texts, left } = await logOf(flow, { leaves: true, run });
    expect(texts).toEqual((await logOf(flow, { run })).texts);
    expect(left).toBeGreaterThan(0);
  });

  test("random flows", async () => {
    let total = 0;
    for (let seed = 1; seed <= 12; seed += 1) {
      const setup = { types: [scriptedNode], run: { onFailure: "finish" } } as const;
      const { texts, left } = await logOf(randomFlow(seed), { ...setup, leaves: true });
      expect(texts, `seed ${seed}`).toEqual((await logOf(randomFlow(seed), setup)).texts);
      total += left;
    }
    expect(total).toBeGreaterThan(3);
  });
});

describe("when a run rests", () => {
  async function started(
    flow: string,
  ): Promise<{ run: Run; clock: ReturnType<typeof createSimClock> }> {
    const clock = createSimClock();
    const run = createEngine({ host: clock }).run(await planOf(graphOf(flow)), {});
    await clock.settle();
    return { run, clock };
  }

  test("it says when it goes on: the first of its times and deadlines", async () => {
    const { run, clock } = await started(`
node d: delay { for = 2h }
node k: confirm { prompt = "?"
  @timeout = 1h }`);
    expect(run.restsUntil).toBe(clock.now() + 3_600_000);
    await clock.run();
    expect(run.restsUntil).toBeNull();
  });

  test("people alone make a run go on that only asks, or that is paused", async () => {
    const { run: asking } = await started('node k: confirm { prompt = "?" }');
    expect(asking.restsUntil).toBe(Number.POSITIVE_INFINITY);
    const { run: paused } = await started("node d: delay { for = 2h }");
    paused.pause();
    expect(paused.restsUntil).toBe(Number.POSITIVE_INFINITY);
  });

  test("one whose pause would be forgotten does not", async () => {
    const { run } = await started('node k: confirm { prompt = "?" }');
    expect(run.pause()).toBe(true);
    expect(run.restsUntil).toBeNull();
  });
});
