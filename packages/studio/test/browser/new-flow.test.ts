/** S3: a new flow from text. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fillText, GREETING, textbox, treeitem } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a new flow", () => {
  const studio = useStudio();

  test("begins with an example or is typed, seen in the tree, saved under a slug and found in the list", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url);
    await page.getByRole("button", { name: "New flow" }).click();
    await page.getByText("Nothing is written yet.").waitFor();
    await expect
      .poll(() => page.getByRole("list", { name: "Problems" }).getByRole("listitem").count())
      .toBe(0);
    await page.getByRole("button", { name: "Use this example" }).focus();
    await page.keyboard.press("Enter");
    await treeitem(page, "greeting, transform").waitFor();
    await expect.poll(() => textbox(page).evaluate((each) => each.matches(":focus"))).toBe(true);
    await page.keyboard.press("Control+z");
    await page.getByRole("button", { name: "Use this example" }).waitFor();
    await treeitem(page, "greeting, transform").waitFor({ state: "detached" });
    await fillText(page, GREETING);
    await treeitem(page, "words, transform").waitFor();
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Save flow" });
    await expect.poll(() => dialog.getByLabel("Slug").inputValue()).toBe("greeting");
    await dialog.getByLabel("Tags").fill("demo, words");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page
      .getByRole("status", { name: "Notifications" })
      .getByText("Saved version 1")
      .waitFor();
    await expect.poll(() => new URL(page.url()).hash).toBe("#/flows/greeting");
    expect((await server.client.invoke("get_template", { slug: "greeting" })).tags).toEqual([
      "demo",
      "words",
    ]);
    await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: "Flows" })
      .click();
    await page
      .getByRole("table", { name: "Flows" })
      .getByRole("link", { name: "greeting" })
      .waitFor();
  });
});
