/** S2: a server without a token and without flows. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("the first look", () => {
  const studio = useStudio();

  test("shows where everything is, and how to add the first flow", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url);
    await page.getByRole("heading", { name: "No flows yet" }).waitFor();
    const links = page.getByRole("navigation", { name: "Main" }).getByRole("link");
    await expect
      .poll(() => links.allTextContents())
      .toEqual([
        "Flows",
        "Runs",
        "Inbox",
        "Triggers",
        "Connections",
        "Models",
        "Catalog",
        "Hubs",
        "Settings",
      ]);
    await page.getByRole("button", { name: "New flow" }).waitFor();
    await page.getByRole("button", { name: "Import flow" }).waitFor();
    await page.emulateMedia({ media: "print" });
    await page.getByRole("navigation", { name: "Main" }).waitFor({ state: "hidden" });
    await page.emulateMedia({ media: "screen" });
    await expect
      .poll(() => page.getByRole("status", { name: "Connection" }).textContent())
      .toBe("Connected");
    // It is there before it says anything: screen readers hear of changes alone.
    expect(await page.getByRole("status", { name: "Notifications" }).count()).toBe(1);
  });

  test("says that a place does not exist, and leads home", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/nowhere" });
    await page.getByRole("heading", { name: "Not found" }).waitFor();
    await page.getByRole("link", { name: "Go to Flows" }).click();
    await page.getByRole("heading", { name: "No flows yet" }).waitFor();
  });
});
