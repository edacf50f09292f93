/** The settings of a server, changed in the page. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { expectAccessible } from "./axe.ts";
import { isFocusCovered, nameOfFocus } from "./keyboard.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const READER = "reader-token-0123456789";

describeWith("chromium")("settings", () => {
  const studio = useStudio();

  test("are a form of their schema, which sends what was changed and nothing that breaks a rule", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, { place: "#/settings" });
    const sent: unknown[] = [];
    page.on("request", (request) => {
      const body = request.postData() ?? "";
      if (body.includes("update_settings")) sent.push(JSON.parse(body));
    });
    const field = page.getByRole("textbox", { name: "concurrency", exact: true });
    const save = page.getByRole("button", { name: "Save settings" });
    await expect.poll(() => field.inputValue()).toBe("16");
    await expect.poll(() => save.isDisabled()).toBe(true);
    await field.focus();
    for (let press = 0; press < 25; press += 1) {
      await page.keyboard.press("Tab");
      expect(await isFocusCovered(page), await nameOfFocus(page)).toBe(false);
    }

    await field.fill("many");
    await save.click();
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    const problem = page.getByRole("list", { name: "Wrong values" });
    await problem.getByText("must be integer, found string").waitFor();
    await problem.getByRole("link", { name: "run concurrency" }).click();
    await expect
      .poll(() => field.evaluate((element) => element === document.activeElement))
      .toBe(true);
    await expectAccessible(page);
    expect(sent).toEqual([]);

    await field.fill("4");
    await page.getByRole("radio", { name: "finish" }).check();
    await save.click();
    await page.getByRole("status", { name: "Notifications" }).getByText("Settings saved").waitFor();
    expect(sent).toMatchObject([
      { args: { patch: { run: { concurrency: 4, onFailure: "finish" } } } },
    ]);
    await expect.poll(() => problem.count()).toBe(0);
    await page.reload();
    await field.waitFor();
    await expect.poll(() => field.inputValue()).toBe("4");
    expect((await server.client.invoke("get_settings", {})).run.onFailure).toBe("finish");
  });

  test("that break a rule which the page does not know are refused at their field", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/settings",
      expected: [/status of 422/],
    });
    const field = page.getByRole("textbox", { name: "defaultModels", exact: true });
    await field.fill(`{ "${"x".repeat(65)}": "m" }`);
    await page.getByRole("button", { name: "Save settings" }).click();
    await page.getByRole("alert").getByText("does not fit").waitFor();
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
    await page.getByRole("button", { name: "Discard changes" }).click();
    await expect.poll(() => field.inputValue()).toBe("{}");
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe(null);
  });

  test("that were changed elsewhere meanwhile are not overwritten unasked", async () => {
    await using server = await startServer();
    const page = await studio.open(server.url, {
      place: "#/settings",
      expected: [/status of 412/],
    });
    const days = page.getByRole("textbox", { name: "feedDays" });
    const save = page.getByRole("button", { name: "Save settings" });
    const other = async (concurrency: number): Promise<void> => {
      await server.client.invoke("update_settings", {
        patch: { run: { concurrency } },
        ifMatch: "*",
      });
    };
    await days.fill("3");
    await other(5);
    await save.click();
    await page.getByRole("alert").getByText("changed").waitFor();
    expect((await server.client.invoke("get_settings", {})).retention.feedDays).toBe(7);
    await page.getByRole("button", { name: "Keep mine" }).click();
    await page.getByRole("textbox", { name: "concurrency", exact: true }).waitFor();
    await expect
      .poll(() => page.getByRole("textbox", { name: "concurrency", exact: true }).inputValue())
      .toBe("5");
    await expect.poll(() => days.inputValue()).toBe("3");
    await save.click();
    await page.getByRole("status", { name: "Notifications" }).getByText("Settings saved").waitFor();
    const { run, retention } = await server.client.invoke("get_settings", {});
    expect([run.concurrency, retention.feedDays]).toEqual([5, 3]);

    await days.fill("4");
    await other(6);
    await save.click();
    await page.getByRole("button", { name: "Take theirs" }).click();
    await expect.poll(() => days.inputValue()).toBe("3");
    await expect.poll(() => save.isDisabled()).toBe(true);
  });

  test("can be read and not changed by a token that may only read", async () => {
    await using server = await startServer({
      tokens: ["boss:admin:admin-token-0123456789", `reader:read:${READER}`],
    });
    const page = await studio.open(server.url, {
      place: "#/settings",
      expected: [/status of 401/],
    });
    await page.getByLabel("Access token").fill(READER);
    await page.getByRole("button", { name: "Sign in" }).click();
    const field = page.getByRole("textbox", { name: "concurrency", exact: true });
    await field.fill("3");
    const save = page.getByRole("button", { name: "Save settings" });
    await expect.poll(() => save.isDisabled()).toBe(true);
    await expect.poll(() => save.getAttribute("title")).toBe("needs the role admin");
  });
});
