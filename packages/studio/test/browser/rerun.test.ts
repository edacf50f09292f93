/** S16: repeating a run, from one of its nodes on or from its beginning. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { STEPS } from "./flows.ts";
import { endedRun, expectRunStatus, nodeItem } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** Writes after its first node, if it were not told not to. */
const WRITES = `flow 1 writes

node first: transform {
  value = false
}

node keep: file.write {
  path = "kept.txt"
  content = "kept"
  @when = first.value
}
`;

/** Is given a secret. */
const SECRET = `flow 1 secret

input key {
  schema = { type: "string", format: "password" }
}

node size: transform {
  value = size(inputs.key)
}

output size: int = size.value
`;

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
    await expect.poll(() => field.inputValue()).toBe("5");
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

    const inputs = page.getByRole("region", { name: "Inputs" });
    await inputs.getByRole("group", { name: "factor" }).getByText("5").waitFor();
    await page.getByRole("button", { name: "Run again" }).click();
    const again = page.getByRole("dialog", { name: "Run again" });
    await expect.poll(() => again.getByRole("textbox", { name: "factor" }).inputValue()).toBe("5");
    await expectAccessible(page);
    await again.getByRole("textbox", { name: "factor" }).fill("8");
    await again.getByRole("button", { name: "Start run" }).click();
    await page.getByRole("region", { name: "Outputs" }).getByText("16").waitFor();
    await inputs.getByRole("group", { name: "factor" }).getByText("8").waitFor();
    await nodeItem(page, "first, transform, succeeded").waitFor();
  });

  test("names the nodes that may do something again outside of the run", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, WRITES);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=first` });
    await page.getByRole("button", { name: "Rerun from here" }).click();
    const dialog = page.getByRole("dialog", { name: "Rerun first" });
    await dialog.getByRole("listitem").getByText("keep").waitFor();
    await expect.poll(() => dialog.getByRole("listitem").count()).toBe(1);
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await server.client.invoke("list_runs", {})).items).toHaveLength(1);
  });

  test("keeps a secret input unless others change, and never shows it", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, SECRET, { key: "open-sesame-1234" });
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=size` });
    const rerun = page.getByRole("button", { name: "Rerun from here" });
    await rerun.click();
    const dialog = page.getByRole("dialog", { name: "Rerun size" });
    await dialog.getByRole("button", { name: "Start run" }).waitFor();
    expect(await dialog.innerHTML()).not.toContain("open-sesame");
    await dialog.getByRole("button", { name: "Start run" }).click();
    await page.getByRole("link", { name: `Repeats ${runId}` }).waitFor();
    await expectRunStatus(page, "succeeded");
    await page.getByRole("region", { name: "Outputs" }).getByText("16").waitFor();
    const shown = page.getByRole("region", { name: "Inputs" }).getByRole("group", { name: "key" });
    await shown.getByText("[redacted]").waitFor();

    await page.getByRole("button", { name: "Run again" }).click();
    const again = page.getByRole("dialog", { name: "Run again" });
    await again.getByRole("textbox", { name: "key", exact: true }).fill("another-secret");
    await again.getByRole("button", { name: "Start run" }).click();
    await page.getByRole("region", { name: "Outputs" }).getByText("14").waitFor();
    expect(await page.locator("body").innerHTML()).not.toContain("another-secret");
  });
});
