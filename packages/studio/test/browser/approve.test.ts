/** S6: a run asks, a person answers on its page. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { ASK, ASK_REASON } from "./flows.ts";
import { expectRunStatus, nodeItem, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("approving", () => {
  const studio = useStudio();

  test("lets the run go on, and the focus goes to the tree", async () => {
    await using server = await startServer();
    const runId = await startRun(server, ASK);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await expectRunStatus(page, "paused");
    const question = page.getByRole("region", { name: "Confirmation: ask" });
    await question.getByText("Go on?").waitFor();
    await page.getByRole("link", { name: "Inbox, 1 open" }).waitFor();
    await expectAccessible(page);

    await question.getByLabel("Comment").fill("looks right");
    await question.getByRole("button", { name: "Approve" }).click();
    await expectRunStatus(page, "succeeded");
    await question.waitFor({ state: "detached" });
    await nodeItem(page, "yes, log, succeeded").waitFor();
    const focused = page.locator(":focus");
    await expect.poll(() => focused.getAttribute("role")).toBe("treeitem");
    const { confirmations } = await server.client.invoke("get_run", { runId });
    expect(confirmations).toMatchObject([{ status: "approved", comment: "looks right" }]);
  });

  test("asks for the value that the flow wants, and sends nothing that breaks its rules", async () => {
    await using server = await startServer();
    const runId = await startRun(server, ASK_REASON);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    const question = page.getByRole("region", { name: "Confirmation: ask" });
    const reason = question.getByRole("textbox", { name: "reason" });
    await reason.fill("no");
    await question.getByRole("button", { name: "Approve" }).click();
    await expect.poll(() => reason.getAttribute("aria-invalid")).toBe("true");
    await expectRunStatus(page, "paused");
    await reason.fill("because");
    await question.getByRole("button", { name: "Approve" }).click();
    await expectRunStatus(page, "succeeded");
    await page.getByRole("region", { name: "Outputs" }).getByText("because").waitFor();
  });

  test("rejects by the other button", async () => {
    await using server = await startServer();
    const runId = await startRun(server, ASK);
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });
    await page.getByRole("button", { name: "Reject" }).click();
    await expectRunStatus(page, "succeeded");
    await nodeItem(page, "no, log, succeeded").waitFor();
    await nodeItem(page, "yes, log, skipped").waitFor();
  });

  test("says who was faster", async () => {
    await using server = await startServer({
      tokens: ["ada:run:the-first-token-of-this-test", "bob:run:the-other-token-of-this-test"],
    });
    const runId = await startRun(server, ASK);
    const page = await studio.open(server.url, { place: `#/runs/${runId}`, expected: [/40[19]/] });
    await page.getByLabel("Access token").fill("the-other-token-of-this-test");
    await page.getByRole("button", { name: "Sign in" }).click();
    const question = page.getByRole("region", { name: "Confirmation: ask" });
    await question.waitFor();
    // The page does not hear of the answer of the other one before it sends its own.
    await page.route("**/api/invoke", async (route) => {
      if (route.request().postData()?.includes("resolve_confirmation")) {
        const [open] = (await server.client.invoke("get_run", { runId })).confirmations;
        await server.client.invoke("resolve_confirmation", {
          runId,
          confirmationId: open?.id ?? "",
          decision: "approve",
        });
      }
      await route.continue();
    });
    await question.getByRole("button", { name: "Reject" }).click();
    await page
      .getByRole("status", { name: "Notifications" })
      .getByText(/^already answered by .*ada/)
      .waitFor();
  });
});
