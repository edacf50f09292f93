/** Flows with the slips of models, mended as `validate --fix` does it: a few of those that `bench/fix/run.js` counts. */
import { expect, test } from "vitest";
import { BAR, measure, mend, readTasks, shares } from "../../../bench/fix/measure.js";

test("sixty tasks have reference flows without an error, and a flow without a slip stays as it is", async () => {
  const tasks = readTasks();
  expect(new Set(tasks.map(({ task }) => task)).size).toBe(60);
  for (const { text, task } of tasks) {
    const { end, fixed } = await mend(text, text);
    expect([end, fixed.text], task).toEqual(["same", text]);
  }
});

test("of flows with one to four slips at least 80 % end in the graph of their reference, and are not changed again", async () => {
  const rows = await measure(2);
  for (const { fixed } of rows.filter(({ seed }) => seed === 0))
    expect((await mend(fixed.text, fixed.text)).fixed.text).toBe(fixed.text);
  const { same, valid } = shares(rows);
  expect(same).toBeGreaterThanOrEqual(BAR);
  // A valid flow that says something else is worse than an error.
  expect(valid).toBeLessThanOrEqual(0.1);
});
