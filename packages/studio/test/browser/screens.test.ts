/** Every screen in both themes at two widths: axe finds nothing, and the picture is not blank. The pictures stay in `.reports/studio`. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describeWith } from "@millrace/test-support";
import { launchChromium } from "@millrace/test-support/chromium";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { readPixels } from "./pixels.ts";
import { SCREENS } from "./screens.ts";
import { type Seeded, seed } from "./seed.ts";
import { startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const FOLDER = fileURLToPath(new URL("../../.reports/studio/", import.meta.url));
const THEMES = ["light", "dark"] as const;
const SIZES = [
  { width: 1_440, height: 900 },
  { width: 390, height: 844 },
] as const;

describeWith("chromium")("the screens", () => {
  const studio = useStudio();
  let server: TestServer;
  let seeded: Seeded;

  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    server = await startServer({ webhooks: true });
    seeded = await seed(server.client);
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  for (const { name, place, ready } of SCREENS) {
    test(`${name} can be read by everybody`, async () => {
      const browser = await launchChromium();
      const reader = await browser.newPage();
      try {
        for (const colorScheme of THEMES) {
          for (const viewport of SIZES) {
            const look = { colorScheme, viewport, reducedMotion: "reduce" } as const;
            const page = await studio.open(server.url, { place: place(seeded), ...look });
            await ready(page);
            const path = `${FOLDER}${name}-${colorScheme}-${viewport.width}.png`;
            const { colours, edges } = await readPixels(reader, await page.screenshot({ path }));
            expect(await axeFindings(page), path).toEqual([]);
            expect(colours > 100 || edges > 5_000, `${path} is blank`).toBe(true);
            const wide = await page.evaluate(() => document.documentElement.scrollWidth);
            expect(wide, `${path} is wider than the window`).toBeLessThanOrEqual(viewport.width);
          }
        }
      } finally {
        await browser.close();
      }
    });
  }
});
