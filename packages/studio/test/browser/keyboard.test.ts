/** X1: what S3 to S12 do, without a pointer. */
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { notified, treeitem } from "./flow-page.ts";
import { FAILS, HOUR } from "./flows.ts";
import { enterOn, nameOfFocus, tabTo } from "./keyboard.ts";
import { expectRunStatus, nodeItem } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** Has a typo, a line that is not formatted, an input and a question. */
const TEXT = `flow 1 asks

input name: string

node words: transfrom {
  value="Hello, \${inputs.name}!"
}

node ask: confirm {
  prompt = words.value
}

node yes: log {
  message = "yes"
}

node no: log {
  message = "no"
}

node extra: log {
  message = "extra"
}

ask.approved -> yes
ask.rejected -> no

output text: string = words.value
`;

describeWith("chromium")("the keyboard alone", () => {
  const studio = useStudio();

  test("writes, mends, formats, changes, saves and runs a flow, and answers its question", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url);
    await enterOn(page, page.getByRole("button", { name: "New flow" }));
    const text = page.getByRole("textbox", { name: "Flow text" });
    await text.waitFor();
    for (let press = 0; press < 40 && !(await isFocusedInText(page)); press += 1) {
      await page.keyboard.press("Tab");
    }
    expect(await isFocusedInText(page)).toBe(true);
    await page.keyboard.press("Control+a");
    await page.keyboard.insertText(TEXT);

    const problem = page.getByRole("list", { name: "Problems" }).getByRole("listitem").first();
    await problem.getByText("FLOW3001").waitFor();
    await page.keyboard.press("F8");
    await enterOn(page, problem.getByRole("button", { name: /^Fix: .*transform/ }));
    await treeitem(page, "words, transform").waitFor();
    await page.keyboard.press("Control+Shift+F");
    await text.getByText('value = "Hello, ').waitFor();

    await tabTo(page, page.getByRole("tree", { name: "Nodes" }));
    await page.keyboard.type("extra");
    await page.getByRole("treeitem", { name: "extra, log", selected: true }).waitFor();
    await page.keyboard.press("Delete");
    const dialog = page.getByRole("dialog", { name: "Delete extra?" });
    await enterOn(page, dialog.getByRole("button", { name: "Delete", exact: true }));
    await treeitem(page, "extra, log").waitFor({ state: "detached" });
    await tabTo(page, page.getByRole("tree", { name: "Nodes" }));
    await page.keyboard.type("yes");
    await page.getByRole("treeitem", { name: "yes, log", selected: true }).waitFor();
    await page.keyboard.press("F2");
    await page.getByRole("dialog", { name: "Rename node" }).waitFor();
    await page.keyboard.press("Control+a");
    await page.keyboard.type("agreed");
    await page.keyboard.press("Enter");
    await treeitem(page, "agreed, log").waitFor();
    await tabTo(page, page.getByRole("tree", { name: "Nodes" }));
    await page.keyboard.type("agreed");
    await page.keyboard.press("Enter");
    const position = page
      .getByRole("complementary", { name: "Inspector" })
      .getByRole("group", { name: "Position" });
    await tabTo(page, position.getByLabel("X"));
    await page.keyboard.press("Control+a");
    await page.keyboard.type("300");
    await page.keyboard.press("Enter");
    await text.getByText("agreed = [300, ").waitFor();

    await page.keyboard.press("Control+s");
    await page.getByRole("dialog", { name: "Save flow" }).waitFor();
    await page.keyboard.press("Enter");
    await notified(page, "Saved version 1");
    const { dsl } = await server.client.invoke("get_template", { slug: "asks" });
    expect(dsl).toContain('node words: transform {\n  value = "Hello, ${inputs.name}!"\n}');
    expect(dsl).toContain("ask.approved -> agreed");
    expect(dsl).not.toContain("extra");

    await page.keyboard.press("Control+Enter");
    const start = page.getByRole("dialog", { name: "Run flow" });
    await tabTo(page, start.getByRole("textbox", { name: "name" }));
    await page.keyboard.type("Ada");
    await enterOn(page, start.getByRole("button", { name: "Start run" }));
    await expectRunStatus(page, "paused");
    const question = page.getByRole("region", { name: "Confirmation: ask" });
    await question.getByText("Hello, Ada!").waitFor();
    await enterOn(page, question.getByRole("button", { name: "Approve" }));
    await expectRunStatus(page, "succeeded");
    await question.waitFor({ state: "detached" });
    expect(await nameOfFocus(page)).toMatch(/^treeitem /);
    await nodeItem(page, "agreed, log, succeeded").waitFor();
    await nodeItem(page, "no, log, skipped").waitFor();
  });

  test("leads from a failure to its text, and cancels a run", async () => {
    await using server = await startServer();
    for (const [slug, dsl] of [
      ["fails", FAILS],
      ["hour", HOUR],
    ] as const) {
      await server.client.invoke("save_template", { slug, name: slug, dsl });
    }
    const page = await studio.open(server.url, { place: "#/flows/fails" });
    await treeitem(page, "stop, fail").waitFor();
    await page.keyboard.press("Control+Enter");
    await expectRunStatus(page, "failed");
    await enterOn(page, page.getByRole("button", { name: "Show in text" }));
    await page.waitForURL("**/studio#/flows/fails?v=1&node=stop");

    await enterOn(
      page,
      page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Flows" }),
    );
    await enterOn(page, page.getByRole("link", { name: "hour", exact: true }));
    await treeitem(page, "wait, delay").waitFor();
    await page.keyboard.press("Control+Enter");
    await nodeItem(page, "wait, delay, waiting").waitFor();
    await tabTo(page, page.getByRole("toolbar", { name: "Run" }));
    await page.keyboard.press("End");
    expect(await nameOfFocus(page)).toBe("button Cancel run");
    await page.keyboard.press("Enter");
    await expectRunStatus(page, "cancelled");
    await page.getByRole("button", { name: "Cancel run" }).waitFor({ state: "detached" });
  });
});

/** The editor is in a shadow root, so that the element with the focus is its host. */
function isFocusedInText(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const inner = document.activeElement?.shadowRoot?.activeElement;
    return inner?.getAttribute("aria-label") === "Flow text";
  });
}
