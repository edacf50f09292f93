/** S17: two runs side by side. */
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { ASK, DOUBLE, HELLO } from "./flows.ts";
import { startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

async function runOf({ client }: TestServer, dsl: string, inputs = {}): Promise<string> {
  const { runId } = await client.invoke("run_and_wait", { dsl, inputs, waitMs: 20_000 });
  return runId;
}

const rowOf = (page: Page, path: string) =>
  page
    .getByRole("table", { name: "Comparison" })
    .getByRole("row")
    .filter({ has: page.getByRole("rowheader", { name: path, exact: true }) });

describeWith("chromium")("a comparison of runs", () => {
  const studio = useStudio();

  test("is opened from the history, pairs items by index and shows what differs", async () => {
    await using server = await startServer();
    const a = await runOf(server, DOUBLE, { items: [1, 2, 3] });
    const b = await runOf(server, DOUBLE, { items: [5] });
    const page = await studio.open(server.url, { place: "#/runs" });
    for (const runId of [a, b])
      await page.getByRole("checkbox", { name: `Select ${runId}` }).check();
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByRole("heading", { name: "Compare runs" }).waitFor();

    await rowOf(page, "fixed").getByText("same").waitFor();
    await rowOf(page, "each").getByText("changed").waitFor();
    await rowOf(page, "each[0]/twice").getByText("changed").waitFor();
    await rowOf(page, "each[1]/twice").getByText("only in A").waitFor();
    await rowOf(page, "mail").getByText("only in A").waitFor();
    await expect.poll(() => rowOf(page, "fixed").getByText("succeeded").count()).toBe(2);
    const inputs = page.getByRole("region", { name: "Inputs" });
    await inputs.getByRole("heading", { name: "items changed" }).waitFor();
    await page.getByLabel("Input items").getByText("5", { exact: true }).waitFor();
    await page.getByLabel("Output all").getByText("10").waitFor();
    await page.getByText("Same flow.").waitFor();

    await page.getByRole("button", { name: "Show each[0]/twice" }).click();
    const output = page.getByLabel("Output of each[0]/twice");
    await output.getByText("10").waitFor();
    await output.getByText("2", { exact: true }).waitFor();
    await expectAccessible(page);

    await page.getByRole("checkbox", { name: "Only what differs" }).check();
    await rowOf(page, "fixed").waitFor({ state: "detached" });
    await rowOf(page, "mail").waitFor();
  });

  test("shows the texts of two flows that differ", async () => {
    await using server = await startServer();
    const a = await runOf(server, HELLO);
    const b = await runOf(server, HELLO.replace("Hello, ", "Good day, "));
    const page = await studio.open(server.url, { place: `#/compare?a=${a}&b=${b}` });
    const text = page.getByLabel("Flow text");
    await text.getByText("Good day, ").first().waitFor();
    await text.getByText("Hello, ").first().waitFor();
    await page.getByText("Same inputs.").waitFor();
    await page.getByText("1 equal input").click();
    const inputs = page.getByRole("region", { name: "Inputs" });
    await inputs.getByRole("group", { name: "name" }).getByText('"world"').waitFor();
    await page.goto(`${server.url}/studio#/compare?a=${a}&b=${a}`);
    await page.getByText("Same flow.").waitFor();
    await page.getByText("Same outputs.").waitFor();
    await page.getByText("0 of 1 differ").waitFor();
  });

  test("shows what flows give as text, whatever it is", async () => {
    await using server = await startServer();
    const evil = (word: string) => `${word}\u202e<img src=x onerror=alert(1)>`;
    const a = await runOf(server, HELLO, { name: evil("Ada") });
    const b = await runOf(server, HELLO, { name: evil("Eve") });
    const page = await studio.open(server.url, { place: `#/compare?a=${a}&b=${b}` });
    await page.getByRole("button", { name: "Show greeting" }).click();
    const output = page.getByLabel("Output of greeting");
    await output.getByText("<img src=x onerror=alert(1)>").first().waitFor();
    await expect.poll(() => output.textContent()).not.toContain("\u202e");
    await page.goto(`${server.url}/studio#/compare?a=${a}&b=${a}`);
    await page.getByText("0 of 1 differ").waitFor();
    await page.getByRole("button", { name: "Show greeting" }).click();
    await page.getByRole("table").getByText("<img src=x onerror=alert(1)>").waitFor();
    await expect.poll(() => page.getByRole("table").textContent()).not.toContain("\u202e");
  });

  test("is made anew when a run ends", async () => {
    await using server = await startServer();
    const { client } = server;
    const dsl = ASK;
    const { runId: a } = await client.invoke("start_run", { dsl });
    const { runId: b } = await client.invoke("start_run", { dsl });
    for (const runId of [a, b]) {
      for await (const { kind } of client.runEvents(runId)) if (kind === "run.paused") break;
    }
    const page = await studio.open(server.url, { place: `#/compare?a=${a}&b=${b}` });
    await rowOf(page, "ask").getByText("same").waitFor();
    await client.invoke("resolve_confirmation", {
      runId: b,
      confirmationId: "k1",
      decision: "approve",
    });
    await rowOf(page, "yes").getByText("only in B").waitFor();
  });

  test("says that a run is not there, and what to do without runs", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/compare?a=run_none&b=run_none",
      expected: [/status of 404/],
    });
    await page.getByRole("alert").getByText("There is no such resource").waitFor();
    await page.goto(`${server.url}/studio#/compare`);
    await page.getByRole("main").getByRole("link", { name: "Runs" }).waitFor();
    await expectAccessible(page);
  });
});
