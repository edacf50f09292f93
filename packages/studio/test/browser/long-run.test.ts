/** A run with more events than the page keeps: it is opened by its state, and its past is read when somebody asks for it. */
import { createView, foldEvents } from "@millrace/contracts";
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { endedRun, expectRunStatus, nodeItem, openTab } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** How long a server may look through the whole log, in milliseconds. */

const LONG = `flow 1 long

node items: map {
  items = range(6000)
  body {
    node one: transform {
      value = item
    }

    node two: transform {
      value = one.value
    }

    output = two.value
  }
}

node last: transform {
  value = items.count
}
`;

/** Elements of the document: bounded, whatever the length of the run. */
function elementsOf(page: Page): Promise<number> {
  return page.evaluate(() => document.getElementsByTagName("*").length);
}

describeWith("chromium")("a long run", () => {
  const studio = useStudio();

  test("is shown whole: its state at once, any event and any moment of it on demand", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, LONG);
    const { lastSeq } = await server.client.invoke("get_run", { runId });
    expect(lastSeq).toBeGreaterThan(20_000);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?tab=events` });
    await expectRunStatus(page, "succeeded");
    await nodeItem(page, "last, transform, succeeded").waitFor();
    const table = page.getByRole("table", { name: "Events" });
    await expect.poll(() => table.getAttribute("aria-rowcount")).toBe(`${lastSeq + 1}`);
    await table.getByRole("button", { name: "1", exact: true }).press("End");
    await table.getByRole("button", { name: `${lastSeq}`, exact: true }).waitFor();

    expect(await elementsOf(page)).toBeLessThan(3_000);

    await page.getByRole("combobox", { name: "Kind" }).selectOption("run.started");
    await expect.poll(() => table.getAttribute("aria-rowcount")).toBe("2");

    await openTab(page, "Run views", "Timeline");
    await page.getByRole("table", { name: "Timeline" }).getByRole("row").nth(1).waitFor();
    expect(await elementsOf(page)).toBeLessThan(3_000);
    const middle = Math.floor(lastSeq / 2);
    const view = createView();
    for await (const event of server.client.runEvents(runId)) {
      if (event.seq <= middle) foldEvents(view, event);
    }
    const slider = page.getByRole("slider", { name: "Position" });
    await slider.fill(`${middle}`);
    await nodeItem(page, "last, transform, pending").waitFor();
    await nodeItem(page, "items, map, running").waitFor();
    await expect
      .poll(() => slider.getAttribute("aria-valuetext"))
      .toMatch(new RegExp(`^event ${middle} of ${lastSeq}, [^r]`));
    await slider.press("End");
    await nodeItem(page, "last, transform, succeeded").waitFor();

    // Thousands of items are open, and few of them are in the document.
    const items = nodeItem(page, "items, map, succeeded");
    await items.press("ArrowRight");
    await items.and(page.getByRole("treeitem", { expanded: true })).waitFor();
    await page
      .getByRole("treeitem", { name: /^\[\d+\], item, succeeded/ })
      .first()
      .waitFor();
    expect(await elementsOf(page)).toBeLessThan(3_000);
  });
});
