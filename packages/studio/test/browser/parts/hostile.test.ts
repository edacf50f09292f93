/** Values and logs that want to be more than text, in every viewer. */
import { describeWith } from "@millrace/test-support";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "../axe.ts";
import { type Guest, useGuest } from "./guest-page.ts";

declare const guest: Guest;

const HTML = `<img src=x onerror="alert(1)"><script>alert(2)</script><b>bold</b>`;
const URLS = [
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "https://example.org/a b",
  "see https://example.org",
  "//example.org",
  "ftp://example.org/",
];
const CONTROLS = "a\u0000b\u001b[31mc\u0085d\u202ee\u2066f\ud800g\rh";
const ESCAPED = "a\\u0000b\\u001b[31mc\\u0085d\\u202ee\\u2066f\\ud800g\\u000dh";

describeWith("chromium")("hostile content", () => {
  const open = useGuest();

  const showValue = (page: Page, value: unknown, expression?: string): Promise<void> =>
    page.evaluate(([json, path]) => guest.showValue(json as string, path), [
      JSON.stringify(value),
      expression,
    ] as const);
  const elements = (page: Page): Promise<number> =>
    page
      .locator("main")
      .locator("img, script, b, iframe, video, audio, object, svg, style")
      .count();
  const view = (page: Page): Locator => page.getByRole("group", { name: "Value" });

  test("stays text in a value, and nothing but a whole address is a link", async () => {
    const { page } = open;
    const links = ["https://example.org/x?y#z", "http://user@evil.example:81/"];
    await showValue(page, { html: HTML, [HTML]: 1, urls: URLS, links });
    await view(page).getByText(HTML).first().waitFor();
    expect(await elements(page)).toBe(0);
    const found = await view(page)
      .getByRole("link")
      .evaluateAll((all) =>
        all.map((link) => [
          link.getAttribute("href"),
          link.getAttribute("rel"),
          link.getAttribute("target"),
          link.parentElement?.textContent,
        ]),
      );
    const opened = ["noopener noreferrer nofollow", "_blank"];
    expect(found).toEqual([
      [links[0], ...opened, `${links[0]} (example.org)`],
      [links[1], ...opened, `${links[1]} (evil.example:81)`],
    ]);
    await expectAccessible(page);
  });

  test("shows characters that are not seen as marked escapes, in names too", async () => {
    const { page } = open;
    await showValue(page, { [CONTROLS]: CONTROLS });
    const row = view(page).getByRole("listitem").last();
    await expect.poll(() => row.textContent()).toBe(`${ESCAPED} "${ESCAPED}"`);
    await expectAccessible(page);
  });

  test("keeps members that are called like those of every object", async () => {
    const { page } = open;
    await page.evaluate(() =>
      guest.showValue('{"__proto__":{"admin":true},"constructor":"x","toString":null}'),
    );
    for (const name of ["__proto__", "constructor", "toString", "admin"]) {
      await view(page).getByRole("button", { name, exact: true }).waitFor();
    }
    expect(await page.evaluate(() => "admin" in {})).toBe(false);
  });

  test("shows long texts and long lists part by part, and copies them whole", async () => {
    const { page } = open;
    const long = `${"😀".repeat(5_000)}${"x".repeat(990_000)}`;
    await showValue(page, long);
    const text = (): Promise<string | null> => view(page).getByRole("listitem").textContent();
    expect((await text())?.length).toBeLessThan(11_000);
    await view(page).getByText("10,000 of 1,000,000 characters").waitFor();
    await view(page).getByRole("button", { name: "Show more" }).click();
    await view(page).getByText("20,000 of 1,000,000 characters").waitFor();
    await view(page).getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByRole("status", { name: "Notifications" }).getByText("Copied").waitFor();
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe(long);

    const rows = Array.from({ length: 10_000 }, (_, id) => ({ id }));
    await showValue(page, rows);
    await view(page).getByText("100 of 10,000").waitFor();
    await expect.poll(() => view(page).getByRole("button", { name: "id" }).count()).toBe(100);
    await view(page).getByRole("button", { name: "Show more" }).click();
    await view(page).getByText("200 of 10,000").waitFor();
    await expectAccessible(page);
  });

  test("is closed below the second level, and tells the expression of each part", async () => {
    const { page } = open;
    await showValue(page, { body: { "two words": [{ id: 1 }] } }, "fetch");
    const part = (name: string): Locator => view(page).getByRole("button", { name, exact: true });
    await expect.poll(() => part("[0]").count()).toBe(0);
    await part("two words").click();
    await part("[0]").click();
    await part("id").click();
    await view(page).getByRole("button", { name: "Copy path" }).click();
    await page.getByRole("status", { name: "Notifications" }).getByText("Copied").waitFor();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('fetch.body."two words"[0].id');
    const saved = page.waitForEvent("download");
    await view(page).getByRole("button", { name: "Download" }).click();
    expect((await saved).suggestedFilename()).toBe("Value-body-two-words-0-id.json");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("body");
  });

  test("in a value that is kept elsewhere is read when somebody asks for it", async () => {
    const { page } = open;
    await page.evaluate(
      ([html]) =>
        guest.showReference(
          {
            ref: `sha256:${"0".repeat(64)}`,
            bytes: 2_400_000,
            mediaType: "text/html",
            preview: html,
          },
          JSON.stringify({ html }),
        ),
      [HTML] as const,
    );
    await view(page).getByText(HTML).waitFor();
    await view(page).getByText("2.4 MB of text/html, kept beside the log.").waitFor();
    expect(await elements(page)).toBe(0);
    await view(page).getByRole("button", { name: "Load full value" }).click();
    await view(page).getByRole("button", { name: "html" }).waitFor();
    expect(await elements(page)).toBe(0);
  });

  test("in a log has colours at most", async () => {
    const { page } = open;
    const line = (text: string) => ({
      ts: 1_700_000_000_000,
      level: "warn",
      channel: "stderr",
      text,
    });
    await page.evaluate(
      (lines) => guest.showLog(lines),
      [
        line(HTML),
        line("\u001b[1;31mred\u001b[0m \u001b[2J\u001b[10;10Hplain\u001b]0;title\u0007!"),
        line("\u001b]8;;https://evil.example\u001b\\link\u001b]8;;\u001b\\ \u009b31m\u202e"),
      ],
    );
    const log = page.getByRole("log", { name: "Log" });
    await log.getByText(HTML).waitFor();
    expect(await elements(page)).toBe(0);
    await expect.poll(() => log.getByRole("link").count()).toBe(0);
    const shown = await log.textContent();
    expect(shown).toContain("warn stderr red plain!");
    expect(shown).toContain("link \\u009b31m\\u202e");
    await expectAccessible(page);
  });

  test("a log follows its end until somebody scrolls away, and can be led back", async () => {
    const { page } = open;
    await page.evaluate(() =>
      guest.showLog(
        Array.from({ length: 600 }, (_, at) => ({
          ts: at,
          level: "info",
          channel: "node",
          text: `line ${at}`,
        })),
      ),
    );
    const log = page.getByRole("log", { name: "Log" });
    const distance = (): Promise<number> =>
      log.evaluate((at) => at.scrollHeight - at.scrollTop - at.clientHeight);
    expect(await distance()).toBeLessThan(2);
    await expect.poll(() => log.getByText("line 99", { exact: true }).count()).toBe(0);
    await log.evaluate((element) => element.scrollTo(0, 0));
    await page.getByRole("button", { name: "Jump to end" }).click();
    await expect.poll(distance).toBeLessThan(2);
    await page.getByRole("button", { name: "Jump to end" }).waitFor({ state: "detached" });
    await log.getByRole("button", { name: "Show more" }).click();
    await log.getByText("line 99", { exact: true }).waitFor();
  });

  test("of a model is plain text, and its reasoning is folded", async () => {
    const { page } = open;
    await page.evaluate(
      ([html, text]) => guest.showOutput(`# ${html}\n\n[x](javascript:alert(1)) ${text}`, html),
      [HTML, CONTROLS] as const,
    );
    const log = page.getByRole("log", { name: "Model output" });
    await expect
      .poll(() => log.textContent())
      .toBe(`# ${HTML}\n\n[x](javascript:alert(1)) ${ESCAPED}`);
    expect(await elements(page)).toBe(0);
    const reasoning = page.getByText(HTML, { exact: true });
    await expect.poll(() => reasoning.isVisible()).toBe(false);
    await page.getByText("Reasoning", { exact: true }).click();
    await reasoning.waitFor();
    await expectAccessible(page);
  });
});
