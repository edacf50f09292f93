/** S14: the server dies in the middle of a run and comes back. */
import type { Meta } from "@millrace/contracts";
import { describeWith } from "@millrace/test-support";
import type { Page, Route } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { ASK, GATED, HELLO } from "./flows.ts";
import { GATE_OPTIONS, startGate } from "./gate.ts";
import { endedRun, expectRunStatus, nodeItem, openTab, readSeqs, startRun } from "./run-page.ts";
import { spawnServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a server that dies and comes back", () => {
  const studio = useStudio();

  test("is waited for: what is shown stays, and the run is followed to its end", async () => {
    await using gate = await startGate();
    await using server = await spawnServer(GATE_OPTIONS);
    const runId = await startRun(server, GATED, { gate: gate.url });
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    const connection = page.getByRole("status", { name: "Connection" });
    const running = nodeItem(page, "gate, http.request, running");
    await running.waitFor();
    await server.kill();
    await connection.getByText("Reconnecting…").waitFor();
    await page.getByText(/^Shown as of /).waitFor();
    await running.waitFor();
    await server.restart();
    gate.open();
    await connection.getByText("Connected").waitFor();
    await expectRunStatus(page, "succeeded");
    await page.getByText(/^Shown as of /).waitFor({ state: "detached" });
    await openTab(page, "Run views", "Events");
    const { lastSeq } = await server.client.invoke("get_run", { runId });
    expect(await readSeqs(page)).toEqual(Array.from({ length: lastSeq }, (_, at) => at + 1));
  });

  test("finds what was typed for it", async () => {
    await using server = await spawnServer();
    const runId = await startRun(server, ASK);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    const comment = page.getByLabel("Comment");
    await comment.fill("typed before");
    await server.kill();
    await page.getByRole("status", { name: "Connection" }).getByText("Reconnecting…").waitFor();
    await server.restart();
    await page.getByRole("status", { name: "Connection" }).getByText("Connected").waitFor();
    await expect.poll(() => comment.inputValue()).toBe("typed before");
    await page.getByRole("button", { name: "Approve" }).click();
    await expectRunStatus(page, "succeeded");
  });

  test("says that it shuts down, then that it is unreachable, with the age of what is shown, and goes on by itself", async () => {
    await using gate = await startGate();
    await using server = await spawnServer(GATE_OPTIONS);
    await server.client.invoke("save_template", { slug: "hello", name: "Hello", dsl: HELLO });
    const runId = await startRun(server, GATED, { gate: gate.url });
    const page = await studio.open(server.url, { expected: [/status of 503/] });
    const connection = page.getByRole("status", { name: "Connection" });
    const row = page.getByRole("row").filter({ hasText: runId });
    await page.clock.install();
    await page.reload();
    await page.getByRole("link", { name: "hello", exact: true }).click();
    const run = page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Run" });
    await expect.poll(() => run.isEnabled()).toBe(true);
    server.drain();
    const dialog = page.getByRole("dialog", { name: "Run flow" });
    const readiness = async () => (await fetch(`${server.url}/api/ready`)).json();
    await expect.poll(readiness).toEqual({ status: "draining" });
    await run.click();
    await dialog.getByRole("button", { name: "Start run" }).click();
    await page.getByText("The server is shutting down: nothing new is started").waitFor();
    await dialog.getByRole("alert").getByText("The server is shutting down").waitFor();
    await page.keyboard.press("Escape");
    const navigation = page.getByRole("navigation", { name: "Main" });
    await navigation.getByRole("link", { name: "Runs" }).click();
    await row.getByText("running").waitFor();

    await server.kill();
    await connection.getByText("Reconnecting…").waitFor();
    await page.clock.fastForward(10_000);
    await connection.getByText("Server unreachable").waitFor();
    await page.getByText(/^Shown as of 1\d seconds ago: the server does not answer/).waitFor();
    await row.getByText("running").waitFor();
    await expectAccessible(page);
    await navigation.getByRole("link", { name: "Flows" }).click();
    await page.getByText("The server cannot be reached. Trying again…").waitFor();
    await navigation.getByRole("link", { name: "Connections" }).click();

    gate.open();
    await server.restart();
    await page.getByRole("heading", { name: "No services" }).waitFor();
    await connection.getByText("Connected").waitFor();
    await page.getByText(/^Shown as of /).waitFor({ state: "detached" });
    await page.getByText("The server is shutting down").waitFor({ state: "detached" });
    await navigation.getByRole("link", { name: "Runs" }).click();
    await row.getByText("succeeded").waitFor();
  });

  test("is read only where it comes back in a version that the page does not fit", async () => {
    await using server = await spawnServer();
    const runId = await endedRun(server, HELLO);
    const page = await studio.open(server.url);
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    await makePage(page, "1.4.0");
    await changeMeta(page, (meta) => ({ ...meta, version: "1.4.2" }));
    await page.goto(`${server.url}/studio#/models`);
    await page.reload();
    const connection = page.getByRole("status", { name: "Connection" });
    const warning = page.getByRole("status", { name: "Server" });
    await page.getByRole("heading", { name: "No local models here" }).waitFor();
    await expect.poll(() => warning.textContent()).toBe("");
    await changeMeta(page, ({ caller, draining, ...meta }) => ({
      ...meta,
      version: "1.3.9",
      commands: {
        wired: meta.commands.wired.filter((name) => name !== "list_providers"),
        unwired: [],
      },
    }));
    await server.kill();
    await connection.getByText("Reconnecting…").waitFor();
    await server.restart();
    await warning.getByText("older than this page").waitFor();
    const navigation = page.getByRole("navigation", { name: "Main" });
    await navigation.getByRole("link", { name: "Flows" }).click();
    const create = page.getByRole("button", { name: "Import flow" });
    await create.waitFor();
    await expect.poll(() => create.isDisabled()).toBe(true);
    await expect.poll(() => create.getAttribute("title")).toContain("older than this page");
    await navigation.getByRole("link", { name: "Runs" }).click();
    await page.getByRole("row").filter({ hasText: runId }).waitFor();

    await changeMeta(page, (meta) => ({ ...meta, version: "2.0.0" }));
    await page.reload();
    await warning.getByText("newer than this page").waitFor();
  });
});

/** Changes what the server says of itself from now on. */
async function changeMeta(page: Page, change: (meta: Meta) => Meta): Promise<void> {
  await page.unroute("**/api/invoke");
  await page.route("**/api/invoke", async (route) => {
    const { command } = route.request().postDataJSON() as { readonly command: string };
    if (command !== "get_meta") return route.fallback();
    return changeAnswer(route, (body) => JSON.stringify(change(JSON.parse(body) as Meta)));
  });
}

/** Gives the page another version than that of the repository, before which there is none. */
async function makePage(page: Page, version: string): Promise<void> {
  await page.route("**/studio/assets/*.js", (route) =>
    changeAnswer(route, (body) => body.replace(/(["'`])0\.0\.0\1/, `"${version}"`)),
  );
}

/** Passes on what the server answers with another body; a server that is gone is gone for the page, too. */
async function changeAnswer(route: Route, change: (body: string) => string): Promise<void> {
  const response = await route.fetch().catch(() => undefined);
  if (response === undefined) return route.abort("connectionrefused").catch(() => {});
  return route.fulfill({ response, body: change(await response.text()) });
}
