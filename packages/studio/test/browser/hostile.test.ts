/** X2: a flow whose outputs, logs and model want to be more than text, on the page of its run. */
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { treeitem } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const FLOW = `flow 1 hostile

input data: any

input words: string

input long: string

input rows: any

node keep: transform {
  value = inputs.data
}

node say: log {
  message = inputs.words
}

node model: ai {
  provider = "mock"
  modelId = "echo"
  input = inputs.words
}

output data = keep.value

output long: string = inputs.long + inputs.long + inputs.long + inputs.long + inputs.long

output rows = inputs.rows
`;

const HTML = `<img src=x onerror="alert(1)"><script>alert(2)</script>`;
const LINK = "javascript:alert(3)";
const WORDS = `${HTML} ${LINK} \u001b[31mred\u001b[0m \u001b]0;title\u0007 \u202etxt.exe`;

describeWith("chromium")("hostile content on the page of a run", () => {
  const studio = useStudio();

  /** Elements that only markup could have made. */
  const markup = (page: Page): Promise<number> =>
    page.locator("main").locator("img, script, iframe, object, embed, [onerror]").count();

  test("is text in every view, and only what is asked for is read", async () => {
    await using server = await startServer();
    const { runId } = await server.client.invoke("start_run", {
      dsl: FLOW,
      inputs: {
        // The server takes no member `__proto__`; the tests of the viewers have it.
        data: {
          html: HTML,
          link: LINK,
          bidi: "\u202etxt.exe",
          [HTML]: null,
          constructor: { admin: true },
        },
        words: WORDS,
        long: "x".repeat(200_000),
        rows: Array.from({ length: 10_000 }, (_, id) => ({ id })),
      },
    });
    for await (const event of server.client.runEvents(runId)) if (event.kind === "summary") break;
    const page = await studio.open(server.url, { place: `#/runs/${runId}` });

    const outputs = page.getByRole("region", { name: "Outputs" });
    const data = outputs.getByRole("group", { name: "data" });
    await data.getByText(`"${HTML}"`).waitFor();
    await data.getByText("\\u202e").waitFor();
    await data.getByRole("button", { name: "admin" }).waitFor();
    await expect.poll(() => data.getByRole("link").count()).toBe(0);

    const long = outputs.getByRole("group", { name: "long" });
    await long.getByRole("button", { name: "Load full value" }).click();
    await long.getByText("10,000 of 1,000,000 characters").waitFor();
    await long.getByRole("button", { name: "Show more" }).click();
    await long.getByText("20,000 of 1,000,000 characters").waitFor();
    const rows = outputs.getByRole("group", { name: "rows" });
    await rows.getByRole("button", { name: "Load full value" }).click();
    await rows.getByText("100 of 10,000").waitFor();
    await expectAccessible(page);
    expect(await markup(page)).toBe(0);

    await treeitem(page, "say, log, succeeded").click();
    const details = page.getByRole("tablist", { name: "Node details" });
    await details.getByRole("tab", { name: "Log" }).click();
    const log = page.getByRole("log", { name: "Log" });
    await log.getByText(HTML).waitFor();
    await expect.poll(() => log.textContent()).toContain(`${HTML} ${LINK} red  \\u202etxt.exe`);
    await details.getByRole("tab", { name: "Input" }).click();
    await page.getByRole("group", { name: "message" }).getByText("\\u001b").first().waitFor();

    await treeitem(page, "model, ai, succeeded").click();
    await details.getByRole("tab", { name: "Log" }).click();
    const output = page.getByRole("log", { name: "Model output" });
    await output.getByText(HTML).waitFor();
    for (const tab of ["Output", "Model calls", "Attempts", "Definition"]) {
      await details.getByRole("tab", { name: tab }).click();
    }
    await expectAccessible(page);

    const views = page.getByRole("tablist", { name: "Run views" });
    for (const view of ["Timeline", "Events", "Summary", "Flow"]) {
      await views.getByRole("tab", { name: view }).click();
      expect(await markup(page)).toBe(0);
    }
    expect(await page.title()).not.toContain("title ");
  });

  test("in the names and descriptions of flows is text in lists and dialogs", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", {
      slug: "hostile",
      name: `${HTML}\u202e`,
      description: HTML,
      tags: ["javascript:alert(1)"],
      dsl: `flow 1 hostile {
  title = ${JSON.stringify(HTML)}
}

input x: string = ${JSON.stringify(HTML)} {
  description = ${JSON.stringify(`${HTML}\u202e`)}
}

node a: transform {
  value = inputs.x
}
`,
    });
    const page = await studio.open(server.url, { place: "#/flows" });
    await page.getByRole("table", { name: "Flows" }).getByText(HTML).first().waitFor();
    await page.getByRole("table", { name: "Flows" }).getByText("\\u202e").waitFor();
    expect(await markup(page)).toBe(0);
    await page.getByRole("link", { name: "hostile" }).click();
    await page
      .getByRole("toolbar", { name: "Flow" })
      .getByRole("button", { name: "Run", exact: true })
      .click();
    const dialog = page.getByRole("dialog", { name: "Run flow" });
    await dialog.getByText("\\u202e").first().waitFor();
    await expect
      .poll(() => dialog.getByRole("textbox", { name: "x", exact: true }).inputValue())
      .toBe(HTML);
    expect(await markup(page)).toBe(0);
    await expectAccessible(page);
  });
});
