/** S10: canonical form. */
import { formatFlow } from "@millrace/dsl";
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { fillText, GREETING, textbox, textOf, treeitem, untilText } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const MESSY = GREETING.replaceAll("\n  ", "\n      ")
  .replace("node say", "\n\n\nnode   say")
  .replace('= "done"', '="done" # the end');

describeWith("chromium")("Format", () => {
  const studio = useStudio();

  test("writes what millrace fmt writes, once, in one step of Undo", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/new" });
    await fillText(page, MESSY);
    await treeitem(page, "say, log").waitFor();
    const format = page
      .getByRole("toolbar", { name: "Flow" })
      .getByRole("button", { name: "Format" });
    await format.click();
    const { text } = formatFlow(MESSY);
    expect(text).toContain("# the end");
    await untilText(page, text);
    await format.click();
    await page.getByText("Nothing to format").waitFor();
    expect(await textOf(page)).toBe(text);
    await textbox(page).press("Control+z");
    await untilText(page, MESSY);
  });
});
