/** Forms with any schema and any value. */
import type { Json, JsonSchema } from "@millrace/contracts";
import { describeWith } from "@millrace/test-support";
import * as fc from "fast-check";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { expectAccessible } from "../axe.ts";
import { type Guest, useGuest } from "./guest-page.ts";
import { anyJson, schemaAndValue } from "./schemas.ts";

declare const guest: Guest;

const ORDER: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", minLength: 2, description: "Who orders" },
    day: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    site: { type: "string", format: "uri" },
    key: { type: "string", format: "password" },
    pin: { type: ["string", "null"], format: "password" },
    count: { type: "integer", minimum: 1, default: 1 },
    weight: { type: ["number", "null"] },
    fast: { type: "boolean" },
    size: { enum: ["S", "M", "L"] },
    country: { enum: ["AT", "BE", "CH", "DE", "ES", "FR", "IT", "NL", "PL"] },
    tags: { type: "array", items: { type: "string" } },
    address: {
      type: "object",
      properties: { city: { type: "string" }, zip: { type: "string" } },
      required: ["city"],
    },
    extra: { anyOf: [{ type: "string" }, { type: "array" }] },
  },
  required: ["name", "fast", "size"],
};

/** Shows the form of an order. */
function showOrder(page: Page, value: Json): Promise<void> {
  return page.evaluate(
    async (given) => {
      const [schema, first] = JSON.parse(given) as [JsonSchema, Json];
      await guest.showForm(schema, first);
    },
    JSON.stringify([ORDER, value]),
  );
}

describeWith("chromium")("a form", () => {
  const open = useGuest();

  test("holds one value, whether it is seen as fields or as JSON", async () => {
    await fc.assert(
      fc.asyncProperty(schemaAndValue(), anyJson(3), async ({ schema, value }, next) => {
        const texts = await open.page.evaluate(
          async (given) => {
            const [ofForm, first, second] = JSON.parse(given) as [JsonSchema, Json, Json];
            await guest.showForm(ofForm, first);
            const before = guest.heldJson();
            await guest.toggle();
            const shown = guest.jsonText();
            await guest.typeJson(JSON.stringify(second));
            const typed = guest.heldJson();
            await guest.toggle();
            return { before, shown, typed, after: guest.heldJson() };
          },
          JSON.stringify([schema, value, next]),
        );
        expect(JSON.parse(texts.before)).toEqual(value);
        expect(JSON.parse(texts.shown)).toEqual(value);
        expect(JSON.parse(texts.typed)).toEqual(next);
        expect(texts.after).toBe(texts.typed);
      }),
      { numRuns: 150 },
    );
  });

  test("has a control for every kind of value, and what is chosen and typed is its value", async () => {
    const { page } = open;
    await showOrder(page, { pin: null });
    const text = (name: string) => page.getByRole("textbox", { name, exact: true });
    await text("name").fill("Ada");
    await page.getByRole("button", { name: "Several lines for name" }).press("Enter");
    await page.keyboard.type("!");
    await expect.poll(() => text("name").inputValue()).toBe("Ada!");
    await text("name").fill("Ada");
    await page.getByLabel("day", { exact: true }).fill("2026-02-28");
    await text("at").fill("2026-02-28T10:00:00Z");
    await text("site").fill("https://example.org/");
    await expect
      .poll(() => page.getByLabel("key", { exact: true }).getAttribute("type"))
      .toBe("password");
    const key = page.getByLabel("key", { exact: true });
    await expect
      .poll(() => page.getByRole("button", { name: /^Several lines for k/ }).count())
      .toBe(0);
    await expect
      .poll(() => page.getByLabel("pin", { exact: true }).getAttribute("placeholder"))
      .toBe(null);
    await key.evaluate((field) => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", "-----BEGIN KEY-----\r\nMIIE\r\n");
      field.dispatchEvent(new ClipboardEvent("paste", { clipboardData, cancelable: true }));
    });
    await expect.poll(() => key.inputValue()).toBe("-----BEGIN KEY-----\nMIIE\n");
    await key.fill("hunter2");
    await text("count").fill("3");
    await text("weight").fill("1.5");
    await page.getByRole("checkbox", { name: "fast" }).check();
    await page.getByRole("radiogroup", { name: "size" }).getByRole("radio", { name: "M" }).check();
    await page.getByRole("combobox", { name: "country" }).selectOption("DE");
    const tags = page.getByRole("group", { name: "tags" });
    for (const [at, tag] of ["one", "two", "three"].entries()) {
      await tags.getByRole("button", { name: "Add to tags" }).click();
      await text(`tags ${at + 1}`).fill(tag);
    }
    await text("tags 3").fill("");
    await expect.poll(() => page.evaluate(() => guest.heldJson())).toContain('["one","two",""]');
    await text("tags 3").fill("three");
    await tags.getByRole("button", { name: "Move tags 3 up" }).click();
    await tags.getByRole("button", { name: "Remove tags 1" }).click();
    await page.getByRole("button", { name: "Add address" }).click();
    await text("city").fill("Wien");
    await text("extra").fill('["x"');
    await page.getByRole("list", { name: "Wrong values" }).getByText("is not JSON").waitFor();
    await expect
      .poll(() => page.getByRole("button", { name: "As JSON", exact: true }).isDisabled())
      .toBe(true);
    await text("extra").fill('["x"]');
    await expect.poll(() => page.getByRole("list", { name: "Wrong values" }).count()).toBe(0);
    await expectAccessible(page);
    expect(JSON.parse(await page.evaluate(() => guest.heldJson()))).toEqual({
      name: "Ada",
      day: "2026-02-28",
      at: "2026-02-28T10:00:00Z",
      site: "https://example.org/",
      key: "hunter2",
      pin: null,
      count: 3,
      weight: 1.5,
      fast: true,
      size: "M",
      country: "DE",
      tags: ["three", "two"],
      address: { city: "Wien" },
      extra: ["x"],
    });

    await text("weight").fill("");
    await page.getByRole("combobox", { name: "country" }).selectOption("not set");
    await page.getByRole("button", { name: "Clear address" }).click();
    await text("site").fill("");
    const less = JSON.parse(await page.evaluate(() => guest.heldJson())) as object;
    expect(less).toMatchObject({ weight: null });
    expect(Object.keys(less)).not.toContain("country");
    expect(Object.keys(less)).not.toContain("address");
    expect(Object.keys(less)).not.toContain("site");
  });

  test("says what is wrong at the field and in a list whose links lead there", async () => {
    const { page } = open;
    await showOrder(page, { name: "A", count: "two" });
    const list = page.getByRole("list", { name: "Wrong values" });
    await expect
      .poll(() => list.getByRole("listitem").allTextContents())
      .toEqual([
        "fast is required",
        "size is required",
        "name must have at least 2 characters",
        "count must be integer, found string",
      ]);
    const count = page.getByRole("textbox", { name: "count", exact: true });
    await expect.poll(() => count.getAttribute("aria-invalid")).toBe("true");
    const described = ((await count.getAttribute("aria-describedby")) ?? "").split(" ");
    const said = await page.evaluate(
      (ids) => ids.map((id) => document.getElementById(id)?.textContent),
      described,
    );
    expect(said).toEqual(["must be integer, found string", "Default: 1"]);
    await list.getByRole("link", { name: "count" }).click();
    await expect
      .poll(() => count.evaluate((element) => element === document.activeElement))
      .toBe(true);
    await list.getByRole("link", { name: "size" }).click();
    const radio = page.getByRole("radio", { name: "S" });
    await expect
      .poll(() => radio.evaluate((element) => element === document.activeElement))
      .toBe(true);
    await expectAccessible(page);
  });

  test("keeps the cursor when a text becomes long enough for several lines", async () => {
    const { page } = open;
    await page.evaluate(() => guest.showForm({ type: "string" }, "x".repeat(199)));
    await page.getByRole("textbox", { name: "Value" }).focus();
    await page.keyboard.press("End");
    await page.keyboard.type("yz");
    await page.keyboard.press("Enter");
    await page.keyboard.type("end");
    await expect
      .poll(() => page.evaluate(() => guest.heldJson()))
      .toBe(`"${"x".repeat(199)}yz\\nend"`);
  });
});
