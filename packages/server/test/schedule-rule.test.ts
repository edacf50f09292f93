/** The rule of schedules: whatever happens to clock and server, a fire time has one run at most, and one that comes in time has one. */

import { createServer, type MillraceServer } from "@millrace/server";
import { casesOf } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createTestClock } from "./support/clock.ts";
import { HELLO } from "./support/flows.ts";
import { keepLog } from "./support/server.ts";

const START = Date.parse("2026-03-01T12:00:00.000Z");
const EVERY_MS = 30_000;
const RUNS = Number(process.env["MILLRACE_FUZZ_RUNS"] ?? casesOf(12));
const ADMIN = { tokenId: null, role: "admin", requestId: "r", remote: null } as const;

/** `pass`: time goes by. `set`: the wall clock is moved. `restart`: the server stops, time goes by, another one starts. */
type Step = { readonly do: "pass" | "set" | "restart"; readonly ms: number };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 120_000 }) }),
    fc.record({ do: fc.constant("set" as const), ms: fc.integer({ min: -300_000, max: 300_000 }) }),
    fc.record({ do: fc.constant("restart" as const), ms: fc.integer({ min: 0, max: 300_000 }) }),
  ),
  { minLength: 3, maxLength: 12 },
);
const policies = fc.record({
  overlap: fc.constantFrom("skip", "queue", "allow"),
  catchUp: fc.constantFrom("skip", "one", "all"),
});

test("of every schedule under every clock", { timeout: RUNS * 20_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(policies, steps, async (policy, todo) => {
      const clock = createTestClock(START);
      const dir = temporaryFolder();
      const open = () => createServer({ store: dir, clock, log: keepLog() });
      let server: MillraceServer = await open();
      await server.app.invoke("save_template", { slug: "hello", dsl: HELLO }, ADMIN);
      const args = { template: "hello", everyMs: EVERY_MS, ...policy };
      const made = await server.app.invoke("create_schedule", args, ADMIN);
      const { id } = made as { id: string };
      for (const step of todo) {
        if (step.do === "pass") await clock.pass(step.ms);
        else if (step.do === "set") clock.set(step.ms);
        else {
          await server.close({ graceMs: 0 });
          clock.set(step.ms);
          server = await open();
        }
      }
      await clock.asleep();
      const { store } = server.host;
      const fires = await store.schedules.fires(id, 10_000);
      const runs = (await store.runs.list({ trigger: "schedule", limit: 200 })).items;
      await server.close({ graceMs: 0 });

      const fireTimes = runs.map(({ source }) =>
        Date.parse((source as { fireTime: string }).fireTime),
      );
      expect(new Set(fireTimes).size).toBe(fireTimes.length);
      for (const time of fireTimes) expect((time - START) % EVERY_MS).toBe(0);
      // Each run is that of its fire, and each fire that started has its run.
      const started = fires.filter(({ runId }) => runId !== null);
      expect(started.map(({ runId }) => runId).sort()).toEqual(
        runs.map(({ runId }) => runId).sort(),
      );
      expect(started.every(({ outcome }) => outcome === "started")).toBe(true);
      expect(new Set(fires.map(({ fireTime }) => fireTime)).size).toBe(fires.length);
      const isQuiet = todo.every((step) => step.do === "pass");
      if (isQuiet && policy.overlap === "allow") {
        const passed = todo.reduce((sum, { ms }) => sum + ms, 0);
        expect(fireTimes).toHaveLength(Math.floor(passed / EVERY_MS));
      }
    }),
    { numRuns: RUNS },
  );
});
