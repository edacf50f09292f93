/** A page without what browsers keep for secure addresses: one of plain http, from another machine. */
import { describeWith } from "@millrace/test-support";
import { test } from "vitest";
import { HELLO } from "./flows.ts";
import { expectRunStatus } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

describeWith("chromium")("a page of plain http", () => {
  const studio = useStudio();

  test("starts a run, though browsers give it no random ids", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "hello", dsl: HELLO });
    const page = await studio.open(server.url);
    await page.addInitScript(() => {
      Object.defineProperty(crypto, "randomUUID", { value: undefined });
    });
    await page.goto(`${server.url}/studio#/flows/hello`);
    await page.reload();
    await page.getByText("No problems.").waitFor();
    await page.getByRole("toolbar", { name: "Flow" }).getByRole("button", { name: "Run" }).click();
    await page.getByRole("button", { name: "Start run" }).click();
    await expectRunStatus(page, "succeeded");
  });
});
