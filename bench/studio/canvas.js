// The canvas of the page alone, in Chromium: the test page of the studio.
import { serveGuest } from "../../packages/studio/test/browser/guest-server.mjs";
import { addProbe } from "./probe.js";
import { launchBrowser } from "./studio.js";

const SCRIPT = new URL("../../packages/studio/test/browser/canvas/page.tsx", import.meta.url);

/** Opens the page with `count` nodes; `close` ends the browser and the server. */
export async function openCanvas(count) {
  const guest = await serveGuest(SCRIPT);
  const browser = await launchBrowser();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(addProbe);
  await page.goto(`${guest.url}/studio`);
  await page.evaluate((nodes) => globalThis.guest.show(nodes), count);
  await page.waitForTimeout(1_000);
  return {
    page,
    async close() {
      await browser.close();
      await guest[Symbol.asyncDispose]();
    },
  };
}
