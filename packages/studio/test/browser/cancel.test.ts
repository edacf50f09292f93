/** S12: cancelling a run; and closing its page, which leaves it alone. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { HOUR } from "./flows.ts";
import { expectRunStatus, nodeItem, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("cancelling", () => {
  const studio = useStudio();

  test("ends the run with all that is open of it", async () => {
    await using server = await startServer();
    const runId = await startRun(server, HOUR);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await nodeItem(page, "wait, delay, waiting").waitFor();
    const button = page.getByRole("toolbar", { name: "Run" }).getByRole("button", {
      name: "Cancel run",
    });
    await button.click();
    await expectRunStatus(page, "cancelled");
    await nodeItem(page, "wait, delay, cancelled").waitFor();
    await nodeItem(page, "after, log, cancelled").waitFor();
    await button.waitFor({ state: "detached" });
  });

  test("is not what closing the page does", async () => {
    await using server = await startServer();
    const runId = await startRun(server, HOUR);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await nodeItem(page, "wait, delay, waiting").waitFor();
    await page.goto("about:blank");
    const other = await studio.open(server.url, { place: `#/runs/${runId}` });
    await nodeItem(other, "wait, delay, waiting").waitFor();
    await expectRunStatus(other, "running");
    expect((await server.client.invoke("get_run", { runId })).status).toBe("running");
  });

  test("may wait: a run is paused and goes on by the toolbar", async () => {
    await using server = await startServer();
    const runId = await startRun(server, HOUR);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await page.getByRole("button", { name: "Pause run" }).click();
    await expectRunStatus(page, "paused");
    await page.getByRole("button", { name: "Resume run" }).click();
    await expectRunStatus(page, "running");
  });
});
