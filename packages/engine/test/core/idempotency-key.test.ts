import { NodeError } from "@millrace/contracts";
import { createEngine, createMemoryJournal } from "@millrace/engine";
import { createSimClock } from "@millrace/engine/testing";
import { planOf } from "@millrace/test-support/flows";
import { expect, test } from "vitest";
import { bodyType } from "./types.ts";

test("a key that reads the time is the same in every attempt, and after a restart", async () => {
  const keys: string[] = [];
  const write = bodyType(
    "keyed",
    (_fields, ctx) => {
      keys.push(ctx.idempotencyKey);
      if (keys.length === 1) throw new NodeError("broken", "not yet", { retryable: true });
      return keys.length === 2 ? new Promise(() => undefined) : {};
    },
    { effect: "write" },
  );
  const text =
    'node a: test.keyed { @retry = { max: 3, delay: 10ms }\n @idempotency-key = "k-${now()}" }';
  const plan = await planOf(text, { types: [write] });
  const clock = createSimClock();
  const journal = createMemoryJournal({ now: clock.now });
  const first = createEngine({ host: clock, journal });
  first.run(plan, {}, { runId: "r" }).result.catch(() => undefined);
  await clock.advance(1_000);
  await first.close({ leave: true });
  await clock.advance(60_000);
  const again = await createEngine({ host: clock, journal }).resume("r", { plan });
  await clock.run();
  expect((await again.result).status).toBe("succeeded");
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
});
