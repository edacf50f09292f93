/** What the screen of a flow says and offers in each state: a flow that is not there, a token that may only read, needs and schedules. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { fillText, openGreeting, treeitem } from "./flow-page.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const READER = "a-token-that-may-only-read";
const ADMIN = "a-token-that-may-do-everything";

const NEEDY = `flow 1 needy

schedule nightly {
  cron = "0 3 * * *"
}

connection tracker: oauth {
  service = "tracker"
}

node save: file.write {
  path = "out.txt"
  content = "x"
}
`;

describeWith("chromium")("the screen of a flow", () => {
  const studio = useStudio();

  test("says that a flow does not exist", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/flows/nowhere",
      expected: [/status of 404/],
    });
    await page.getByRole("heading", { name: "nowhere" }).waitFor();
    await page.getByRole("alert").getByText("There is no flow nowhere on this server").waitFor();
    await expectAccessible(page);
  });

  test("lets a reader look, and says which role each control needs", async () => {
    await using server = await startServer({ tokens: [ADMIN, `viewer:read:${READER}`] });
    const page = await openGreeting(studio, server, { expected: [/status of 401/] });
    await page.getByLabel("Access token").fill(READER);
    await page.getByRole("button", { name: "Sign in" }).click();
    await treeitem(page, "say, log").waitFor();
    const toolbar = page.getByRole("toolbar", { name: "Flow" });
    for (const [name, role] of [
      ["Save", "admin"],
      ["Run", "run"],
    ] as const) {
      const button = toolbar.getByRole("button", { name });
      await expect.poll(() => button.isDisabled()).toBe(true);
      await expect.poll(() => button.getAttribute("title")).toBe(`needs the role ${role}`);
    }
  });

  test("lists what a flow needs with the way to mend it, and activates its schedule", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/new" });
    await fillText(page, NEEDY);
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    const needs = inspector.getByRole("list", { name: "Needs" });
    await needs.getByText(/Connection tracker no service of this name/).waitFor();
    await needs.getByRole("link", { name: "Services" }).waitFor();
    await needs.getByText(/Node save changes something outside of the run/).waitFor();
    const activate = inspector.getByRole("button", { name: "Activate nightly" });
    await expect.poll(() => activate.getAttribute("title")).toBe("save the flow first");

    await fillText(page, NEEDY.replace(/connection [^}]*}\n\n/, ""));
    await page.getByText("No problems.").waitFor();
    await page.keyboard.press("Control+s");
    const dialog = page.getByRole("dialog", { name: "Save flow" });
    await expectAccessible(page);
    await dialog.getByLabel("Name").fill("Every night");
    await dialog.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("heading", { name: "Every night" }).waitFor();
    await activate.click();
    await page.getByText("Schedule nightly is active").waitFor();
    await activate.waitFor({ state: "detached" });
    const { items } = await server.client.invoke("list_schedules", {});
    expect(items).toMatchObject([{ template: "needy", name: "nightly", cron: "0 3 * * *" }]);
  });

  test("shows hostile names as text", async () => {
    await using server = await startServer();
    const name = "<img src=x onerror=alert(1)>\u202egpj";
    const dsl = `flow 1 hostile\n\ninput a: string = "\u202e" {\n  description = "${name}"\n}\n\nnode "${name}": log {\n  message = inputs.a\n}\n`;
    await server.client.invoke("save_template", { slug: "hostile", dsl, name, takeErrors: true });
    const page = await studio.open(server.url, { place: "#/flows/hostile" });
    const shown = "<img src=x onerror=alert(1)>\\u202egpj";
    await page.getByRole("heading", { level: 1, name: shown }).waitFor();
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByText(shown).waitFor();
    await page.getByRole("tree", { name: "Nodes" }).getByRole("treeitem").click();
    await inspector.getByRole("heading", { name: shown }).waitFor();
    await expect.poll(() => page.locator("img[src], script:not([src])").count()).toBe(0);
  });

  test("leaves room for what stands beside long names and many problems", async () => {
    await using server = await startServer();
    const name = "name_that_goes_on_".repeat(3);
    const dsl = `flow 1 long\n\nnode ${name}: confirm {\n  prompt = "האם לאשר?"\n}\n\noutput ${name}: string = "done"\n`;
    await server.client.invoke("save_template", { slug: "long", dsl });
    const { runId } = await server.client.invoke("start_run", { template: "long" });
    const page = await studio.open(server.url, {
      place: "#/flows/long",
      expected: [/status of 422/],
    });
    const inspector = page.getByRole("complementary", { name: "Inspector" });
    await inspector.getByText(name).waitFor();
    const isCut = (element: Element): boolean => element.scrollWidth > element.clientWidth;
    expect(await inspector.evaluate(isCut)).toBe(false);
    await fillText(page, "}".repeat(90));
    await page.keyboard.press("Control+s");
    const alert = page.getByRole("alert").filter({ hasText: "The flow is not valid" });
    await expect.poll(() => alert.getByRole("listitem").count()).toBe(5);
    await alert.getByText("more problems").click();
    await expect.poll(() => alert.getByRole("listitem").count()).toBe(90);

    await page.goto(`${server.url}/studio#/runs/${runId}`);
    const prompt = page.getByRole("region", { name: /^Confirmation/ }).getByText("האם לאשר?");
    await expect
      .poll(() => prompt.evaluate((text) => getComputedStyle(text).direction))
      .toBe("rtl");
    const tree = page.getByRole("tree", { name: "Nodes" });
    await tree.getByText("waiting", { exact: true }).waitFor();
    expect(await tree.evaluate(isCut)).toBe(false);
  });

  test("deletes a flow after it was asked", async () => {
    await using server = await startServer();
    const page = await openGreeting(studio, server);
    await treeitem(page, "say, log").waitFor();
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("menuitem", { name: "Delete flow…" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete greeting?" });
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No flows yet" }).waitFor();
    expect((await server.client.invoke("list_templates", {})).items).toEqual([]);
  });
});
