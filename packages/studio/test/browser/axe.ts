/** What axe finds on a page: nothing is allowed. */
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect } from "vitest";

/** A broken rule with the elements that break it. */
export interface AxeFinding {
  readonly rule: string;
  readonly elements: readonly string[];
}

/** Runs every rule of axe, of all impacts. The script of axe comes in by the browser's own tools, past the policy of the page. */
export async function axeFindings(page: Page): Promise<readonly AxeFinding[]> {
  await page.evaluate(axe.source);
  return page.evaluate(async () => {
    const guest = globalThis as unknown as { readonly axe: typeof axe };
    const { violations } = await guest.axe.run();
    return violations.map(({ id, nodes }) => ({
      rule: id,
      elements: nodes.map(({ html, failureSummary }) => `${html}\n${failureSummary}`),
    }));
  });
}

/** Fails where the page as it stands breaks a rule, in light or in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await axeFindings(page), colorScheme).toEqual([]);
  }
}
