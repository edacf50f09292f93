/** Every screen in both themes at two widths: axe finds nothing, and the picture is not blank. The pictures stay in `.reports/studio`. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describeWith, notFull } from "@millrace/test-support";
import { type Browser, launchChromium } from "@millrace/test-support/chromium";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { readPixels } from "./pixels.ts";
import { SCREENS } from "./screens.ts";
import { type Seeded, seed } from "./seed.ts";
import { startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const FOLDER = fileURLToPath(new URL("../../.reports/studio/", import.meta.url));
const WIDE = { width: 1_440, height: 900 };
const NARROW = { width: 390, height: 844 };
const ALL_LOOKS = [
  { colorScheme: "light", viewport: WIDE },
  { colorScheme: "dark", viewport: NARROW },
  { colorScheme: "dark", viewport: WIDE },
  { colorScheme: "light", viewport: NARROW },
] as const;
/** The first two show each theme and each width. */
const LOOKS = notFull === undefined ? ALL_LOOKS : ALL_LOOKS.slice(0, 2);

describeWith("chromium")("the screens", () => {
  const studio = useStudio();
  let server: TestServer;
  let seeded: Seeded;
  let browser: Browser;

  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    server = await startServer({ webhooks: true });
    seeded = await seed(server.client);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.[Symbol.asyncDispose]();
  });

  for (const { name, place, ready } of SCREENS) {
    test(`${name} can be read by everybody`, async () => {
      const reader = await browser.newPage();
      for (const look of LOOKS) {
        const page = await studio.open(server.url, {
          place: place(seeded),
          reducedMotion: "reduce",
          ...look,
        });
        await ready(page);
        const { colorScheme, viewport } = look;
        const path = `${FOLDER}${name}-${colorScheme}-${viewport.width}.png`;
        const { colours, edges } = await readPixels(reader, await page.screenshot({ path }));
        expect(await axeFindings(page), path).toEqual([]);
        expect(colours > 100 || edges > 5_000, `${path} is blank`).toBe(true);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide, `${path} is wider than the window`).toBeLessThanOrEqual(viewport.width);
      }
      await reader.close();
    });
  }
});
