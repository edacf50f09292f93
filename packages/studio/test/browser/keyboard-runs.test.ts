/** S5, S7, S15 and S16 without a pointer: watching a run, answering it, looking back and repeating it. */
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ASK, FAILS, STEPS, TELL } from "./flows.ts";
import { enterOn, nameOfFocus, tabTo } from "./keyboard.ts";
import { endedRun, expectRunStatus, nodeItem, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { startSlowModel } from "./slow-model.ts";
import { useStudio } from "./studio.ts";

/** A screen of the navigation. */
async function follow(page: Page, link: string): Promise<void> {
  await enterOn(page, page.getByRole("navigation").getByRole("link", { name: link, exact: true }));
  await page.getByRole("heading", { level: 1, name: link.replace(/,.*/, "") }).waitFor();
}

/** A run out of the list of runs. */
async function openFromList(page: Page, runId: string): Promise<void> {
  await follow(page, "Runs");
  await enterOn(page, page.getByRole("main").getByRole("link", { name: runId }));
  await page.getByRole("tree", { name: "Nodes" }).waitFor();
}

/** Selects a node by typing its name in the tree. */
async function selectNode(page: Page, name: string): Promise<void> {
  await tabTo(page, page.getByRole("tree", { name: "Nodes" }));
  await page.keyboard.type(name.split(",", 1)[0] ?? "");
  await page
    .getByRole("tree", { name: "Nodes" })
    .getByRole("treeitem", { name, exact: true, selected: true })
    .waitFor();
}

/** Chooses a tab with the arrow keys. */
async function chooseTab(page: Page, list: string, name: string): Promise<void> {
  const tabs = page.getByRole("tablist", { name: list });
  const tab = tabs.getByRole("tab", { name, exact: true });
  await tabTo(page, tabs);
  const count = await tabs.getByRole("tab").count();
  const isChosen = async () => (await tab.getAttribute("aria-selected")) === "true";
  const chosen = () => tabs.getByRole("tab", { selected: true }).textContent();
  for (let press = 0; press < count && !(await isChosen()); press += 1) {
    const before = await chosen();
    await page.keyboard.press("ArrowRight");
    await expect.poll(chosen).not.toBe(before);
  }
  await expect.poll(isChosen).toBe(true);
}

describeWith("chromium")("runs by the keyboard alone", () => {
  const studio = useStudio();

  test("are watched, answered, looked back at and repeated", async () => {
    await using model = await startSlowModel();
    await using server = await startServer({
      ai: { providers: { slow: { kind: "openai-compatible", baseUrl: model.url } } },
      egress: { allow: [{ host: "127.0.0.1" }] },
    });
    const steps = await endedRun(server, STEPS, { factor: 5 });
    const failed = await endedRun(server, FAILS);
    const [asks, waits] = [await startRun(server, ASK), await startRun(server, ASK)];
    const tells = await startRun(server, TELL);
    const page = await studio.open(server.url);
    await page.getByRole("link", { name: "Inbox, 2 open" }).waitFor();

    // S5
    await openFromList(page, tells);
    await selectNode(page, "tell, ai, running");
    await chooseTab(page, "Node details", "Log");
    await model.called();
    const output = page.getByRole("log", { name: "Model output" });
    model.write("Once upon");
    await output.getByText("Once upon").waitFor();
    model.write(" a time");
    await output.getByText("Once upon a time").waitFor();
    await nodeItem(page, "tell, ai, running").waitFor();
    model.finish();
    await expectRunStatus(page, "succeeded");
    await chooseTab(page, "Node details", "Model calls");
    const call = page.getByRole("table", { name: "Model calls" }).getByRole("row").nth(1);
    await call.getByRole("cell", { name: "turtle", exact: true }).waitFor();

    // S7
    await follow(page, "Inbox, 2 open");
    const questions = page.getByRole("list", { name: "Open confirmations" }).getByRole("listitem");
    const question = questions.filter({ hasText: asks });
    await tabTo(page, question.getByRole("textbox", { name: "Comment" }));
    await page.keyboard.type("not today");
    await enterOn(page, question.getByRole("button", { name: "Reject" }));
    await question.waitFor({ state: "detached" });
    expect(await nameOfFocus(page)).toBe("h1 Inbox");
    await questions.filter({ hasText: waits }).waitFor();
    const { confirmations } = await server.client.invoke("get_run", { runId: asks });
    expect(confirmations).toMatchObject([{ status: "rejected", comment: "not today" }]);

    // S15
    await follow(page, "Runs");
    await tabTo(page, page.getByRole("combobox", { name: "Status" }));
    await page.keyboard.type("failed");
    await page.waitForURL("**/*#/runs?status=failed");
    const rows = page.getByRole("table", { name: "Runs" }).getByRole("row");
    await expect.poll(() => rows.count()).toBe(2);
    await enterOn(page, page.getByRole("main").getByRole("link", { name: failed }));
    await chooseTab(page, "Run views", "Timeline");
    await page.getByRole("row", { name: /^stop, attempt 1, / }).waitFor();
    const slider = page.getByRole("slider", { name: "Position" });
    await tabTo(page, slider);
    await page.keyboard.press("Home");
    await nodeItem(page, "stop, fail, pending").waitFor();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => slider.getAttribute("aria-valuetext")).toMatch(/^event 2 of /);
    await page.keyboard.press("End");
    await nodeItem(page, "stop, fail, failed").waitFor();

    // S16
    await openFromList(page, steps);
    await selectNode(page, "third, transform, succeeded");
    await page.keyboard.press("Enter");
    await enterOn(page, page.getByRole("button", { name: "Rerun from here" }));
    const dialog = page.getByRole("dialog", { name: "Rerun third" });
    await tabTo(page, dialog.getByRole("textbox", { name: "factor" }));
    await page.keyboard.press("Control+a");
    await page.keyboard.type("7");
    await enterOn(page, dialog.getByRole("button", { name: "Start run" }));
    await page.getByRole("link", { name: `Repeats ${steps}` }).waitFor();
    await expectRunStatus(page, "succeeded");
    await nodeItem(page, "second, transform, succeeded, taken over").waitFor();
    await page.getByRole("region", { name: "Outputs" }).getByText("14").waitFor();
    await tabTo(page, page.getByRole("toolbar", { name: "Run" }));
    await page.keyboard.press("End");
    expect(await nameOfFocus(page)).toBe(`a Repeats ${steps}`);
    await page.keyboard.press("Enter");
    await page.getByRole("region", { name: "Outputs" }).getByText("10").waitFor();
  }, 120_000);
});
