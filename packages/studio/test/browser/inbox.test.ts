/** S7: what runs ask, over all runs. */
import type { Client } from "@millrace/client";
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { ASK, ASK_REASON } from "./flows.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** Starts a run and waits until it asks. */
async function waitingRun(client: Client, dsl: string): Promise<string> {
  const { runId } = await client.invoke("start_run", { dsl });
  for await (const { kind } of client.runEvents(runId)) if (kind === "run.paused") break;
  return runId;
}

const questions = (page: Page) =>
  page.getByRole("list", { name: "Open confirmations" }).getByRole("listitem");

const statusOf = async (client: Client, runId: string) => {
  const { confirmations } = await client.invoke("get_run", { runId });
  return confirmations[0]?.status;
};

describeWith("chromium")("the inbox", () => {
  const studio = useStudio();

  test("says that nothing is asked, and shows a question as soon as a run asks it", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/inbox" });
    await page.getByRole("heading", { name: "No open confirmations" }).waitFor();
    await expectAccessible(page);
    const runId = await waitingRun(server.client, ASK);
    await questions(page).filter({ hasText: runId }).waitFor();
    await page.getByRole("link", { name: "Inbox, 1 open" }).waitFor();
    await expectAccessible(page);
  });

  test("rejects one of two questions; the other one still waits", async () => {
    await using server = await startServer();
    const first = await waitingRun(server.client, ASK);
    const second = await waitingRun(server.client, ASK);
    const page = await studio.open(server.url, { place: "#/inbox" });
    const item = questions(page).filter({ hasText: first });
    await item.getByText("Ask before going on").waitFor();
    await item.getByText("Go on?").waitFor();
    await item.getByText(/asked .* ago|asked just now/).waitFor();
    await item.getByText(/answer due in/).waitFor();
    await item.getByRole("textbox", { name: "Comment" }).fill("not today");
    await item.getByRole("button", { name: "Reject" }).click();
    await item.waitFor({ state: "detached" });
    await questions(page).filter({ hasText: second }).waitFor();
    await expect.poll(() => questions(page).count()).toBe(1);

    const events = [];
    for await (const event of server.client.runEvents(first)) events.push(event);
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: "confirm.resolved",
        outcome: "rejected",
        comment: "not today",
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ kind: "node.succeeded", node: "ask", ports: ["rejected"] }),
    );
    expect(await statusOf(server.client, second)).toBe("requested");
  });

  test("takes the value that a question wants, and says what is wrong with it", async () => {
    await using server = await startServer();
    const runId = await waitingRun(server.client, ASK_REASON);
    const page = await studio.open(server.url, { place: "#/inbox" });
    const reason = page.getByRole("textbox", { name: "reason" });
    await reason.fill("no");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("list", { name: "Wrong values" }).waitFor();
    await expect.poll(() => reason.getAttribute("aria-invalid")).toBe("true");
    expect(await statusOf(server.client, runId)).toBe("requested");
    await expectAccessible(page);
    await reason.fill("because");
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("heading", { name: "No open confirmations" }).waitFor();
    const { confirmations } = await server.client.invoke("get_run", { runId });
    expect(confirmations[0]).toMatchObject({ status: "approved", value: { reason: "because" } });
  });

  test("says who answered before", async () => {
    await using server = await startServer();
    const { client } = server;
    const [seen, late] = [await waitingRun(client, ASK), await waitingRun(client, ASK)];
    const approve = (runId: string) =>
      client.invoke("resolve_confirmation", { runId, confirmationId: "k1", decision: "approve" });

    // The answer comes while another one is being written.
    const page = await studio.open(server.url, { place: "#/inbox" });
    const item = questions(page).filter({ hasText: seen });
    await item.getByRole("textbox", { name: "Comment" }).fill("I am still thinking");
    await approve(seen);
    await item.getByText("already answered by api: approved").waitFor();
    await item.getByRole("button", { name: "Dismiss" }).click();
    await item.waitFor({ state: "detached" });

    // The page does not know of the other answer when it sends its own.
    const blind = await studio.open(server.url, { expected: [/Failed to load resource/] });
    await blind.route("**/api/events", (route) => route.abort());
    await blind.goto(`${server.url}/studio#/inbox`);
    await blind.reload();
    const lateItem = questions(blind).filter({ hasText: late });
    await lateItem.waitFor();
    await blind.route("**/api/invoke", async (route) => {
      if (route.request().postData()?.includes("resolve_confirmation")) await approve(late);
      await route.continue();
    });
    await lateItem.getByRole("button", { name: "Reject" }).click();
    await lateItem.getByText("already answered by api: approved").waitFor();
    expect(await statusOf(client, late)).toBe("approved");
  });

  test("lets a reader look, and says which role answers", async () => {
    await using server = await startServer({
      tokens: ["anna:run:0123456789abcdef-anna", "carl:read:0123456789abcdef-carl"],
    });
    await waitingRun(server.client, ASK);
    const page = await studio.open(server.url, {
      place: "#/inbox",
      expected: [/status of 401/],
    });
    await page.getByLabel("Access token").fill("0123456789abcdef-carl");
    await page.getByRole("button", { name: "Sign in" }).click();
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.waitFor();
    await expect.poll(() => approve.isDisabled()).toBe(true);
    await expect.poll(() => approve.getAttribute("title")).toBe("needs the role run");
  });
});
