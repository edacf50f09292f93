/** S1: signing in, and what becomes of the token. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const TOKEN = "correct-horse-battery-staple";
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
});
