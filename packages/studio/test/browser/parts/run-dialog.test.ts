/** The dialog that asks for the inputs of a run. */
import type { FlowInput } from "@millrace/contracts";
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "../axe.ts";
import { type Guest, useGuest } from "./guest-page.ts";

declare const guest: Guest;

const INPUTS: readonly FlowInput[] = [
  { name: "count", schema: { type: "integer", minimum: 3 }, default: 7, description: "How many" },
  { name: "name", schema: { type: "string" } },
  { name: "token", schema: { type: "string", writeOnly: true } },
  { name: "any" },
];

describeWith("chromium")("the dialog of a run", () => {
  const open = useGuest();

  async function show(
    page: Page,
    inputs: readonly FlowInput[],
    options: { readonly draftKey?: string; readonly refusal?: object } = {},
  ): Promise<void> {
    await page.evaluate(
      async (given) => {
        const [declared, how] = JSON.parse(given) as Parameters<Guest["showDialog"]>;
        await guest.showDialog(declared, how);
      },
      JSON.stringify([inputs, options]),
    );
  }
  const started = async (page: Page): Promise<unknown> =>
    JSON.parse(await page.evaluate(() => guest.startedJson()));
  const field = (page: Page, name: string) => page.getByRole("textbox", { name, exact: true });

  test("has a field for each input, sends nothing wrong, and sends what is shown", async () => {
    const { page } = open;
    await show(page, INPUTS);
    const dialog = page.getByRole("dialog", { name: "Run flow" });
    const count = field(page, "count");
    await expect
      .poll(() => count.evaluate((element) => element === document.activeElement))
      .toBe(true);
    await expect.poll(() => count.inputValue()).toBe("7");
    await dialog.getByText("How many. Default: 7").waitFor();
    await field(page, "count").fill("2");
    await dialog.getByRole("button", { name: "Start run" }).click();
    const wrong = dialog.getByRole("list", { name: "Wrong values" });
    await expect
      .poll(() => wrong.getByRole("listitem").allTextContents())
      .toEqual([
        "count must be at least 3",
        "name is required",
        "token is required",
        "any is required",
      ]);
    await expect.poll(() => field(page, "count").getAttribute("aria-invalid")).toBe("true");
    await expectAccessible(page);
    expect(await started(page)).toEqual([]);

    await field(page, "count").fill("3");
    await field(page, "name").fill("Ada");
    await dialog.getByLabel("token", { exact: true }).fill("hunter2");
    await field(page, "any").fill('{ "a": [1] }');
    await dialog.getByRole("button", { name: "Start run" }).click();
    expect(await started(page)).toEqual([
      { count: 3, name: "Ada", token: "hunter2", any: { a: [1] } },
    ]);
  });

  test("remembers the last inputs of a flow in this tab, and no secret", async () => {
    const { page } = open;
    await show(page, INPUTS, { draftKey: "orders" });
    await field(page, "name").fill("Ada");
    await page.getByLabel("token", { exact: true }).fill("hunter2");
    await field(page, "any").fill("1");
    await page.getByRole("button", { name: "Start run" }).click();
    await show(page, INPUTS, { draftKey: "orders" });
    await expect.poll(() => field(page, "name").inputValue()).toBe("Ada");
    await expect.poll(() => page.getByLabel("token", { exact: true }).inputValue()).toBe("");
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...sessionStorage }, { ...localStorage }]),
    );
    expect(kept).toContain("Ada");
    expect(kept).not.toContain("hunter2");
    await show(page, INPUTS, { draftKey: "other" });
    await expect.poll(() => field(page, "name").inputValue()).toBe("");
  });

  test("shows at its field what the server refuses, until the field is changed", async () => {
    const { page } = open;
    const errors = [{ pointer: "/name", code: "input_invalid", message: "the name is taken" }];
    const refusal = { code: "input_invalid", title: "The inputs do not fit the flow", errors };
    await show(page, [{ name: "name", schema: { type: "string" } }], { refusal });
    await field(page, "name").fill("Ada");
    await page.getByRole("button", { name: "Start run" }).click();
    await page.getByRole("alert").getByText("The inputs do not fit the flow").waitFor();
    await expect.poll(() => field(page, "name").inputValue()).toBe("Ada");
    await expect.poll(() => field(page, "name").getAttribute("aria-invalid")).toBe("true");
    const list = page.getByRole("list", { name: "Wrong values" });
    await expect
      .poll(() => list.getByRole("listitem").allTextContents())
      .toEqual(["name the name is taken"]);
    await expectAccessible(page);
    await field(page, "name").fill("Bea");
    await expect.poll(() => field(page, "name").getAttribute("aria-invalid")).toBe(null);
    await expect.poll(() => page.getByRole("alert").textContent()).toBe("");
  });

  test("stays open when a text is marked beyond its edge", async () => {
    const { page } = open;
    await show(page, INPUTS);
    const box = await field(page, "count").boundingBox();
    if (box === null) throw new Error("the field is not shown");
    await page.mouse.move(box.x + 5, box.y + 5);
    await page.mouse.down();
    await page.mouse.move(5, 5);
    await page.mouse.up();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(1);
    await page.mouse.click(5, 5);
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("of a flow without inputs says so, and is closed by Cancel and by Escape", async () => {
    const { page } = open;
    for (const close of [
      () => page.getByRole("button", { name: "Cancel" }).click(),
      () => page.keyboard.press("Escape"),
    ]) {
      await show(page, []);
      await page.getByText("The flow has no inputs.").waitFor();
      await close();
      await page.getByRole("dialog").waitFor({ state: "detached" });
    }
  });
});
