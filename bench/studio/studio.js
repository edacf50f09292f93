// The page as people have it: a real server in a process of its own, and Chromium without a GPU.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { createClient } from "@millrace/client";
import { fileOf } from "@millrace/test-support/programs";
import { chromium } from "playwright-core";
import { addProbe } from "./probe.js";

const SERVE = fileURLToPath(
  new URL("../../packages/studio/test/browser/serve.mjs", import.meta.url),
);
const VIEWPORT = { width: 1440, height: 900 };

/** Starts Chromium. */
export function launchBrowser() {
  return chromium.launch({
    executablePath: fileOf("chromium"),
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
}

/** Starts a server and a browser; `flows`: texts by slug. */
export async function openStudio(flows = {}) {
  const store = await mkdtemp(join(tmpdir(), "bench-studio-"));
  const options = { port: 0, store, models: false, credentials: { store: "memory" } };
  const child = spawn(process.execPath, [SERVE, JSON.stringify(options)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill()); // also where a case fails
  const lines = createInterface({ input: child.stdout });
  const [line] = await new Promise((resolve, reject) => {
    lines.once("line", (text) => resolve([text]));
    child.once("exit", () => reject(new Error("the server did not start")));
  });
  const { url } = JSON.parse(line);
  const client = createClient({ url });
  for (const [slug, dsl] of Object.entries(flows)) {
    await client.invoke("save_template", { slug, name: slug, description: "", dsl });
  }
  const browser = await launchBrowser();
  return {
    url,
    client,
    /** Opens a place in a browser without a cache of it. */
    async open(place, origin = url) {
      const context = await browser.newContext({ viewport: VIEWPORT });
      await context.addInitScript(addProbe);
      const page = await context.newPage();
      await page.goto(`${origin}/studio${place}`);
      return page;
    },
    async close() {
      await browser.close();
      child.kill();
      await rm(store, { recursive: true, force: true });
    },
  };
}

/** Bytes of the page's heap that are in use, after what is garbage was collected. */
export async function heapOf(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  const { usedSize } = await session.send("Runtime.getHeapUsage");
  await session.detach();
  return usedSize;
}

/** Starts a run and waits for its end; answers its id. */
export async function endedRun(client, request) {
  const { runId } = await client.invoke("start_run", { inputs: {}, ...request });
  for await (const { kind } of client.runEvents(runId)) if (kind === "summary") break;
  return runId;
}

/** What `listener`, an expression of the page, resolves with after `act`, which is done once it listens. */
export async function timed(page, listener, act) {
  await page.evaluate(`void (globalThis.timed = ${listener})`);
  await act();
  return page.evaluate("timed");
}

/** Waits until the document has not changed for so many milliseconds: what an earlier act changes later is none of the next one's. */
export async function settled(page, quietMs = 200) {
  await page.evaluate((ms) => globalThis.probe.settled(ms), quietMs);
}
