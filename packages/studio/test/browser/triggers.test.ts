/** S19: what starts runs by itself. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { HELLO } from "./flows.ts";
import { nameOfFocus } from "./keyboard.ts";
import { startServer, type TestServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const NIGHTLY = `flow 1 nightly

schedule at-night {
  cron = "0 3 * * *"
  timezone = "Europe/Berlin"
}

node say: log {
  message = "night"
}
`;

const HOOKED = `flow 1 hooked

input request: object

node say: log {
  message = "called"
}
`;

const save = ({ client }: TestServer, slug: string, dsl: string) =>
  client.invoke("save_template", { slug, name: slug, dsl });

describeWith("chromium")("the triggers", () => {
  const studio = useStudio();

  test("creates a schedule after showing when it fires, runs it, pauses it and deletes it", async () => {
    await using server = await startServer();
    await save(server, "hello", HELLO);
    const page = await studio.open(server.url, {
      place: "#/triggers/schedules",
      timezoneId: "Europe/Berlin",
      expected: [/status of 422/],
    });
    await page.getByRole("heading", { name: "No schedules" }).waitFor();
    await page.getByRole("button", { name: "New schedule" }).click();
    const form = page.getByRole("form", { name: "New schedule" });
    const flow = form.getByLabel("Flow");
    await expect.poll(() => flow.evaluate((each) => each === document.activeElement)).toBe(true);
    await flow.selectOption("hello");
    await expect.poll(() => form.getByLabel("Time zone").inputValue()).toBe("Europe/Berlin");
    const cron = form.getByLabel("Cron");
    await cron.fill("99 * * * *");
    await form.getByRole("alert").getByText("cron").first().waitFor();
    await expect.poll(() => cron.getAttribute("aria-invalid")).toBe("true");
    await cron.fill("0 7 * * 1-5");
    const times = form.getByRole("list", { name: "Next fire times" }).getByRole("listitem");
    await times.nth(2).waitFor();
    await expect.poll(() => times.count()).toBe(3);
    await expect.poll(() => times.first().textContent()).toMatch(/7:00:00/);
    await expectAccessible(page);
    expect((await server.client.invoke("list_schedules", {})).items).toEqual([]);
    await form.getByRole("textbox", { name: "name" }).fill("Ada");
    await form.getByRole("button", { name: "Create schedule" }).click();

    const row = page.getByRole("table", { name: "Schedules" }).getByRole("row").nth(1);
    await row.getByText("0 7 * * 1-5, Europe/Berlin").waitFor();
    await form.waitFor({ state: "detached" });
    await row.getByRole("button", { name: "Run now" }).press("Enter");
    await page.getByRole("main").getByRole("link", { name: /^run_/ }).waitFor();
    expect(await nameOfFocus(page)).toBe("button Run now");
    const { items } = await server.client.invoke("list_runs", {});
    expect(items).toMatchObject([{ template: { slug: "hello" } }]);
    await row.getByRole("button", { name: "Pause" }).click();
    await row.getByText("paused").waitFor();
    await expectAccessible(page);
    await row.getByRole("button", { name: "Resume" }).click();
    await row.getByText("active").waitFor();

    await row.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete the schedule of hello?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await row.getByRole("button", { name: "Delete" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No schedules" }).waitFor();
  });

  test("activates a schedule that a flow proposes", async () => {
    await using server = await startServer();
    await save(server, "nightly", NIGHTLY);
    const page = await studio.open(server.url, { place: "#/triggers/schedules" });
    await page.getByRole("button", { name: "Activate at-night" }).click();
    const row = page.getByRole("table", { name: "Schedules" }).getByRole("row").nth(1);
    await row.getByText("at-night").waitFor();
    await page.getByRole("button", { name: "Activate at-night" }).waitFor({ state: "detached" });
  });

  test("shows the address of a webhook once, and it works", async () => {
    await using server = await startServer({ webhooks: true });
    await save(server, "hooked", HOOKED);
    const page = await studio.open(server.url, { place: "#/triggers" });
    await page.getByRole("tab", { name: "Webhooks" }).click();
    await page.getByRole("heading", { name: "No webhooks" }).waitFor();
    await page.getByRole("button", { name: "New webhook" }).click();
    const form = page.getByRole("form", { name: "New webhook" });
    await form.getByLabel("Flow").selectOption("hooked");
    await form.getByLabel("Input").selectOption("request");
    await expectAccessible(page);
    await form.getByRole("button", { name: "Create webhook" }).click();
    const address = page.getByLabel("Address", { exact: true });
    const url = await address.inputValue();
    expect(url.startsWith(`${server.url}/hooks/`)).toBe(true);
    await page.getByRole("button", { name: "Copy" }).waitFor();
    await expectAccessible(page);
    expect((await fetch(url, { method: "POST" })).status).toBe(202);

    await page.reload();
    const row = page.getByRole("table", { name: "Webhooks" }).getByRole("row").nth(1);
    await row.getByText("request").waitFor();
    expect(await page.content()).not.toContain(url.split("/").at(-1));
    await row.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No webhooks" }).waitFor();
    expect((await fetch(url, { method: "POST" })).status).toBe(404);
  });

  test("says that a server does not answer webhooks, and what a flow cannot take", async () => {
    await using server = await startServer();
    await save(
      server,
      "hello",
      HELLO.replace(' = "world"', "").replace("input name", "input other: int\n\ninput name"),
    );
    const page = await studio.open(server.url, {
      place: "#/triggers/webhooks",
      expected: [/status of 422/],
    });
    await page.getByText("This server does not answer webhooks").waitFor();
    await page.getByRole("button", { name: "New webhook" }).click();
    const form = page.getByRole("form", { name: "New webhook" });
    await form.getByLabel("Flow").selectOption("hello");
    await form.getByLabel("Input").selectOption("name");
    await form.getByRole("button", { name: "Create webhook" }).click();
    await form.getByRole("alert").getByText("the flow needs the input other as well").waitFor();
  });
});
