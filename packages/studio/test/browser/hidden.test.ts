/** X3: pages that nobody looks at give their streams back, and are whole when they are shown again. */
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ASK } from "./flows.ts";
import { expectRunStatus, nodeItem, openTab, readSeqs, startRun } from "./run-page.ts";
import { startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** Tells a page that it is hidden or shown, as a browser does when tabs are changed. */
async function setVisible(page: Page, visibility: "visible" | "hidden"): Promise<void> {
  await page.evaluate((state) => {
    Object.defineProperty(document, "visibilityState", { configurable: true, value: state });
    document.dispatchEvent(new Event("visibilitychange"));
  }, visibility);
}

/** Event streams that the server has open. */
async function streams({ url }: TestServer): Promise<number> {
  const metrics = await (await fetch(`${url}/api/metrics`)).text();
  return Number(/^millrace_streams (\d+)$/m.exec(metrics)?.[1]);
}

describeWith("chromium")("a hidden page", () => {
  const studio = useStudio();

  test("closes its streams, and shows the whole run when it is shown again", async () => {
    await using server = await startServer();
    const runId = await startRun(server, ASK);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await nodeItem(page, "ask, confirm, waiting").waitFor();
    await expect.poll(() => streams(server)).toBe(2);
    await setVisible(page, "hidden");
    await expect.poll(() => streams(server)).toBe(0);

    const [open] = (await server.client.invoke("get_run", { runId })).confirmations;
    const answer = { runId, confirmationId: open?.id ?? "", decision: "approve" } as const;
    await server.client.invoke("resolve_confirmation", answer);
    for await (const event of server.client.runEvents(runId)) if (event.kind === "summary") break;
    await nodeItem(page, "ask, confirm, waiting").waitFor();

    await setVisible(page, "visible");
    await expectRunStatus(page, "succeeded");
    await openTab(page, "Run views", "Events");
    const { lastSeq } = await server.client.invoke("get_run", { runId });
    expect(await readSeqs(page)).toEqual(Array.from({ length: lastSeq }, (_, at) => at + 1));
    // The run has ended: the feed is the one stream that is left.
    await expect.poll(() => streams(server)).toBe(1);
  });

  test("leaves the connections of the browser to the one of ten that is looked at", async () => {
    await using server = await startServer();
    const runId = await startRun(server, ASK);
    const place = `#/runs/${runId}`;
    let page = await studio.open(server.url, { place });
    for (let count = 1; count < 10; count += 1) {
      await nodeItem(page, "ask, confirm, waiting").waitFor();
      await setVisible(page, "hidden");
      page = await studio.sibling(page, server.url, { place });
    }
    await nodeItem(page, "ask, confirm, waiting").waitFor();
    await expect.poll(() => streams(server)).toBe(2);
    await page.getByRole("button", { name: "Approve" }).click();
    await expectRunStatus(page, "succeeded");
  });
});
