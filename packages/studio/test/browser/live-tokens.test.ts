/** S5: what a model writes is seen while it writes. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { TELL } from "./flows.ts";
import { expectRunStatus, nodeItem, openTab, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { startSlowModel } from "./slow-model.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("live tokens", () => {
  const studio = useStudio();

  test("grow in the log of the node before it ends, and are accounted for in the table of calls", async () => {
    await using model = await startSlowModel();
    await using server = await startServer({
      ai: { providers: { slow: { kind: "openai-compatible", baseUrl: model.url } } },
      egress: { allow: [{ host: "127.0.0.1" }] },
    });
    const runId = await startRun(server, TELL);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await nodeItem(page, "tell, ai, running").click();
    await openTab(page, "Node details", "Log");
    await model.called();

    const output = page.getByRole("log", { name: "Model output" });
    model.write("Once upon");
    await output.getByText("Once upon").waitFor();
    await nodeItem(page, "tell, ai, running").waitFor();
    const before = await output.textContent();
    model.write(" a time");
    await output.getByText("Once upon a time").waitFor();
    await nodeItem(page, "tell, ai, running").waitFor();
    await expect.poll(() => output.textContent()).not.toBe(before);
    await expectAccessible(page);

    model.finish();
    await expectRunStatus(page, "succeeded");
    await page.getByRole("region", { name: "Outputs" }).getByText("Once upon a time").waitFor();
    await openTab(page, "Node details", "Model calls");
    const call = page.getByRole("table", { name: "Model calls" }).getByRole("row").nth(1);
    for (const text of ["slow", "turtle", "12", "34", "unknown", "stop"]) {
      await call.getByRole("cell", { name: text, exact: true }).waitFor();
    }
    await expectAccessible(page);
  });
});
