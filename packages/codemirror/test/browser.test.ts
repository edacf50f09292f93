/** What somebody sees who writes a flow, in a real browser under a strict policy. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describeWith } from "@millrace/test-support";
import { bundleGuest } from "@millrace/test-support/bundle";
import { type Browser, launchChromium } from "@millrace/test-support/chromium";
import axe from "axe-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";
const HTML =
  '<!doctype html><html lang="en"><title>Flow</title><header><h1>Flow</h1></header><main></main><script src="/page.js"></script></html>';

const FLOW = `flow 1 orders

node get: http.request {
  method = "GET"
  url = "https://example.org"
}

node names: transform {
  value = map(get.body, order, order.name)
}

get -> names
`;

type Page = Awaited<ReturnType<Browser["newPage"]>>;

describeWith("chromium")("an editor of flows", () => {
  let server: Server;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    const script = await bundleGuest(new URL("page.ts", import.meta.url));
    server = createServer(({ url }, response) => {
      const isPage = url !== "/page.js";
      const type = isPage ? "text/html" : "text/javascript";
      response.writeHead(200, { "content-type": type, "content-security-policy": POLICY });
      response.end(isPage ? HTML : script);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });
  beforeEach(async () => {
    page = await browser.newPage();
    complaints.length = 0;
    page.on("console", (message) => complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.message));
    const { port } = server.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`);
  });
  afterEach(async () => {
    await page.close();
    expect(complaints).toEqual([]);
  });

  const fill = (marked: string): Promise<void> =>
    page.evaluate((text) => (globalThis as unknown as Guest).guest.fill(text), marked);
  const text = (): Promise<string> =>
    page.evaluate(() => (globalThis as unknown as Guest).guest.text());
  const untilText = (expected: string): Promise<unknown> =>
    page.waitForFunction(
      (wanted) => (globalThis as unknown as Guest).guest.text() === wanted,
      expected,
    );

  test("shows a finding, applies its fix, and takes it back in one step", async () => {
    const wrong = FLOW.replace("http.request", "htp.request");
    await fill(`¦${wrong}`);
    await page.locator(".cm-lintRange-error").waitFor();
    await page.waitForFunction(() =>
      (globalThis as unknown as Guest).guest.announced.some((said) =>
        /problem.*unknown node type htp.request/.test(said),
      ),
    );
    await page.keyboard.press("Control+Shift+M");
    const problems = page.getByRole("listbox");
    await problems.getByText("unknown node type htp.request; did you mean").waitFor();
    await problems.getByRole("button", { name: "write http.request" }).click();
    await untilText(FLOW);
    await page.locator(".cm-lintRange-error").waitFor({ state: "detached" });
    await page.locator(".cm-content").focus();
    await page.keyboard.press("Control+z");
    await untilText(wrong);
  });

  test("offers what may stand at the cursor while somebody types", async () => {
    await fill(FLOW.replace('method = "GET"', "¦"));
    await page.keyboard.type("hea");
    await page.getByRole("option", { name: "headers" }).click();
    await untilText(FLOW.replace('method = "GET"', "headers"));
    await fill(FLOW.replace("order.name", "ge¦"));
    await page.keyboard.type("t.");
    await page.getByRole("option", { name: "body" }).waitFor();
  });

  test("lets somebody type over several lines", async () => {
    await fill(`¦${FLOW}`);
    await page.keyboard.press("Control+a");
    await page.keyboard.type("f");
    await untilText("f");
    await page.keyboard.press("Control+z");
    await untilText(FLOW);
    for (const key of ["Control+Home", "Shift+ArrowDown", "Shift+ArrowDown", "Shift+ArrowRight"]) {
      await page.keyboard.press(key);
    }
    await page.keyboard.type("#");
    await untilText(`#${FLOW.slice(FLOW.indexOf("node get") + 1)}`);
  });

  test("writes a block with places that Tab goes through", async () => {
    await fill(`${FLOW}\n¦`);
    await page.keyboard.type("inp");
    await page.getByRole("option", { name: "input" }).click();
    await untilText(`${FLOW}\ninput name: string`);
    await page.keyboard.type("limit");
    await page.keyboard.press("Tab");
    await page.keyboard.type("int");
    await untilText(`${FLOW}\ninput limit: int`);
  });

  test("shows what the catalog says of an offer as it stands", async () => {
    await fill(FLOW.replace("http.request", "¦"));
    await page.keyboard.type("lo");
    await page.getByRole("option", { name: "log" }).waitFor();
    const info = page.locator(".cm-completionInfo");
    await info.getByText("Says **it** in \\ `words`", { exact: true }).waitFor();
  });

  test("says what a thing is, by pointer and by keyboard", async () => {
    await fill(FLOW.replace("http.request", "http.¦request"));
    await page.keyboard.press("Alt+F1");
    await page.locator(".cm-flow-help strong").getByText("http.request").waitFor();
    await page.keyboard.press("Escape");
    await page.locator(".cm-flow-help").waitFor({ state: "detached" });
    const line = page.locator(".cm-line", { hasText: "node get" });
    await line.hover({ position: { x: 120, y: 5 } });
    await page.locator(".cm-flow-help").waitFor();
  });

  test("shows the function that is called, and where the cursor is in it", async () => {
    await fill(FLOW.replace("map(get.body, order, order.name)", "filter¦"));
    await page.keyboard.type("(get.body, ");
    await page.locator(".cm-flow-help strong", { hasText: /^x$/ }).waitFor();
    await page.keyboard.press("Escape"); // closes the list of completions
    await page.keyboard.press("Escape");
    await page.locator(".cm-flow-help").waitFor({ state: "detached" });
  });

  test("renames everywhere, and says why a name is refused", async () => {
    await fill(FLOW.replace("node get", "node ge¦t"));
    await page.keyboard.press("F2");
    const name = page.getByRole("textbox", { name: "New name of get" });
    await name.fill("names");
    await page.keyboard.press("Enter");
    const again = page.getByRole("textbox", { name: /names is the name of another node/ });
    await again.fill("load");
    await page.keyboard.press("Enter");
    await untilText(FLOW.replaceAll(/\bget\b/g, "load"));
    await page.keyboard.press("Control+z");
    await untilText(FLOW);
    await page.keyboard.press("F2");
    await name.waitFor();
    await page.keyboard.press("Escape");
    await name.waitFor({ state: "detached" });
    expect(await text()).toBe(FLOW);
  });

  test("goes to a declaration, in this flow and in another", async () => {
    await fill(FLOW.replace("map(get", "map(g¦et"));
    await page.keyboard.press("F12");
    await page.waitForFunction(() => (globalThis as unknown as Guest).guest.selected() === "get");
    await fill('flow 1 a\n\nnode call: subflow {\n  flow = "chi¦ld"\n}\n');
    await page.keyboard.press("F12");
    await page.waitForFunction(() => (globalThis as unknown as Guest).guest.opened.length > 0);
    expect(await page.evaluate(() => (globalThis as unknown as Guest).guest.opened)).toEqual([
      "file:///child.flow",
    ]);
  });

  test("drops an answer that fails because its text is an earlier one, or its editor is closed", async () => {
    await page.evaluate(() => (globalThis as unknown as Guest).guest.hold(true));
    await fill(`¦${FLOW}`);
    await page.waitForFunction(() => (globalThis as unknown as Guest).guest.heldCount() > 0);
    await page.evaluate(() => (globalThis as unknown as Guest).guest.hold(false));
    await fill(`¦${FLOW.replace("http.request", "htp.request")}`);
    await page.evaluate(() => (globalThis as unknown as Guest).guest.refuse());
    await page.locator(".cm-lintRange-error").waitFor();

    // Nobody waits for an answer about the text of an editor that was closed meanwhile either.
    await page.evaluate(() => (globalThis as unknown as Guest).guest.hold(true));
    await fill(`¦${FLOW}`);
    await page.waitForFunction(() => (globalThis as unknown as Guest).guest.heldCount() > 0);
    await page.evaluate(async () => {
      const { close, refuse } = (globalThis as unknown as Guest).guest;
      close();
      refuse();
      await new Promise((done) => setTimeout(done)); // what is logged of it is logged by then
    });
  });

  test("formats in one step", async () => {
    const messy = FLOW.replaceAll("  ", "      ");
    await fill(`¦${messy}`);
    await page.keyboard.press("Control+Shift+F");
    await untilText(FLOW);
    await page.keyboard.press("Control+z");
    await untilText(messy);
  });

  test("has no barrier that axe finds, with a finding, its list and a dialog open", async () => {
    await fill(
      `${FLOW.replace("http.request", "htp.request").replace("node names", "node na¦mes")}`,
    );
    await page.locator(".cm-lintRange-error").waitFor();
    await page.keyboard.press("Control+Shift+M");
    await page.getByRole("listbox").waitFor();
    await page.locator(".cm-content").focus();
    await page.keyboard.press("F2");
    await page.getByRole("textbox", { name: "New name of names" }).waitFor();
    await page.evaluate(axe.source);
    const violations = await page.evaluate(async () => {
      const { axe } = globalThis as unknown as {
        axe: {
          run(
            options: object,
          ): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
        };
      };
      // The library's list of problems has a button in each option; a letter on the option presses it.
      const found = await axe.run({ rules: { "nested-interactive": { enabled: false } } });
      return found.violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
    });
    expect(violations).toEqual([]);
  });
});

/** The exports of page.ts, in the page. */
interface Guest {
  readonly guest: typeof import("./page.ts");
}
