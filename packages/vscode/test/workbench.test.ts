/** The workbench of VS Code with the packed extension, in a browser: install, finding, fix, format. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { testWith } from "@millrace/test-support";
import { type Browser, launchChromium } from "@millrace/test-support/chromium";
import { fileOf } from "@millrace/test-support/programs";
import { expect, onTestFinished, vi } from "vitest";
import cli from "../../cli/package.json" with { type: "json" };

type Page = Awaited<ReturnType<Browser["newPage"]>>;
type Locator = ReturnType<Page["locator"]>;

const VSIX = fileURLToPath(new URL(`../dist/millrace-flow-${cli.version}.vsix`, import.meta.url));
const TIMEOUT_MS = 600_000;
/** The longest that one step may take on a busy machine. */
const STEP_MS = 120_000;
/** How long an answer to a key is waited for, before the key is pressed again. */
const WAIT_MS = 15_000;

/** VS Code's server, which code-server brings. Its own start script is not used: it wants modules that are compiled on install. */
function serverProgram(): string {
  const entry = realpathSync(fileOf("code-server") as string);
  return join(dirname(entry), "../../lib/vscode/out/server-main.js");
}

/** Starts the workbench for a folder, and gives its address. */
async function serve(root: string, more: readonly string[]): Promise<string> {
  const places = [
    "--extensions-dir",
    join(root, "extensions"),
    "--server-data-dir",
    join(root, "data"),
  ];
  const args = [
    ...[serverProgram(), ...places, "--host", "127.0.0.1", "--port", "0"],
    ...["--without-connection-token", "--accept-server-license-terms", "--disable-telemetry"],
    ...more,
  ];
  const env = { ...process.env, HOME: root };
  const server: ChildProcess = spawn(process.execPath, args, { env, stdio: "pipe" });
  onTestFinished(async () => {
    const ended = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await ended;
  });
  let said = "";
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on("data", (chunk) => {
      said += String(chunk);
    });
  }
  const listening = /Extension host agent listening on (\d+)/;
  await vi.waitFor(() => expect(said).toMatch(listening), { timeout: STEP_MS });
  return `http://127.0.0.1:${listening.exec(said)?.[1]}/?folder=${join(root, "project")}`;
}

function install(root: string): string {
  const places = [
    "--extensions-dir",
    join(root, "extensions"),
    "--user-data-dir",
    join(root, "data"),
  ];
  const args = [serverProgram(), ...places, "--install-extension", VSIX];
  const env = { ...process.env, HOME: root };
  return execFileSync(process.execPath, args, { env, encoding: "utf8", stdio: "pipe" });
}

/** Presses until there is an answer: the workbench takes keys before all of its parts are loaded. */
async function answered(answer: Locator, press: () => Promise<void>): Promise<void> {
  const isThere = async (): Promise<void> => {
    if (await answer.isVisible()) return;
    await press();
    await answer.waitFor({ timeout: WAIT_MS });
  };
  await vi.waitFor(isThere, { timeout: STEP_MS });
}

testWith("code-server", "chromium")(
  "VS Code installs the extension, shows a finding, applies its fix and formats",
  async () => {
    const root = mkdtempSync(join(tmpdir(), "millrace-workbench-"));
    onTestFinished(() => rmSync(root, { recursive: true, force: true, maxRetries: 5 }));
    const file = join(root, "project", "a.flow");
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(
      file,
      'flow 1 a\n\nnode get: htp.request {\n     method = "GET"\n  url = "https://example.org"\n}\n',
    );
    expect(install(root)).toContain("successfully installed");
    const address = await serve(root, ["--disable-workspace-trust"]);
    const browser = await launchChromium();
    onTestFinished(() => browser.close());
    const page = await browser.newPage();
    page.setDefaultTimeout(STEP_MS);
    await page.goto(address);
    await page.getByRole("treeitem", { name: "a.flow" }).dblclick();
    await page.locator(".squiggly-error").first().waitFor();
    const editor = page.locator(".editor-instance .monaco-editor");
    const type = editor.locator(".view-line").getByText("htp.request");
    await answered(page.getByText("write http.request"), async () => {
      await page.keyboard.press("Escape");
      await type.click();
      await editor.and(page.locator(".focused")).waitFor();
      await page.keyboard.press("Control+.");
    });
    await page.keyboard.press("Enter");
    await page.locator(".squiggly-error").first().waitFor({ state: "detached" });
    await answered(editor.locator(".view-line", { hasText: /^\s{2}method/ }), async () => {
      await editor.and(page.locator(".focused")).waitFor();
      await page.keyboard.press("Control+Shift+I"); // as on Linux
    });
    await page.keyboard.press("Control+s");
    await vi.waitFor(
      () =>
        expect(readFileSync(file, "utf8")).toBe(
          'flow 1 a\n\nnode get: http.request {\n  method = "GET"\n  url = "https://example.org"\n}\n',
        ),
      { timeout: STEP_MS },
    );
  },
  TIMEOUT_MS,
);
