/** S3: a new flow from text. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fillText, GREETING, treeitem } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a new flow", () => {
  const studio = useStudio();

  test("is typed, seen in the tree, saved under a slug and found in the list", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url);
    await page.getByRole("button", { name: "New flow" }).click();
    await fillText(page, GREETING);
    await treeitem(page, "words, transform").waitFor();
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Save flow" });
    expect(await dialog.getByLabel("Slug").inputValue()).toBe("greeting");
    await dialog.getByLabel("Tags").fill("demo, words");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page
      .getByRole("status", { name: "Notifications" })
      .getByText("Saved version 1")
      .waitFor();
    expect(new URL(page.url()).hash).toBe("#/flows/greeting");
    expect((await server.client.invoke("get_template", { slug: "greeting" })).tags).toEqual([
      "demo",
      "words",
    ]);
    await page.screenshot({ path: "/tmp/flow-s3.png" });
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
