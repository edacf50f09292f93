/** The sweep of one server of many. */
import { expect, onTestFinished, test, vi } from "vitest";
import { startSweep } from "../src/executor/sweep.ts";

test("a server whose rings are not taken leaves late runs to the others, which sweep meanwhile", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const dispatcher: { condition: "ok" | "degraded" } = { condition: "ok" };
  const looks: { at: number; lateMs: number }[] = [];
  const bells = {
    takeLate: async (lateMs: number) => {
      looks.push({ at: Date.now(), lateMs });
      return [];
    },
  };
  const end = startSweep({ bells, dispatcher, room: () => 1, ring() {}, takeOver() {} });
  onTestFinished(end);
  const look = async () => {
    await vi.advanceTimersToNextTimerAsync();
    return looks.at(-1) ?? expect.fail("no look");
  };
  const [first, second] = [await look(), await look()];
  dispatcher.condition = "degraded";
  const { lateMs } = await look();
  // a look of another server falls between the moments at which a bell is late there and here
  expect(lateMs - second.lateMs).toBeGreaterThan(2 * (second.at - first.at));
  dispatcher.condition = "ok";
  expect(await look()).toMatchObject({ lateMs: second.lateMs });
});
