/** Hubs: what they offer, and installing it. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { writeHub } from "./hub-folder.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("the hubs", () => {
  const studio = useStudio();

  test("adds one, says why it cannot be read, and removes it", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/hubs",
      expected: [/status of (502|504|409|422)/],
    });
    await page.getByRole("heading", { name: "No hubs" }).waitFor();
    await page.getByRole("button", { name: "Add hub" }).click();
    const form = page.getByRole("form", { name: "Add hub" });
    await form.getByLabel("Id").fill("example");
    await form.getByLabel("Name").fill("The example");
    await form.getByLabel("Address").fill("https://127.0.0.1:9/hub");
    await expectAccessible(page);
    await form.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByRole("table", { name: "Hubs" }).getByText("The example").waitFor();
    await page.getByRole("button", { name: "Sync example" }).click();
    await page
      .getByRole("alert")
      .getByText(/^Request /)
      .waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Remove example" }).click();
    const dialog = page.getByRole("dialog", { name: "Remove The example?" });
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("heading", { name: "No hubs" }).waitFor();
  });

  test("shows what a hub offers and installs a flow of it; a second time it asks to replace it", async () => {
    const dir = await writeHub();
    await using server = await startServer({
      hubs: [{ id: "local", dir, name: "Folder", provides: ["templates", "nodes"] }],
    });
    const page = await studio.open(server.url, {
      place: "#/hubs",
      expected: [/status of 409/],
    });
    await page.getByRole("button", { name: "Sync local" }).click();
    const items = page.getByRole("table", { name: "Items of local" });
    await items.getByText("The hello").waitFor();
    await expect
      .poll(() => page.getByRole("button", { name: "Install pack" }).isDisabled())
      .toBe(true);
    await expect
      .poll(() => page.getByRole("button", { name: "Remove local" }).isDisabled())
      .toBe(true);
    await expectAccessible(page);
    await page.getByRole("button", { name: "Install hello" }).click();
    const dialog = page.getByRole("dialog", { name: "Install The hello" });
    await expectAccessible(page);
    await dialog.getByRole("button", { name: "Install" }).click();
    await page.waitForURL("**/studio#/flows/hello");
    const { source } = await server.client.invoke("get_template", { slug: "hello" });
    expect(source).toMatchObject({ kind: "hub", hub: "local", item: "hello" });

    await page.goto(`${server.url}/studio#/hubs?hub=local`);
    await page.getByRole("button", { name: "Install hello" }).click();
    await dialog.getByRole("button", { name: "Install" }).click();
    await dialog.getByRole("alert").getByText("exists").waitFor();
    await dialog.getByLabel("Replace the flow of this slug").check();
    await dialog.getByRole("button", { name: "Install" }).click();
    await page.waitForURL("**/studio#/flows/hello");
  });
});
