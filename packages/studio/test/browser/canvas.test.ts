/** The canvas and its tree on a page of their own: what a pointer and keys do, and how much work they cost. */
import { readFile } from "node:fs/promises";
import { type Box, type Drawing, type Line, layoutDrawing } from "@millrace/graph";
import { describeWith } from "@millrace/test-support";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fitted, opened, seenBy, toScreen, type View } from "../../src/page/canvas/camera.ts";
import { createScene } from "../../src/page/canvas/scene.ts";
import { expectAccessible } from "./axe.ts";
import type { Guest } from "./canvas/page.tsx";
import { type GuestServer, serveGuest } from "./guest-server.mjs";
import { useStudio } from "./studio.ts";

/** Three nodes below each other, one of them with a body, and a way of failure. */
const SMALL: Drawing = {
  nodes: [
    { path: "load", id: "load", type: "file.read" },
    {
      path: "pages",
      id: "pages",
      type: "map",
      body: {
        nodes: [
          { path: "pages/fetch", id: "fetch", type: "http.request" },
          { path: "pages/check", id: "check", type: "condition" },
        ],
        edges: [{ from: "pages/fetch", to: "pages/check" }],
      },
    },
    { path: "save", id: "save", type: "file.write" },
    { path: "sorry", id: "sorry", type: "log" },
  ],
  edges: [
    { from: "load", to: "pages" },
    { from: "pages", to: "save", implied: true },
    { from: "pages", to: "sorry", port: "error" },
  ],
};

describeWith("chromium")("the canvas", () => {
  const studio = useStudio();
  let guest: GuestServer;
  beforeAll(async () => {
    guest = await serveGuest(new URL("canvas/page.tsx", import.meta.url));
  });
  afterAll(() => guest?.[Symbol.asyncDispose]());

  const region = (page: Page) => page.getByRole("region", { name: "Canvas" });
  const item = (page: Page, name: string | RegExp) => page.getByRole("treeitem", { name });
  const tree = (page: Page) => page.getByRole("tree", { name: "Nodes" });

  async function open(drawing?: Drawing, options: Parameters<typeof studio.open>[1] = {}) {
    const page = await studio.open(guest.url, {
      viewport: { width: 1440, height: 900 },
      ...options,
    });
    await region(page).waitFor();
    if (drawing !== undefined) await ask(page, "draw", drawing);
    await settled(page);
    return page;
  }

  /** Waits until nothing is drawn any more. */
  async function settled(page: Page): Promise<void> {
    await page.evaluate(async () => {
      const { guest: own } = globalThis as unknown as {
        readonly guest: { work(): { readonly frames: number } };
      };
      const frame = (): Promise<unknown> => new Promise((next) => requestAnimationFrame(next));
      for (let quiet = 0; quiet < 5; quiet += 1) {
        await frame();
        if (own.work().frames > 0) quiet = 0;
      }
    });
  }

  /** Where the drawing is: the region without its toolbar. */
  async function stage(page: Page): Promise<View & { readonly x: number; readonly y: number }> {
    const whole = await region(page).boundingBox();
    const bar = await page.getByRole("toolbar", { name: "View" }).boundingBox();
    if (whole === null || bar === null) throw new Error("the canvas is not shown");
    return { ...whole, height: whole.height - bar.height };
  }

  /** The middle of the head of a node on the page, while the whole picture is shown. */
  async function pointOf(page: Page, path: string, drawing = SMALL): Promise<[number, number]> {
    const picture = layoutDrawing(drawing);
    const { x, y, ...view } = await stage(page);
    const box = picture.boxes.find(({ node }) => node.path === path) as Box;
    const [left, top] = toScreen(fitted(picture, view), [box.x + box.w / 2, box.y + 20]);
    return [x + left, y + top];
  }

  const cards = (page: Page): Promise<number> =>
    region(page).locator("[data-mark]:not([hidden])").count();

  test("a click selects a node here and in the tree", async () => {
    const page = await open(SMALL);
    await page.mouse.click(...(await pointOf(page, "pages/check")));
    await item(page, "check, condition").waitFor();
    await expect
      .poll(() => item(page, "check, condition").getAttribute("aria-selected"))
      .toBe("true");
    await expect.poll(() => item(page, "pages, map").getAttribute("aria-expanded")).toBe("true");
    await page.mouse.click(...(await pointOf(page, "load")));
    await expect
      .poll(() => item(page, "load, file.read").getAttribute("aria-selected"))
      .toBe("true");
    expect(await ask(page, "calls")).toEqual(["select pages/check", "select load"]);
  });

  test("dragging a node says where it is in its body, and does not select", async () => {
    const page = await open(SMALL);
    const picture = layoutDrawing(SMALL);
    const drag = async (path: string): Promise<void> => {
      const [x, y] = await pointOf(page, path);
      await page.mouse.move(x, y);
      await page.mouse.down();
      await page.mouse.move(x + 30, y + 15, { steps: 3 });
      await page.mouse.move(x + 60, y + 40, { steps: 3 });
      await page.mouse.up();
    };
    for (const [path, owner] of [
      ["pages/fetch", "pages"],
      ["load", ""],
    ] as const) {
      await ask(page, "draw", { ...SMALL });
      await page.getByRole("button", { name: "Tidy" }).click();
      await page.getByRole("button", { name: "Fit" }).click();
      await settled(page);
      await ask(page, "calls");
      await drag(path);
      const { zoom } = fitted(picture, await stage(page));
      const { x, y } = picture.boxes.find(({ node }) => node.path === path) as Box;
      const [left, top] = picture.origins.get(owner) as [number, number];
      const place = [x + 60 / zoom - left, y + 40 / zoom - top].map(Math.round);
      expect(await ask(page, "calls")).toEqual([`move ${path} ${place.join(" ")}`]);
    }
  });

  test("dragging beside the nodes, arrow keys and the wheel move the picture", async () => {
    const page = await open(SMALL);
    const [x, y] = await pointOf(page, "save");
    const { x: left, y: top } = await stage(page);
    await page.mouse.move(left + 20, top + 20);
    await page.mouse.down();
    await page.mouse.move(left + 70, top + 50, { steps: 4 });
    await page.mouse.up();
    await page.mouse.click(x + 50, y + 30);
    await page.mouse.wheel(100, 40);
    await settled(page);
    await page.mouse.click(x - 50, y - 10);
    await region(page).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowUp");
    await page.mouse.click(x - 50 + 64, y - 10 + 64);
    expect(await ask(page, "calls")).toEqual(["select save", "select save", "select save"]);
  });

  test("keys, buttons and the wheel with Ctrl zoom; Fit shows the whole picture again", async () => {
    const page = await open();
    await ask(page, "show", 300);
    const near = () => region(page).getByText("node0", { exact: true });
    await settled(page);
    await expect.poll(() => near().count()).toBe(0);
    await region(page).focus();
    for (let press = 0; press < 4; press += 1) await page.keyboard.press("+");
    await near().waitFor();
    for (let press = 0; press < 4; press += 1) await page.keyboard.press("-");
    await near().waitFor({ state: "hidden" });
    for (let press = 0; press < 4; press += 1) {
      await page.getByRole("button", { name: "Zoom in" }).click();
    }
    await near().waitFor();
    await page.getByRole("button", { name: "Zoom out" }).click();
    await page.getByRole("button", { name: "Fit" }).click();
    await near().waitFor({ state: "hidden" });
    const { x, y, width, height } = await stage(page);
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.keyboard.down("Control");
    for (let turn = 0; turn < 20; turn += 1) await page.mouse.wheel(0, -60);
    await page.keyboard.up("Control");
    await region(page).locator("[data-mark]:visible").first().waitFor();
  });

  test("a card shows the state as symbol and word, the duration, the progress and the problems", async () => {
    const page = await open(SMALL);
    await ask(page, "details", {
      load: { state: "succeeded", durationMs: 4 },
      pages: { state: "running", progress: { done: 2, total: 3 } },
      save: { problems: 2 },
    });
    await region(page).getByText("✓ succeeded 4 ms").waitFor();
    await region(page).getByText("● running 2/3").waitFor();
    await region(page).getByText("! 2").waitFor();
    await item(page, "load, file.read, succeeded").waitFor();
    await item(page, "save, file.write, 2 problems").waitFor();
  });

  test("a body is folded by its button or its corner, and a selection inside opens it", async () => {
    const page = await open(SMALL);
    const inside = region(page).getByText("fetch", { exact: true });
    await inside.waitFor();
    await expect.poll(() => page.getByRole("button", { name: "Fold" }).isDisabled()).toBe(true);
    await ask(page, "select", "pages");
    await page.getByRole("button", { name: "Fold", exact: true }).click();
    await inside.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Unfold" }).click();
    await inside.waitFor();
    await page.getByRole("button", { name: "Fit" }).click();
    await settled(page);
    const picture = layoutDrawing(SMALL);
    const body = picture.boxes.find(({ node }) => node.path === "pages") as Box;
    const [x, y] = await pointOf(page, "pages");
    await page.mouse.click(x + body.w / 2 - 12, y - 8);
    await inside.waitFor({ state: "hidden" });
    await ask(page, "select", "pages/fetch");
    await inside.waitFor();
  });

  test("the picture is saved as SVG with the states of the run", async () => {
    const page = await open(SMALL);
    await ask(page, "details", { save: { state: "failed" } });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export SVG" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe("Test-flow.svg");
    const text = await readFile(await download.path(), "utf8");
    expect(text).toContain("<title>Test flow</title>");
    expect(text).toContain("<title>save: file.write, failed</title>");
    expect(text).toContain("<title>pages/fetch: http.request</title>");
  });

  test("the tree is used with the keyboard alone", async () => {
    const page = await open(SMALL);
    const focused = () =>
      page.evaluate(() => document.activeElement?.firstElementChild?.textContent);
    await page.getByRole("button", { name: "Theme" }).focus();
    await page.keyboard.press("Tab");
    await expect.poll(() => focused()).toBe("load, file.read");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => focused()).toBe("pages, map");
    await page.keyboard.press("ArrowRight");
    await item(page, "fetch, http.request").waitFor();
    await expect.poll(() => item(page, "fetch, http.request").getAttribute("aria-level")).toBe("2");
    await expect.poll(() => item(page, "check, condition").getAttribute("aria-posinset")).toBe("2");
    await expect.poll(() => item(page, "check, condition").getAttribute("aria-setsize")).toBe("2");
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => focused()).toBe("fetch, http.request");
    await page.keyboard.press("End");
    await expect.poll(() => focused()).toBe("sorry, log");
    await page.keyboard.press("Home");
    await expect.poll(() => focused()).toBe("load, file.read");
    await page.keyboard.press("Alt+ArrowDown");
    await expect.poll(() => focused()).toBe("pages, map");
    await page.keyboard.press("Alt+ArrowUp");
    await expect.poll(() => focused()).toBe("load, file.read");
    await page.keyboard.type("so");
    await expect.poll(() => focused()).toBe("sorry, log");
    await page.getByRole("button", { name: "Zoom in" }).focus();
    await ask(page, "details", { sorry: { problems: 1 } });
    await item(page, "sorry, log, 1 problem").waitFor();
    await expect.poll(() => focused()).not.toBe("sorry, log, 1 problem"); // the focus stays where a person put it
    await item(page, "sorry, log, 1 problem").focus();
    await page.keyboard.press("F2");
    await page.keyboard.press("Delete");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    await item(page, "fetch, http.request").waitFor({ state: "detached" });
    const calls = await ask(page, "calls");
    expect(calls).toEqual(expect.arrayContaining(["rename sorry", "delete sorry", "open sorry"]));
    await expect.poll(() => tree(page).locator("[tabindex='0']").count()).toBe(1);
    await page.getByRole("treeitem", { name: "pages, map", selected: true }).waitFor();
  });

  test("keys that come quickly end where the last of them leads", async () => {
    const page = await open();
    await ask(page, "show", 300);
    await tree(page).getByRole("treeitem").first().focus();
    for (let press = 0; press < 60; press += 1) await page.keyboard.press("ArrowDown");
    await page.getByRole("treeitem", { name: /^node60, /, selected: true }).waitFor();
    const focused = await page.evaluate(
      () => document.activeElement?.firstElementChild?.textContent,
    );
    expect(focused).toMatch(/^node60, /);
  });

  test("nothing is drawn without a change, and many changes within a frame are drawn once", async () => {
    const page = await open(SMALL);
    await page.waitForTimeout(200);
    expect((await ask(page, "work")).frames).toBe(0);
    const frames = await page.evaluate(async () => {
      const { guest: own } = globalThis as unknown as {
        readonly guest: { work(): { readonly frames: number }; states(turn: number): void };
      };
      await new Promise((next) => requestAnimationFrame(next));
      for (let turn = 0; turn < 50; turn += 1) own.states(turn);
      await new Promise((next) => setTimeout(next, 200));
      return own.work().frames;
    });
    expect(frames).toBeGreaterThan(0);
    expect(frames).toBeLessThanOrEqual(2);
  });

  test("a frame of 5000 nodes draws what is in the view, cards are near it, and the tree has few rows, all within reach of keys", async () => {
    const page = await open();
    await ask(page, "show", 5_000);
    await settled(page);
    const drawing = await ask(page, "drawing");
    const picture = layoutDrawing(drawing);
    const scene = createScene(picture);
    const { width, height } = await stage(page);
    const view = { width, height };
    const drawn = async (): Promise<number> => {
      await ask(page, "work");
      await page.getByRole("button", { name: "Theme" }).click();
      await settledOnce(page);
      const { frames, curves } = await ask(page, "work");
      return curves / frames;
    };
    const start = opened(picture, view);
    expect(await drawn()).toBe(curvesOf(scene.within(seenBy(start, view)).lines));
    expect(await cards(page)).toBe(0);
    await page.getByRole("button", { name: "Fit" }).click();
    await settled(page);
    expect(await drawn()).toBe(curvesOf(picture.lines));

    await ask(page, "select", "node7");
    const { x, y } = await stage(page);
    await page.mouse.move(x + width / 2, y + height / 2);
    await page.keyboard.down("Control");
    for (let turn = 0; turn < 40; turn += 1) await page.mouse.wheel(0, -60);
    await page.keyboard.up("Control");
    await settled(page);
    const near = await cards(page);
    expect(near).toBeGreaterThan(0);
    // The view and one more around it, at the smallest zoom that has cards.
    const most = 9 * densest(picture.boxes, { w: width / 0.5, h: height / 0.5 });
    expect(near).toBeLessThanOrEqual(most);

    const rows = tree(page).getByRole("treeitem");
    await rows.first().focus();
    await expect.poll(() => rows.count()).toBeLessThan(150);
    await page.keyboard.press("End");
    await item(page, /^node3/)
      .last()
      .waitFor();
    const focused = () =>
      page.evaluate(() => document.activeElement?.firstElementChild?.textContent);
    const last = drawing.nodes.at(-1);
    await expect.poll(() => focused()).toBe(`${last?.id}, ${last?.type}`);
    await page.keyboard.type("node1234");
    await expect.poll(() => focused()).toMatch(/^node1234, /);
    await expect.poll(() => rows.count()).toBeLessThan(150);
    const state = await item(page, /^node1234, /).getAttribute("aria-posinset");
    expect(state).toBe("1235");
  });

  test("a selection moves the picture without an animation where motion is reduced", async () => {
    for (const reducedMotion of ["reduce", "no-preference"] as const) {
      const page = await open(undefined, { reducedMotion });
      await ask(page, "show", 300);
      await settled(page);
      await ask(page, "select", "node200");
      await settledOnce(page);
      const { frames } = await ask(page, "work");
      if (reducedMotion === "reduce") expect(frames).toBeLessThanOrEqual(3);
      else expect(frames).toBeGreaterThan(1);
      expect(await page.evaluate(() => document.getAnimations().length)).toBe(0);
    }
  });

  test("colours follow the theme and forced colours", async () => {
    const page = await open(SMALL);
    const brightness = async (): Promise<number> => {
      await settled(page);
      return ask(page, "brightness");
    };
    await page.emulateMedia({ colorScheme: "light" });
    expect(await brightness()).toBeGreaterThan(180);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await brightness()).toBeLessThan(80);
    await page.getByRole("button", { name: "Theme" }).click(); // light, whatever the system says
    expect(await brightness()).toBeGreaterThan(180);
    // The colours of the system in place of those of the page: bodies are as black as the page.
    await page.emulateMedia({ colorScheme: "dark", forcedColors: "active" });
    await page.getByRole("button", { name: "Theme" }).click();
    expect(await brightness()).toBeLessThan(30);
  });

  test("axe finds nothing, and the drawing has nothing for the keyboard", async () => {
    const page = await open(SMALL);
    await ask(page, "states", 0);
    await ask(page, "select", "pages/check");
    await expectAccessible(page);
    const inside = region(page).locator("[aria-hidden=true]");
    await expect.poll(() => inside.locator("button, a, input, [tabindex]").count()).toBe(0);
  });

  async function settledOnce(page: Page): Promise<void> {
    await page.evaluate(async () => {
      for (let frame = 0; frame < 30; frame += 1) {
        await new Promise((next) => requestAnimationFrame(next));
      }
    });
  }
});

/** A line of n points has n - 1 curves. */
function curvesOf(lines: readonly Line[]): number {
  return lines.reduce((sum, { points }) => sum + points.length - 1, 0);
}

/** The most boxes that a window of this size meets, among windows that begin at a box. */
function densest(
  boxes: readonly Box[],
  { w, h }: { readonly w: number; readonly h: number },
): number {
  const scene = createScene({ width: 0, height: 0, boxes, lines: [], origins: new Map() });
  return boxes.reduce(
    (most, { x, y }) => Math.max(most, scene.within({ x, y, w, h }).boxes.length),
    0,
  );
}

/** Calls a function of the page. */
function ask<Name extends keyof Guest>(
  page: Page,
  name: Name,
  ...args: Parameters<Guest[Name]>
): Promise<ReturnType<Guest[Name]>> {
  return page.evaluate(
    ([called, given]) => {
      const { guest } = globalThis as unknown as {
        readonly guest: Record<string, (...args: readonly unknown[]) => unknown>;
      };
      return guest[called as string]?.(...(given as readonly unknown[]));
    },
    [name, args],
  ) as Promise<ReturnType<Guest[Name]>>;
}
