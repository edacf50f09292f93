/** Titles without blanks, which nothing lets a browser break where it wants to. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const LONG = `flow 1 long {
  title = "${"Donaudampfschifffahrt".repeat(12)}"
}

node ask: confirm {
  prompt = "${"Kapitän".repeat(60)}?"
}
`;

describeWith("chromium")("long titles", () => {
  const studio = useStudio();

  test("are broken, so that no screen is wider than a phone", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "long", dsl: LONG });
    const runId = await startRun(server, LONG);
    const viewport = { width: 360, height: 740 };
    const page = await studio.open(server.url, { place: "#/flows/long", viewport });
    const width = () => page.evaluate(() => document.documentElement.scrollWidth);
    await page.getByText(/^Problems/).waitFor();
    expect(await width()).toBe(viewport.width);
    await page.goto(`${server.url}/studio#/runs/${runId}`);
    await page.getByRole("button", { name: "Approve" }).waitFor();
    expect(await width()).toBe(viewport.width);
    await page.goto(`${server.url}/studio#/inbox`);
    await page.getByRole("listitem").getByRole("button", { name: "Approve" }).waitFor();
    expect(await width()).toBe(viewport.width);
  });
});
