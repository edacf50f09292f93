/** S14: the server dies in the middle of a run and comes back. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { ASK, GATED } from "./flows.ts";
import { GATE_OPTIONS, startGate } from "./gate.ts";
import { expectRunStatus, nodeItem, openTab, readSeqs, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a server that dies and comes back", () => {
  const studio = useStudio();

  test("is waited for: what is shown stays, and the run is followed to its end", async () => {
    await using gate = await startGate();
    await using server = await startServer(GATE_OPTIONS);
    const runId = await startRun(server, GATED, { gate: gate.url });
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    const connection = page.getByRole("status", { name: "Connection" });
    const running = nodeItem(page, "gate, http.request, running");
    await running.waitFor();
    await server.kill();
    await connection.getByText("Reconnecting…").waitFor();
    await page.getByText(/^Shown as of /).waitFor();
    await running.waitFor();
    await server.restart();
    gate.open();
    await connection.getByText("Connected").waitFor();
    await expectRunStatus(page, "succeeded");
    await page.getByText(/^Shown as of /).waitFor({ state: "detached" });
    await openTab(page, "Run views", "Events");
    const { lastSeq } = await server.client.invoke("get_run", { runId });
    expect(await readSeqs(page)).toEqual(Array.from({ length: lastSeq }, (_, at) => at + 1));
  });

  test("finds what was typed for it", async () => {
    await using server = await startServer();
    const runId = await startRun(server, ASK);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    const comment = page.getByLabel("Comment");
    await comment.fill("typed before");
    await server.kill();
    await page.getByRole("status", { name: "Connection" }).getByText("Reconnecting…").waitFor();
    await server.restart();
    await page.getByRole("status", { name: "Connection" }).getByText("Connected").waitFor();
    expect(await comment.inputValue()).toBe("typed before");
    await page.getByRole("button", { name: "Approve" }).click();
    await expectRunStatus(page, "succeeded");
  });
});
