/** S16: repeating a run from one of its nodes on. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { STEPS } from "./flows.ts";
import { endedRun, expectRunStatus, nodeItem } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("rerunning from a node", () => {
  const studio = useStudio();

  test("takes over what came before it, with other inputs for what follows", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, STEPS, { factor: 5 });
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await page.getByRole("region", { name: "Outputs" }).getByText("10").waitFor();
    await nodeItem(page, "third, transform, succeeded").click();
    await page.getByRole("tab", { name: "Input" }).click();
    await page.getByRole("tabpanel", { name: "Input" }).getByText("10").waitFor();
    await page.getByRole("button", { name: "Rerun from here" }).click();
    const dialog = page.getByRole("dialog", { name: "Rerun third" });
    const factor = dialog.getByRole("spinbutton", { name: "factor" });
    const field =
      (await factor.count()) > 0 ? factor : dialog.getByRole("textbox", { name: "factor" });
    expect(await field.inputValue()).toBe("5");
    await expectAccessible(page);
    await field.fill("7");
    await dialog.getByRole("button", { name: "Start run" }).click();

    await page.getByRole("link", { name: `Repeats ${runId}` }).waitFor();
    await expectRunStatus(page, "succeeded");
    await nodeItem(page, "first, transform, succeeded, taken over").waitFor();
    await nodeItem(page, "second, transform, succeeded, taken over").waitFor();
    await nodeItem(page, "third, transform, succeeded").waitFor();
    await page.getByRole("region", { name: "Outputs" }).getByText("14").waitFor();
    await page.getByRole("link", { name: `Repeats ${runId}` }).click();
    await page.getByRole("region", { name: "Outputs" }).getByText("10").waitFor();
  });
});
