/** S20: models of the machine. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describeWith, noLocalEngine, testUnless } from "@millrace/test-support";
import { tinyGguf } from "@millrace/test-support/gguf";
import { expect, onTestFinished, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const BYTES = tinyGguf({ text: "Hello from a very small local model ." });
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const ON_LOOPBACK = { models: {}, egress: { allow: [{ cidr: "127.0.0.0/8" }] } };

const noEngine = await noLocalEngine();

/** Share of the file that is sent at once. */
const PIECE = 1 / 32;

/** A server of the model's file, which sends each part when it is told to. */
async function startFiles() {
  const sent: ((bytes: Buffer, isLast: boolean) => void)[] = [];
  let waiting: (() => void) | undefined;
  const server = createServer((_request, response) => {
    response.writeHead(200, { "content-length": BYTES.length });
    sent.push((bytes, isLast) => (isLast ? response.end(bytes) : response.write(bytes)));
    waiting?.();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = async () => {
    if (sent.length === 0) await new Promise<void>((resolve) => (waiting = resolve));
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/tiny.gguf`,
    /** Sends the bytes of the file between two shares of it, in pieces: progress is told ten times a second at most. */
    async send(from: number, to: number) {
      await asked();
      const place = (share: number) => Math.floor(BYTES.length * share);
      for (let at = from; at < to; at += PIECE) {
        const end = Math.min(to, at + PIECE);
        sent.at(-1)?.(Buffer.from(BYTES.subarray(place(at), place(end))), end === 1);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
  };
}

describeWith("chromium")("the models", () => {
  const studio = useStudio();

  test("installs one with its progress, which is there after a reload, and removes it", async () => {
    const files = await startFiles();
    await using server = await startServer(ON_LOOPBACK);
    const page = await studio.open(server.url, { place: "#/models" });
    await page.getByRole("heading", { name: "No models" }).waitFor();
    await page.getByRole("table", { name: "Engines" }).waitFor();
    await page.getByRole("button", { name: "Install model" }).click();
    const form = page.getByRole("form", { name: "Install model" });
    await form.getByLabel("Source").fill(files.url);
    await form.getByLabel("Name").fill("tiny");
    await form.getByLabel("SHA-256").fill("not a digest");
    await form.getByText("has 64 hexadecimal digits").waitFor();
    await form.getByLabel("SHA-256").fill(SHA256);
    await expectAccessible(page);
    await form.getByRole("button", { name: "Install", exact: true }).click();

    const bar = page.getByRole("progressbar", { name: "Installing tiny" });
    await bar.waitFor();
    const value = () => bar.evaluate((element) => (element as HTMLProgressElement).value);
    const risesAbove = (share: number) =>
      expect.poll(value).toBeGreaterThanOrEqual(BYTES.length * share);
    await files.send(0, 0.25);
    await risesAbove(0.2);
    await expectAccessible(page);
    await page.reload();
    await risesAbove(0.2);
    await files.send(0.25, 0.75);
    await risesAbove(0.7);
    await files.send(0.75, 1);
    const row = page
      .getByRole("table", { name: "Models" })
      .getByRole("row")
      .filter({ hasText: "tiny" });
    await row.getByText("ready").waitFor();
    await row.getByText("verified", { exact: true }).waitFor();
    await bar.waitFor({ state: "detached" });
    await expectAccessible(page);

    await row.getByRole("button", { name: "Remove" }).click();
    await page
      .getByRole("dialog", { name: "Remove tiny?" })
      .getByRole("button", { name: "Remove" })
      .click();
    await page.getByRole("heading", { name: "No models" }).waitFor();
  });

  test("says that a digest is wrong, and cancels an install", async () => {
    const files = await startFiles();
    await using server = await startServer(ON_LOOPBACK);
    const page = await studio.open(server.url, { place: "#/models" });
    const install = async (name: string, digest: string) => {
      await page.getByRole("button", { name: "Install model" }).click();
      await page.getByLabel("Source").fill(files.url);
      await page.getByLabel("Name").fill(name);
      await page.getByLabel("SHA-256").fill(digest);
      await page.getByRole("button", { name: "Install", exact: true }).click();
    };
    await install("wrong", "0".repeat(64));
    await page.getByRole("progressbar", { name: "Installing wrong" }).waitFor();
    await page.goto(`${server.url}/studio#/flows`);
    await page.getByRole("heading", { name: "No flows yet" }).waitFor();
    await files.send(0, 1);
    const stage = async () =>
      (await server.client.invoke("list_model_jobs", {})).find(({ kind }) => kind === "install")
        ?.stage;
    await expect.poll(stage).toBe("error");
    await page.goto(`${server.url}/studio#/models`);
    await page.getByRole("alert").getByText("does not have the digest that was given").waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.reload();
    await page.getByRole("heading", { name: "No models" }).waitFor();
    await expect.poll(() => page.getByText("does not have the digest").count()).toBe(0);

    await install("slow", SHA256);
    const bar = page.getByRole("progressbar", { name: "Installing slow" });
    await bar.waitFor();
    await page.getByRole("button", { name: "Cancel" }).click();
    await bar.waitFor({ state: "detached" });
  });

  testUnless(noEngine)("loads one into memory and lets go of it", async () => {
    const files = await startFiles();
    await using server = await startServer(ON_LOOPBACK);
    const source = files.url;
    await server.client.invoke("install_model", { source, id: "tiny", sha256: SHA256 });
    await files.send(0, 1);
    const page = await studio.open(server.url, { place: "#/models" });
    const row = page.getByRole("table", { name: "Models" }).getByRole("row").nth(1);
    await row.getByText("ready").waitFor();
    await row.getByRole("button", { name: "Load" }).click();
    await row.getByText("loaded").waitFor();
    await row.getByRole("button", { name: "Unload" }).click();
    await row.getByText("ready").waitFor();
  });

  test("says what to install where no package manages models", async () => {
    await using server = await startServer({ models: false });
    const page = await studio.open(server.url, { place: "#/models" });
    await page.getByText("npm install -g @millrace/local-models").waitFor();
    await expectAccessible(page);
  });
});
