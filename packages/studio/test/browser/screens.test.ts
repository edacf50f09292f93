/** Every screen in both themes at two widths: axe finds nothing, and the picture is not blank. The pictures stay in `.reports/studio`. */
import { mkdir } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { describeWith, notFull } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./axe.ts";
import { SCREENS } from "./screens.ts";
import { type Seeded, seed } from "./seed.ts";
import { startServer, type TestServer } from "./server.ts";
import { sharedBrowser, useStudio } from "./studio.ts";

const FOLDER = fileURLToPath(new URL("../../.reports/studio/", import.meta.url));
const WIDE = { width: 1_440, height: 900 };
const NARROW = { width: 390, height: 844 };
/** What is looked at, one after the other on one page. */
const LOOKS = [
  { viewport: WIDE, themes: ["light", "dark"] },
  { viewport: NARROW, themes: ["dark", "light"] },
] as const;

describeWith("chromium")("the screens", () => {
  const studio = useStudio();
  let server: TestServer;
  let seeded: Seeded;
  let reader: Page;

  beforeAll(async () => {
    await mkdir(FOLDER, { recursive: true });
    server = await startServer({ webhooks: true });
    seeded = await seed(server.client);
    reader = await (await sharedBrowser()).newPage();
  });
  afterAll(async () => {
    await reader?.close();
    await server?.[Symbol.asyncDispose]();
  });

  for (const { name, place, ready } of SCREENS) {
    test(`${name} can be read by everybody`, async () => {
      const page = await studio.open(server.url, {
        place: place(seeded),
        reducedMotion: "reduce",
        colorScheme: "light",
        viewport: WIDE,
      });
      for (const { viewport, themes } of LOOKS) {
        await page.setViewportSize(viewport);
        await ready(page);
        for (const colorScheme of notFull === undefined ? themes : themes.slice(0, 1)) {
          await page.emulateMedia({ colorScheme });
          const path = `${FOLDER}${name}-${colorScheme}-${viewport.width}.png`;
          const { colours, edges } = await readPixels(reader, await page.screenshot({ path }));
          expect(await axeFindings(page), path).toEqual([]);
          expect(colours > 100 || edges > 5_000, `${path} is blank`).toBe(true);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          expect(wide, `${path} is wider than the window`).toBeLessThanOrEqual(viewport.width);
        }
      }
    });
  }
});

/** How much there is on a picture: a blank page has few colours and no edges. */
interface Pixels {
  readonly colours: number;
  /** Pixels that differ strongly from the one on their left: letters have many. */
  readonly edges: number;
}

/** Reads a PNG with the browser of `page`, which must be one without a policy, such as `about:blank`. */
function readPixels(page: Page, png: Buffer): Promise<Pixels> {
  return page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
    const { width, height } = image;
    const context = new OffscreenCanvas(width, height).getContext("2d");
    context?.drawImage(image, 0, 0);
    const data = context?.getImageData(0, 0, width, height).data ?? new Uint8ClampedArray();
    const colours = new Set<number>();
    let edges = 0;
    let left = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [r = 0, g = 0, b = 0] = [data[at], data[at + 1], data[at + 2]];
      colours.add((r << 16) | (g << 8) | b);
      const light = r + g + b;
      if (Math.abs(light - left) > 150) edges += 1;
      left = light;
    }
    return { colours: colours.size, edges };
  }, png.toString("base64"));
}
