/** S15, its first part: the history of runs. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { FAILS, HELLO } from "./flows.ts";
import { spawnServer, startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** Starts a run and waits for its end. */
async function runOf(
  { client }: TestServer,
  dsl: string,
  tags: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { runId } = await client.invoke("run_and_wait", { dsl, waitMs: 20_000, options: { tags } });
  return runId;
}

describeWith("chromium")("the history of runs", () => {
  const studio = useStudio();

  test("shows the ways to start a run where there is none, and each run as it starts and ends", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/runs" });
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await expect.poll(() => page.getByRole("main").getByRole("listitem").count()).toBe(3);
    await expectAccessible(page);

    const runId = await runOf(server, HELLO, { customer: "acme" });
    const row = page.getByRole("table", { name: "Runs" }).getByRole("row").nth(1);
    await row.getByText("succeeded").waitFor();
    await row.getByRole("link", { name: runId }).waitFor();
    await row.getByText("api").waitFor();
    await row.getByRole("button", { name: "customer=acme" }).waitFor();
    await expectAccessible(page);

    // On a telephone the table is scrolled, not the page.
    await page.setViewportSize({ width: 390, height: 844 });
    const region = page.getByRole("region", { name: "Runs, scrollable" });
    await expect
      .poll(() => region.evaluate((each) => each.scrollWidth > each.clientWidth))
      .toBe(true);
    const widest = () => page.evaluate(() => document.documentElement.scrollWidth);
    await expect.poll(widest).toBe(390);
  });

  test("keeps its filters in the place, and says when none fits", async () => {
    await using server = await startServer();
    const good = await runOf(server, HELLO, { customer: "acme" });
    const bad = await runOf(server, FAILS);
    const page = await studio.open(server.url, { place: "#/runs" });
    const table = page.getByRole("table", { name: "Runs" });
    await table.getByRole("link", { name: good }).waitFor();

    await page.getByRole("combobox", { name: "Status" }).selectOption("failed");
    await table.getByRole("link", { name: good }).waitFor({ state: "detached" });
    await table.getByRole("link", { name: bad }).waitFor();
    await expect.poll(() => page.url()).toMatch(/#\/runs\?status=failed$/);
    await page.reload();
    await table.getByRole("link", { name: bad }).waitFor();
    await expect.poll(() => table.getByRole("row").count()).toBe(2);

    const tag = page.getByRole("searchbox", { name: "Tag" });
    await tag.fill("customer=acme");
    await tag.press("Enter");
    await page.getByText("No run matches these filters").waitFor();
    await expect.poll(() => page.url()).toContain("tag.customer=acme");
    await page.getByRole("combobox", { name: "Status" }).selectOption("any");
    await table.getByRole("link", { name: good }).waitFor();
    await page.getByRole("button", { name: "Remove the filter customer=acme" }).click();
    await table.getByRole("link", { name: bad }).waitFor();
    await expect.poll(() => page.url()).toMatch(/#\/runs$/);
  });

  test("shows 50 runs, and more on demand", async () => {
    await using server = await startServer();
    for (let count = 0; count < 52; count += 1) {
      await server.client.invoke("start_run", { dsl: HELLO });
    }
    const page = await studio.open(server.url, { place: "#/runs" });
    const rows = page.getByRole("table", { name: "Runs" }).getByRole("row");
    await rows.nth(50).waitFor();
    await expect.poll(() => rows.count()).toBe(51);
    await page.getByRole("button", { name: "Load more" }).click();
    await rows.nth(52).waitFor();
    await page.getByRole("button", { name: "Load more" }).waitFor({ state: "detached" });
  });

  test("has the runs that came while the server was away", async () => {
    await using server = await spawnServer();
    const page = await studio.open(server.url, { place: "#/runs" });
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await server.kill();
    const state = page.getByRole("status", { name: "Connection" });
    await state.getByText(/Reconnecting|unreachable/).waitFor();
    await server.restart();
    const runId = await runOf(server, HELLO);
    await page.getByRole("table", { name: "Runs" }).getByRole("link", { name: runId }).waitFor();
  });

  test("compares exactly two runs, the older one first", async () => {
    await using server = await startServer();
    const runs: string[] = [];
    for (let count = 0; count < 3; count += 1) runs.push(await runOf(server, HELLO));
    const page = await studio.open(server.url, { place: "#/runs" });
    const compare = page.getByRole("button", { name: "Compare" });
    const select = (at: number) => page.getByRole("checkbox", { name: `Select ${runs[at]}` });
    await select(2).check();
    await expect.poll(() => compare.isDisabled()).toBe(true);
    await select(0).check();
    await select(1).check();
    await expect.poll(() => compare.isDisabled()).toBe(true);
    await select(1).uncheck();
    await compare.click();
    await page.waitForURL(`**/studio#/compare?a=${runs[0]}&b=${runs[2]}`);
  });

  test("says what the server refuses", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/runs",
      expected: [/status of 503/],
    });
    await page.getByRole("heading", { name: "No runs yet" }).waitFor();
    await page.route("**/api/invoke", (route) =>
      route.request().postData()?.includes("list_runs")
        ? route.fulfill({
            status: 503,
            contentType: "application/problem+json",
            json: {
              type: "https://millrace.dev/problems/draining",
              title: "The server is shutting down",
              status: 503,
              code: "draining",
              requestId: "req_1",
            },
          })
        : route.continue(),
    );
    await page.getByRole("combobox", { name: "Status" }).selectOption("failed");
    const alert = page.getByRole("alert");
    await alert.getByText("The server is shutting down").waitFor();
    await alert.getByText("Request req_1").waitFor();
  });
});
