/** What fits: a phone, a sheet of paper, and colours that the reader chooses. */
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { endedRun, openTab, startRun } from "./run-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

/** Titles without blanks, which nothing lets a browser break where it wants to. */
const LONG = `flow 1 long {
  title = "${"Donaudampfschifffahrt".repeat(12)}"
}

node ask: confirm {
  prompt = "${"Kapitän".repeat(60)}?"
}
`;

const MANY = `flow 1 many

node values: transform {
  value = range(60)
}

output values: int[] = values.value
`;

const PHONE = { width: 360, height: 740 };

/** Names or texts of what shows a part of itself and has to be scrolled for the rest; tables may. */
function scrolled(page: Page, direction: "Width" | "Height"): Promise<readonly string[]> {
  return page.evaluate(
    ([scroll, client]) =>
      [...document.querySelectorAll(".frame *")]
        .filter((each) => {
          const isCut = each[client] > 1 && each[scroll] > each[client] + 1;
          const mayScroll = /auto|scroll/.test(getComputedStyle(each).overflow);
          return isCut && mayScroll && each.querySelector(":scope > table") === null;
        })
        .map((each) => each.getAttribute("aria-label") ?? each.textContent ?? ""),
    [`scroll${direction}`, `client${direction}`] as const,
  );
}

describeWith("chromium")("the page on a phone", () => {
  const studio = useStudio();

  test("breaks long titles, and scrolls in one direction", async () => {
    await using server = await startServer();
    await server.client.invoke("save_template", { slug: "long", dsl: LONG });
    const runId = await startRun(server, LONG);
    const page = await studio.open(server.url, { place: "#/flows/long", viewport: PHONE });
    const expectFit = async () => {
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).toBe(PHONE.width);
      expect(await scrolled(page, "Width")).toEqual([]);
    };
    await page.getByText(/^Problems/).waitFor();
    await expectFit();
    const banner = await page.getByRole("banner").boundingBox();
    expect(banner?.height).toBeLessThan(60); // one row
    await page.goto(`${server.url}/studio#/runs/${runId}`);
    await page.getByRole("button", { name: "Approve" }).waitFor();
    await expectFit();
    await page.goto(`${server.url}/studio#/inbox`);
    await page.getByRole("listitem").getByRole("button", { name: "Approve" }).waitFor();
    await expectFit();
  });

  test("is printed whole, and marks what is chosen without colours", async () => {
    await using server = await startServer();
    const runId = await endedRun(server, MANY);
    const page = await studio.open(server.url, { place: `#/runs/${runId}?node=values` });
    const outputs = page.getByRole("region", { name: "Outputs" });
    await outputs.getByRole("button", { name: "[59]" }).waitFor();
    expect(await scrolled(page, "Height")).not.toEqual([]);
    await page.emulateMedia({ media: "print" });
    expect(await scrolled(page, "Height")).toEqual([]);

    await page.emulateMedia({ media: "screen", forcedColors: "active" });
    await openTab(page, "Run views", "Timeline");
    const lineOf = (tab: string) =>
      page
        .getByRole("tab", { name: tab })
        .evaluate((each) => getComputedStyle(each).borderBottomColor);
    expect(await lineOf("Timeline")).not.toBe(await lineOf("Events"));
    const row = page.getByRole("row", { name: /^values, attempt 1/ });
    expect(await row.evaluate((each) => getComputedStyle(each).outlineStyle)).toBe("solid");
    await page.goto(`${server.url}/studio#/settings`);
    const colourOf = (button: string) =>
      page
        .getByRole("button", { name: button, exact: true })
        .evaluate((each) => getComputedStyle(each).color);
    expect(await colourOf("Save settings")).not.toBe(await colourOf("As JSON"));
  });
});
