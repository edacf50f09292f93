/** S1: signing in, and what becomes of the token. */
import { describeWith } from "@millrace/test-support";
import type { Route } from "playwright-core";
import { expect, test } from "vitest";
import { spawnServer, startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const TOKEN = "correct-horse-battery-staple";
const NEXT = "another-horse-battery-staple";
const UNAUTHORISED = [/status of 401/];

describeWith("chromium")("sign-in", () => {
  const studio = useStudio();

  test("asks for a token, refuses a wrong one, keeps the right one for this tab until it is signed out", async () => {
    await using server = await startServer({ tokens: [TOKEN] });
    const page = await studio.open(server.url, { expected: UNAUTHORISED });
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    const field = page.getByLabel("Access token");
    await expect.poll(() => field.getAttribute("type")).toBe("password");
    await field.fill("wrong-token-that-is-long-enough");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("This token is not accepted").waitFor();
    await field.fill(TOKEN);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await page.reload();
    await page.getByRole("navigation", { name: "Main" }).waitFor();

    const places = await page.evaluate(() => ({
      url: location.href,
      cookie: document.cookie,
      local: JSON.stringify(localStorage),
      document: document.documentElement.outerHTML,
    }));
    expect(JSON.stringify(places)).not.toContain(TOKEN);

    const other = await studio.sibling(page, server.url, { expected: UNAUTHORISED });
    await other.getByRole("navigation", { name: "Main" }).waitFor();

    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await other.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  test("says that the server does not answer, instead of refusing the token", async () => {
    await using server = await spawnServer({ tokens: [TOKEN] });
    const page = await studio.open(server.url, { expected: UNAUTHORISED });
    await page.getByLabel("Access token").fill(TOKEN);
    await server.kill();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("alert").getByText("cannot be reached").waitFor();
    await server.restart();
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("navigation", { name: "Main" }).waitFor();
  });

  test("a late refusal of the token of before does not end the session with the next one", async () => {
    await using server = await startServer({ tokens: [TOKEN, NEXT] });
    const page = await studio.open(server.url, { place: "#/catalog", expected: UNAUTHORISED });
    const signIn = async (token: string): Promise<void> => {
      await page.getByLabel("Access token").fill(token);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Main" }).waitFor();
    };
    const refuse = (route: Route): Promise<void> =>
      route.fulfill({ status: 401, json: { code: "unauthorized", title: "Refused" } });
    const late: Route[] = [];
    let take = async (route: Route): Promise<unknown> => late.push(route);
    await signIn(TOKEN);
    await page.getByRole("table", { name: "control" }).waitFor();
    await page.route("**/api/invoke", (route) => take(route));
    const navigation = page.getByRole("navigation", { name: "Main" });
    await navigation.getByRole("link", { name: "Flows" }).click();
    await expect.poll(() => late.length).toBeGreaterThan(0);
    take = refuse;
    await navigation.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    take = (route) => route.continue();
    await signIn(NEXT);
    await Promise.all(late.map(refuse));
    await page
      .getByRole("navigation", { name: "Main" })
      .getByRole("link", { name: "Flows" })
      .click();
    await page.getByRole("heading", { name: "No flows yet" }).waitFor();
  });
});
