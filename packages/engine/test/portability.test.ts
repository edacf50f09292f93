// The core entry on platforms that are not Node: a thread without Node's globals, and a browser.
import { spawnSync } from "node:child_process";
import { Worker } from "node:worker_threads";
import { testWith } from "@millrace/test-support";
import { bundleGuest } from "@millrace/test-support/bundle";
import { launchChromium } from "@millrace/test-support/chromium";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { runGuest } from "./portability/guest.ts";

let bundle: string;

beforeAll(async () => {
  bundle = await bundleGuest(new URL("portability/guest.ts", import.meta.url));
});

test("a flow runs to its summary in a thread, and no global of Node is read", async () => {
  const worker = new Worker(new URL("portability/worker.cjs", import.meta.url), {
    workerData: bundle,
    execArgv: [],
  });
  onTestFinished(async () => void (await worker.terminate()));
  const result = await new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  expect(result).toEqual({ ...(await runGuest()), touched: [] });
});

test("a cancelled run leaves no timer and no port: its process ends by itself", () => {
  const script = `${bundle}
guest.cancelGuest().then((end) => setImmediate(() =>
  console.log(JSON.stringify({ ...end, left: process.getActiveResourcesInfo() }))));`;
  const { stdout, stderr, status } = spawnSync(process.execPath, ["-"], {
    input: script,
    encoding: "utf8",
    timeout: 60_000, // it would live for an hour
  });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  const { left, ...end } = JSON.parse(stdout) as { left: string[]; status: string };
  expect(end).toEqual({ status: "cancelled", started: 24 });
  expect(left.filter((kind) => /Timeout|Immediate|MessagePort/.test(kind))).toEqual([]);
});

testWith("chromium")(
  "a flow runs to its summary in a browser, with the events that it has here",
  async () => {
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    const errors: string[] = [];
    page.on("pageerror", (error) => errors.push(error.message));
    await page.addScriptTag({ content: bundle });
    const result = await page.evaluate("guest.runGuest()");
    expect(errors).toEqual([]);
    expect(result).toEqual(await runGuest());
  },
);

test("the run that is compared does what its flow says", async () => {
  const { status, outputs, lines } = await runGuest();
  expect({ status, outputs }).toEqual({
    status: "succeeded",
    outputs: { greetings: ["hello ada", "hello grace", "hello edsger"], rounds: 7, answer: "yes" },
  });
  expect(lines.length).toBeGreaterThan(40);
});
