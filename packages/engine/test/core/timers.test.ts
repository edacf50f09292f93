/** The one timer of the host that stands for all timers of an engine. */
import { createEngine, createPortableHost } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { planOf } from "@millrace/test-support/flows";
import { expect, onTestFinished, test, vi } from "vitest";
import { bodyType } from "./types.ts";

test.each([
  ["beyond", 3_600_000],
  ["almost up to", 1_799_500],
])(
  "a machine that sleeps %s the limit of a node keeps the next delay short",
  async (_, sleepMs) => {
    const clock = createSimClock();
    let sleptMs = 0; // as on a laptop: the time of day goes on, timers of the host do not
    const host = { ...clock, now: () => clock.now() + sleptMs };
    let answer: (value: object) => void = () => {};
    const asks = bodyType("asks", () => new Promise<object>((resolve) => (answer = resolve)));
    const plan = await planOf(
      "node a: test.asks { @timeout = 30m }\nnode b: delay { for = 1s }\nnode c: delay { for = 3h }\na -> b",
      { types: [asks] },
    );
    const run = createEngine({ host }).run(plan);
    const kinds: string[] = [];
    const reading = (async () => {
      for await (const batch of run.batches())
        for (const event of batch) if ("node" in event) kinds.push(`${event.kind} ${event.node}`);
    })();
    await clock.settle();
    sleptMs = sleepMs;
    answer({});
    await clock.advance(1_000);
    expect(kinds).toContain("node.succeeded b");
    run.cancel();
    await Promise.all([run.result, reading, clock.run()]);
  },
);

/** A host that cannot set the first timer of one second. */
function brokenHost() {
  const clock = createSimClock();
  let isBroken = true;
  const setTimer: typeof clock.setTimer = (fn, ms) => {
    if (!isBroken || ms !== 1_000) return clock.setTimer(fn, ms);
    isBroken = false;
    throw new Error("no timer");
  };
  return { clock, engine: createEngine({ host: { ...clock, setTimer } }) };
}

test("a host that cannot set a timer fails its node alone", async () => {
  const { clock, engine } = brokenHost();
  const first = engine.run(await planOf("node a: delay { for = 1s }"));
  await clock.settle();
  const second = engine.run(await planOf("node a: delay { for = 2s }"));
  await clock.advance(2_000);
  expect([first.state, second.state, clock.pending]).toEqual(["failed", "succeeded", 0]);
});

test("what a host could not be asked to wake for is woken with the next timer that is set", async () => {
  const { clock, engine } = brokenHost();
  const first = engine.run(await planOf("node a: delay { for = 3s }\nnode b: delay { for = 4s }"));
  await expect(clock.advance(3_000)).rejects.toThrow("no timer");
  const second = engine.run(await planOf("node a: delay { for = 2s }"));
  await clock.advance(2_000);
  expect([first.state, second.state, clock.pending]).toEqual(["succeeded", "succeeded", 0]);
});

test("a long timer of the host follows a clock that is set, and fires in its time when it is set back", () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const host = createPortableHost();
  const fired: string[] = [];
  const set = (name: string) => host.setTimer(() => fired.push(name), 3_600_000);
  set("forward");
  const cancel = set("cancelled");
  vi.advanceTimersByTime(120_000);
  cancel();
  vi.setSystemTime(Date.now() + 3_600_000);
  expect(fired).toEqual([]);
  vi.advanceTimersByTime(60_001);
  expect(fired).toEqual(["forward"]);
  set("back");
  vi.setSystemTime(Date.now() - 3_600_000);
  vi.advanceTimersByTime(3_599_999);
  expect(fired).toEqual(["forward"]);
  vi.advanceTimersByTime(2);
  expect(fired).toEqual(["forward", "back"]);
});
