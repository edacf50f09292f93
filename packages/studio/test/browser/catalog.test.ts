/** The catalog of node types in the page. */
import { describeWith } from "@millrace/test-support";
import {
  actionCode,
  adapterCode,
  changeFile,
  extensionProject,
  packageFolder,
} from "@millrace/test-support/extension-project";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("the catalog", () => {
  const studio = useStudio();

  test("shows node types by category, finds one, and says what it is", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/catalog",
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page
      .getByRole("table", { name: "control" })
      .getByRole("link", { name: "switch" })
      .waitFor();
    const search = page.getByRole("searchbox", { name: "Search" });
    await search.fill("nothing-has-this");
    await page.getByRole("status").getByText("No node type has").waitFor();
    await search.fill("http");
    await page.getByRole("table", { name: "control" }).waitFor({ state: "detached" });
    await expectAccessible(page);
    await page.getByRole("link", { name: "http.request" }).click();

    await page.getByRole("heading", { name: "http.request", level: 1 }).waitFor();
    const fields = page.getByRole("table", { name: "Fields" });
    const row = fields
      .getByRole("row")
      .filter({ has: page.getByRole("rowheader", { name: "method" }) });
    await expect.poll(() => row.textContent()).toMatch(/string.*"GET".*One of.*"POST"/);
    await fields.getByText("string, required").first().waitFor();
    await page.getByRole("table", { name: "Output" }).getByText("status").waitFor();
    await page.getByRole("button", { name: "Copy Read JSON" }).click();
    await page.getByRole("status", { name: "Notifications" }).getByText("Copied").waitFor();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toMatch(/^node request: http\.request \{\n {2}url = "https:/);
    await expectAccessible(page);
    await page.goBack();
    await expect
      .poll(() => page.getByRole("searchbox", { name: "Search" }).inputValue())
      .toBe("http");
  });

  test("says that nothing is found, and that a type does not exist", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/catalog?q=zzzz",
      expected: [/status of 404/],
    });
    await page.getByText("No node type has “zzzz”").waitFor();
    await page.goto(`${server.url}/studio#/catalog/no.such`);
    await page.getByRole("alert").getByText("There is no such resource").waitFor();
    await page.getByRole("link", { name: "All node types" }).click();
    await page.getByRole("table", { name: "time" }).waitFor();
  });

  test("shows why a type of an extension cannot be used", async () => {
    const name = "@acme/changed";
    const folder = await extensionProject([
      { name, code: adapterCode("changed", actionCode("go", "() => ({})", 'effect: "read"'), "") },
    ]);
    changeFile(`${packageFolder(folder, name)}/dist/extension.js`, (text) => `${text} `);
    await using server = await startServer({ extensions: { folder, list: [name] } });
    const page = await studio.open(server.url, { place: "#/catalog" });
    const row = page
      .getByRole("row")
      .filter({ has: page.getByRole("link", { name: "changed.go" }) });
    await row.getByText("failed").waitFor();
    await row.getByText("extension_changed").waitFor();
    await page.getByRole("link", { name: "changed.go" }).click();
    await page.getByText("extension_changed").waitFor();
    await expectAccessible(page);
  });
});
