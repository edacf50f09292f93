/** A person without a pointer. */
import type { Locator, Page } from "playwright-core";

/** More presses of Tab than any screen needs to lead once around it. */
const MOST = 80;

/** Goes on with Tab until `target`, or something in it, has the focus; fails with what had it on the way. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  await target.first().waitFor({ state: "attached" });
  const way: string[] = [];
  for (let press = 0; press < MOST; press += 1) {
    const isThere = await target
      .first()
      .evaluate((element) => element.contains(element.ownerDocument.activeElement))
      .catch(() => false);
    if (isThere) return;
    await page.keyboard.press("Tab");
    way.push(await nameOfFocus(page));
  }
  throw new Error(`Tab does not lead there, only to ${JSON.stringify(way)}`);
}

/** Goes to a control with Tab and presses Enter. */
export async function enterOn(page: Page, target: Locator): Promise<void> {
  await tabTo(page, target);
  await page.keyboard.press("Enter");
}

/** Whether something lies over the middle of what has the focus. */
export function isFocusCovered(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const element = document.activeElement as Element;
    const { left, top, width, height } = element.getBoundingClientRect();
    const there = document.elementFromPoint(left + width / 2, top + height / 2);
    return !element.contains(there);
  });
}

/** Role or element, and the beginning of the name or text, of what has the focus. */
export function nameOfFocus(page: Page): Promise<string> {
  return page.evaluate(() => {
    const element = document.activeElement;
    const name = element?.getAttribute("aria-label") ?? element?.textContent ?? "";
    return `${element?.getAttribute("role") ?? element?.localName} ${name.slice(0, 60)}`;
  });
}
