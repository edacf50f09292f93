/** What the page of a run says of one node: what it was given, what it gave, its attempts, and how it is written. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeWith } from "@millrace/test-support";
import { temporaryFolder } from "@millrace/test-support/folder";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { endedRun, nodeItem, openTab } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const TRIES = `flow 1 tries

input file: string = "absent.txt"

node words: transform {
  value = ["one", "two"]
}

# Is tried twice and then replaced.
node ledger: file.read {
  path = inputs.file
  @retry = { max: 1, delay: 1ms, jitter: false, on: ["denied", "file_not_found", "files_denied"] }
  @on-error = { default: { path: "", content: "none", bytes: 0, modifiedAt: "1970-01-01T00:00:00Z" } }
}

node say: log {
  message = "There are \${size(words.value)} words"
}
`;

const CHECKED = `flow 1 checked

node tell: ai {
  provider = "mock"
  modelId = "echo"
  input = "Tell a story"
  expect = [{ kind: "length", max: 3, message: "Too long.", level: "warn" }]
}
`;

describeWith("chromium")("the inspector of a run", () => {
  const studio = useStudio();

  test("shows fields, output, lines and text of the chosen node, and keeps node and attempt in the place", async () => {
    const dir = temporaryFolder();
    // A file of Windows.
    writeFileSync(join(dir, "tries.flow"), TRIES.replaceAll("\n", "\r\n"));
    await using server = await startServer({ flows: { dir } });
    const { runId } = await server.client.invoke("run_and_wait", {
      template: "tries",
      waitMs: 20_000,
    });
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    const panel = (name: string) => page.getByRole("tabpanel", { name });

    await nodeItem(page, "say, log, succeeded").click();
    await openTab(page, "Node details", "Input");
    await panel("Input").getByText("There are 2 words").waitFor();
    await openTab(page, "Node details", "Log");
    await page.getByRole("log", { name: "Log" }).getByText("There are 2 words").waitFor();
    await openTab(page, "Node details", "Model calls");
    await panel("Model calls").getByText("The node called no model and no tool.").waitFor();
    await openTab(page, "Node details", "Definition");
    await panel("Definition").getByText("node say: log {").waitFor();
    expect(await panel("Definition").textContent()).not.toContain("\\u000d");

    await nodeItem(page, "words, transform, succeeded").click();
    await openTab(page, "Node details", "Output");
    await panel("Output").getByText('"two"').waitFor();
    await expect.poll(() => page.url()).toMatch(/node=words$/);
    await expectAccessible(page);
  });

  test("tells the attempts of a node apart", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, TRIES);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=ledger` });
    await openTab(page, "Node details", "Attempts");
    const attempts = page.getByRole("tabpanel", { name: "Attempts" });
    const first = attempts.getByRole("button", { name: "Attempt 1" });
    await first.click();
    await expect.poll(() => page.url()).toMatch(/attempt=1$/);
    await expect.poll(() => first.getAttribute("aria-pressed")).toBe("true");
    await expect.poll(() => attempts.getByRole("listitem").count()).toBe(2);
    await expectAccessible(page);
    await page.reload();
    await page.getByText("attempt 1 of 2").waitFor();
    await openTab(page, "Node details", "Output");
    await page.getByRole("tabpanel", { name: "Output" }).locator("code").first().waitFor();
    await openTab(page, "Run views", "Timeline");
    const table = page.getByRole("table", { name: "Timeline" });
    await table
      .getByRole("row", { name: /^ledger, attempt 2, \d+(?: ms|\.\d s)$/ })
      .getByRole("button")
      .click();
    await page.waitForURL(/attempt=2/);
    await page.getByText("attempt 2 of 2").waitFor();
  });

  test("shows the checks of an output", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, CHECKED);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=tell` });
    await nodeItem(page, "tell, ai, succeeded").waitFor();
    await openTab(page, "Node details", "Output");
    await page
      .getByRole("listitem")
      .getByText(/^! warning: length/)
      .waitFor();
    await expectAccessible(page);
  });
});
