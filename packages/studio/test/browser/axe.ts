/** What axe finds on a page: nothing is allowed. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** A broken rule with the elements that break it. */
export interface AxeFinding {
  readonly rule: string;
  readonly elements: readonly string[];
}

/** Rules whose answer depends on the colours. */
const OF_COLOURS = ["color-contrast", "link-in-text-block"];

/** Runs every rule of axe, of all impacts, or these. The script of axe comes in by the browser's own tools, past the policy of the page. */
export async function axeFindings(
  page: Page,
  rules: readonly string[] = [],
): Promise<readonly AxeFinding[]> {
  if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(axe.source);
  return page.evaluate(
    async (runOnly) => {
      const guest = globalThis as unknown as { readonly axe: typeof axe };
      const { violations } = await guest.axe.run(runOnly.length > 0 ? { runOnly } : {});
      return violations.map(({ id, nodes }) => ({
        rule: id,
        elements: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
      }));
    },
    [...rules],
  );
}

/** Fails where the page as it stands breaks a rule, in light or in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: "light" });
  expect(await axeFindings(page), "light").toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await axeFindings(page, OF_COLOURS), "dark").toEqual([]);
}
