/** S13: reloading the page of a run that goes on. */
import { createView, foldEvents } from "@millrace/contracts";
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { GATED } from "./flows.ts";
import { GATE_OPTIONS, startGate } from "./gate.ts";
import { endedRun, expectRunStatus, nodeItem, openTab, readSeqs, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a reload in the middle of a run", () => {
  const studio = useStudio();

  test("leaves the page where it was, and nothing of the log is missing or repeated", async () => {
    await using gate = await startGate();
    await using server = await startServer(GATE_OPTIONS);
    const runId = await startRun(server, GATED, { gate: gate.url });
    const place = `#/runs/${runId}?tab=timeline&node=gate`;
    const page = await studio.open(server.url, { place });
    const running = nodeItem(page, "gate, http.request, running");
    await running.waitFor();
    await page.reload();
    await running.waitFor();
    await expect.poll(() => page.url()).toBe(`${server.url}/studio${place}`);
    await page.getByRole("tab", { name: "Timeline", selected: true }).waitFor();
    await expect.poll(() => running.getAttribute("aria-selected")).toBe("true");

    gate.open();
    await expectRunStatus(page, "succeeded");
    await openTab(page, "Run views", "Events");
    const view = createView();
    for await (const event of server.client.runEvents(runId)) foldEvents(view, event);
    expect(view.seq).toBeGreaterThanOrEqual(50);
    const table = page.getByRole("table", { name: "Events" });
    await expect.poll(() => table.getAttribute("aria-rowcount")).toBe(`${view.seq + 1}`);
    expect(await readSeqs(page)).toEqual(Array.from({ length: view.seq }, (_, at) => at + 1));

    await nodeItem(page, "more, map, succeeded").press("ArrowRight");
    await nodeItem(page, "[19], item, succeeded").waitFor();
    await page.getByRole("region", { name: "Outputs" }).getByText("210").waitFor();
  });

  test("is not needed to find events: they are filtered by kind and by node, and open to their JSON", async () => {
    await using gate = await startGate();
    await using server = await startServer(GATE_OPTIONS);
    gate.open();
    const runId = await endedRun(server, GATED, { gate: gate.url });
    const page = await studio.open(server.url, { place: `#/runs/${runId}?tab=events` });
    const table = page.getByRole("table", { name: "Events" });
    await page.getByRole("combobox", { name: "Kind" }).selectOption("node.progress");
    const node = page.getByRole("searchbox", { name: "Node" });
    await node.fill("items");
    await node.press("Enter");
    let progress = 0;
    for await (const event of server.client.runEvents(runId)) {
      if (event.kind === "node.progress" && event.node === "items") progress += 1;
    }
    await expect.poll(() => table.getAttribute("aria-rowcount")).toBe(`${progress + 1}`);
    await table.getByRole("cell", { name: "items", exact: true }).first().waitFor();
    const first = table.getByRole("row").nth(1).getByRole("button");
    await expect.poll(() => first.getAttribute("aria-expanded")).toBe("false");
    await first.click();
    await table.getByText('"node.progress"').waitFor();
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download NDJSON" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe(`${runId}.ndjson`);
    const chunks: Uint8Array[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk);
    const answer = await fetch(`${server.url}/api/runs/${runId}/events`, {
      headers: { accept: "application/x-ndjson" },
    });
    expect(Buffer.concat(chunks).toString()).toBe(await answer.text());
  });
});
