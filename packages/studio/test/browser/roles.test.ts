/** What a token may not do is switched off, with the reason, and never asked of the server; what it may do works. */
import { COMMANDS } from "@millrace/contracts/commands";
import { describeWith } from "@millrace/test-support";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { treeitem } from "./flow-page.ts";
import { ASK } from "./flows.ts";
import { writeHub } from "./hub-folder.ts";
import { startRun } from "./run-page.ts";
import { type Seeded, seed } from "./seed.ts";
import { startServer, type TestServer } from "./server.ts";
import { servicesAt } from "./services.ts";
import { useStudio } from "./studio.ts";

const RANKS = ["read", "run", "admin"] as const;
type Role = (typeof RANKS)[number];

/** The role that a command needs, by its effect. */
const NEEDED = { read: "read", run: "run", write: "admin", admin: "admin" } as const;

/** Names of controls by the role that they need. */
type Controls = Readonly<Partial<Record<"run" | "admin", readonly string[]>>>;

/** A screen, or what is opened on it, with its controls. */
interface Place {
  readonly place: (seeded: Seeded) => string;
  /** Opens a menu or a dialog of the screen; answers where the controls are. */
  readonly open?: (page: Page) => Promise<Locator>;
  readonly controls: Controls;
}

async function openMenu(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "More" }).click();
  return page.getByRole("menu", { name: "More" });
}

const PLACES: readonly Place[] = [
  { place: () => "#/flows", controls: { admin: ["Import flow"] } },
  { place: () => "#/flows/hello", controls: { run: ["Run"], admin: ["Save"] } },
  {
    place: () => "#/flows/hello",
    open: openMenu,
    controls: { run: ["Run with options…"], admin: ["Save with details…", "Delete flow…"] },
  },
  {
    place: () => "#/flows/hello",
    async open(page) {
      await (await openMenu(page)).getByRole("menuitem", { name: "Versions…" }).click();
      return page.getByRole("dialog", { name: "Versions of hello" });
    },
    controls: { admin: ["Restore version 1"] },
  },
  { place: () => "#/flows/hello?v=1", controls: { admin: ["Restore version 1"] } },
  { place: () => "#/flows/nightly", controls: { admin: ["Activate early"] } },
  {
    place: ({ paused }) => `#/runs/${paused}`,
    controls: { run: ["Cancel run", "Approve", "Reject"] },
  },
  {
    place: ({ succeeded }) => `#/runs/${succeeded}?node=say`,
    controls: { run: ["Run again", "Rerun from here"] },
  },
  { place: () => "#/inbox", controls: { run: ["Approve", "Reject"] } },
  {
    place: () => "#/triggers/schedules",
    controls: { run: ["Run now"], admin: ["New schedule", "Pause", "Delete"] },
  },
  { place: () => "#/triggers/webhooks", controls: { admin: ["New webhook", "Delete"] } },
  {
    place: () => "#/connections",
    controls: { admin: ["Connect tracker", "Reconnect mailer", "Disconnect mailer"] },
  },
  { place: () => "#/connections?connect=tracker", controls: { admin: ["Continue"] } },
  { place: () => "#/connections?connect=mailer", controls: { admin: ["Continue"] } },
  { place: () => "#/models", controls: { admin: ["Install model", "Scan folders"] } },
  {
    place: () => "#/hubs?hub=local",
    controls: { admin: ["Add hub", "Sync local", "Install hello"] },
  },
];

/** A server with something to do on every screen, and a token of each role. */
async function startFull(): Promise<{ readonly server: TestServer; readonly seeded: Seeded }> {
  const dir = await writeHub();
  const server = await startServer({
    ...servicesAt("https://tracker.example"),
    tokens: RANKS.toReversed().map((role) => `${role}:${role}:${tokenOf(role)}`),
    webhooks: true,
    models: {},
    hubs: [{ id: "local", dir, name: "Folder", provides: ["templates", "nodes"] }],
  });
  const { client } = server;
  const seeded = await seed(client);
  const early = `flow 1 nightly\n\nschedule early {\n  cron = "0 3 * * *"\n}\n\nnode say: log {\n  message = "hi"\n}\n`;
  await client.invoke("save_template", { slug: "nightly", dsl: early });
  const { dsl } = await client.invoke("get_template", { slug: "hello" });
  await client.invoke("save_template", { slug: "hello", dsl: `${dsl}\n# two\n`, ifMatch: "*" });
  await client.invoke("create_webhook", { template: "hello", input: "name" });
  await client.invoke("set_service_secret", { slug: "mailer", service: "mailer", value: "key" });
  await client.invoke("sync_hub", { hubId: "local" });
  await startRun(server, ASK);
  return { server, seeded };
}

const tokenOf = (role: Role): string => `${role}-token-0123456789`;

/** Commands that the page asks for from now on. */
function watchCommands(page: Page): Set<string> {
  const asked = new Set<string>();
  page.on("request", (request) => {
    if (!request.url().endsWith("/api/invoke")) return;
    asked.add((request.postDataJSON() as { readonly command: string }).command);
  });
  return asked;
}

describeWith("chromium")("roles", () => {
  const studio = useStudio();

  test("a control is switched off, and says why, where the role of the token is too low; nothing that it may not do is asked", async () => {
    const { server, seeded } = await startFull();
    await using _ = server;
    for (const role of RANKS) {
      const page = await studio.open(server.url, { expected: [/status of 401/] });
      const asked = watchCommands(page);
      await page.getByLabel("Access token").fill(tokenOf(role));
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByRole("navigation", { name: "Main" }).waitFor();
      for (const { place, open, controls } of PLACES) {
        await goTo(page, place(seeded));
        const where = (await open?.(page)) ?? page.getByRole("main");
        for (const [needs, names] of Object.entries(controls)) {
          for (const name of names) await expectControl(where, name, role, needs as Role);
        }
        if (open !== undefined) await page.keyboard.press("Escape");
      }
      if (role === "read") await pressKeys(page);
      if (role === "run") await answer(page);
      const tooMuch = [...asked].filter((name) => {
        const command = COMMANDS.get(name);
        return command === undefined || rankOf(NEEDED[command.effect]) > rankOf(role);
      });
      expect(tooMuch, role).toEqual([]);
      expect(asked.size, role).toBeGreaterThan(15);
    }
  });
});

async function goTo(page: Page, place: string): Promise<void> {
  await page.evaluate((hash) => {
    location.hash = hash;
  }, place);
}

/** The keys of a flow do what its buttons do, which are off. */
async function pressKeys(page: Page): Promise<void> {
  await goTo(page, "#/flows/hello");
  await treeitem(page, "say, log").waitFor();
  await page.keyboard.press("Control+s");
  await page.keyboard.press("Control+Enter");
  await page.keyboard.press("Control+/");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await expect.poll(() => page.getByRole("dialog").count()).toBe(1);
}

/** Answers one of the two questions. */
async function answer(page: Page): Promise<void> {
  await goTo(page, "#/inbox");
  const questions = page
    .getByRole("list", { name: "Open confirmations" })
    .getByRole("listitem")
    .filter({ has: page.getByRole("button", { name: "Approve" }) });
  await expect.poll(() => questions.count()).toBe(2);
  await questions.filter({ hasText: "Go on?" }).getByRole("button", { name: "Approve" }).click();
  await expect.poll(() => questions.count()).toBe(1);
}

async function expectControl(where: Locator, name: string, role: Role, needs: Role): Promise<void> {
  const named = { name, exact: true };
  const control = where.getByRole("button", named).or(where.getByRole("menuitem", named)).first();
  const isAllowed = rankOf(role) >= rankOf(needs);
  await expect.poll(() => control.isEnabled(), { message: `${name} for ${role}` }).toBe(isAllowed);
  const title = await control.getAttribute("title");
  if (isAllowed) expect(title ?? "", name).not.toContain("needs the role");
  else expect(title, name).toBe(`needs the role ${needs}`);
}

function rankOf(role: Role): number {
  return RANKS.indexOf(role);
}
