/** Single requests of the page that are lost while its streams stay open. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const LOST = [/net::ERR_FAILED/];

describeWith("chromium")("a request that is lost", () => {
  const studio = useStudio();

  test("is made again: the page finds by itself that the server answers", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { expected: LOST });
    const navigation = page.getByRole("navigation", { name: "Main" });
    const connection = page.getByRole("status", { name: "Connection" });
    await navigation.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await page.route("**/api/{invoke,health}", (route) => route.abort());
    await navigation.getByRole("link", { name: "Flows" }).click();
    await connection.getByText("Reconnecting…").waitFor();
    await page.unroute("**/api/{invoke,health}");
    await page.getByRole("heading", { name: "No flows yet" }).waitFor();
    await connection.getByText("Connected").waitFor();
  });

  test("for a style sheet does not leave a screen without its styles, nor hides another one", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/catalog", expected: LOST });
    const navigation = page.getByRole("navigation", { name: "Main" });
    await page.getByRole("table", { name: "control" }).waitFor();
    await page.route("**/studio/assets/*.css", (route) => route.abort());
    await navigation.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Not loaded" }).waitFor();
    await page.getByRole("button", { name: "Reload the page" }).waitFor();
    await navigation.getByRole("link", { name: "Catalog" }).click();
    await page.getByRole("table", { name: "control" }).waitFor();
    await page.unroute("**/studio/assets/*.css");
    await navigation.getByRole("link", { name: "Settings" }).click();
    await page.getByRole("group", { name: "retention" }).waitFor();
    const rules = await page.evaluate(() =>
      [...document.styleSheets].map(({ cssRules }) => cssRules.length),
    );
    expect(rules).not.toContain(0);
  });
});
