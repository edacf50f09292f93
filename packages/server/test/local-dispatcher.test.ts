/** The dispatcher of a single server. */
import { createLocalDispatcher } from "@millrace/server";
import { dispatcherConformance } from "@millrace/test-support/dispatcher";
import { expect, onTestFinished, test } from "vitest";

dispatcherConformance("local", async () => ({
  hasMany: false,
  open: async () => createLocalDispatcher(),
}));

test("drives as many runs at a time as it is told, in the order of their rings", async () => {
  const dispatcher = createLocalDispatcher({ maxDrives: 2 });
  onTestFinished(() => dispatcher.close());
  const began: string[] = [];
  let most = 0;
  let working = 0;
  await dispatcher.serve(async (runId) => {
    began.push(runId);
    working += 1;
    most = Math.max(most, working);
    await new Promise((resolve) => setImmediate(resolve));
    working -= 1;
    return "done";
  });
  const runs = ["a", "b", "c", "d", "e"];
  for (const runId of runs) await dispatcher.ring(runId);
  await expect.poll(() => began).toEqual(runs);
  expect(most).toBe(2);
});

test("tells of a drive that failed, and not of one that is for another server", async () => {
  const told: unknown[] = [];
  const log = { warn: (fields: object, message?: string) => told.push({ ...fields, message }) };
  const dispatcher = createLocalDispatcher({ log });
  onTestFinished(() => dispatcher.close());
  const fault = new Error("no database");
  let calls = 0;
  await dispatcher.serve(async () => {
    calls += 1;
    if (calls === 1) throw fault;
    return "done";
  });
  await dispatcher.ring("a");
  await expect.poll(() => calls).toBe(2);
  expect(told).toEqual([{ runId: "a", err: fault, message: "run.drive_failed" }]);
});
