/** S15, its second part: going back in a run. */
import { createView, foldEvents } from "@millrace/contracts";
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { STEPS } from "./flows.ts";
import { endedRun, nodeItem } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const NODES = ["first", "second", "third"] as const;

async function expectStates(page: Page, states: readonly string[]): Promise<void> {
  for (const [at, id] of NODES.entries()) {
    await nodeItem(page, `${id}, transform, ${states[at]}`).waitFor();
  }
}

describeWith("chromium")("scrubbing", () => {
  const studio = useStudio();

  test("shows the states of the moment at which the slider stands, and the end at its end", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, STEPS);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?tab=timeline` });
    const table = page.getByRole("table", { name: "Timeline" });
    for (const id of NODES) {
      await table
        .getByRole("row", { name: new RegExp(`^${id}, attempt 1, \\d+(?: ms|\\.\\d s)$`) })
        .waitFor();
    }
    const states = ["succeeded", "succeeded", "succeeded"];
    await expectStates(page, states);

    const middle = 4;
    const view = createView();
    for await (const event of server.client.runEvents(runId)) {
      if (event.seq <= middle) foldEvents(view, event);
    }
    const then = NODES.map((id) => view.nodes.get(id)?.state ?? "pending");
    expect(then).not.toEqual(states);
    const slider = page.getByRole("slider", { name: "Position" });
    await slider.fill(`${middle}`);
    await expectStates(page, then);
    const begun = then.filter((state) => state !== "pending").length;
    await expect.poll(() => table.getByRole("row").count()).toBe(begun + 1);
    await page.waitForURL(`**/*tab=timeline&at=${middle}`);
    await expectAccessible(page);

    await page.reload();
    await expectStates(page, then);
    await slider.press("Home");
    await expectStates(page, ["pending", "pending", "pending"]);
    await slider.press("ArrowRight");
    await expectStates(page, ["running", "pending", "pending"]);
    await slider.press("End");
    await expectStates(page, states);
    await page.waitForURL(/tab=timeline$/);
    await expect.poll(() => slider.getAttribute("aria-valuetext")).toMatch(/^now, /);
  });

  test("is the same under the picture", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, STEPS);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?at=2` });
    await page.getByRole("region", { name: "Canvas" }).waitFor();
    await expectStates(page, ["running", "pending", "pending"]);
    await page.getByRole("slider", { name: "Position" }).press("End");
    await expectStates(page, ["succeeded", "succeeded", "succeeded"]);
  });
});
