/** What a token may not do is switched off, with the reason; what it may do works. */
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { type Seeded, seed } from "./seed.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

const TOKENS = {
  admin: "admin-token-0123456789",
  run: "run-token-0123456789",
  read: "read-token-0123456789",
} as const;

/** One control of a screen, and the role that it needs. */
interface Control {
  readonly place: (seeded: Seeded) => string;
  readonly name: string;
  readonly needs: (typeof RANKS)[number];
}

const CONTROLS: readonly Control[] = [
  { place: () => "#/flows", name: "Import flow", needs: "admin" },
  { place: ({ paused }) => `#/runs/${paused}`, name: "Approve", needs: "run" },
  { place: ({ paused }) => `#/runs/${paused}`, name: "Cancel run", needs: "run" },
  {
    place: ({ succeeded }) => `#/runs/${succeeded}?node=say`,
    name: "Rerun from here",
    needs: "run",
  },
];

const RANKS = ["read", "run", "admin"] as const;

describeWith("chromium")("roles", () => {
  const studio = useStudio();

  test("a control is switched off, and says why, where the role of the token is too low", async () => {
    await using server = await startServer({
      tokens: RANKS.toReversed().map((role) => `${role}:${role}:${TOKENS[role]}`),
    });
    const seeded = await seed(server.client);
    for (const role of RANKS) {
      const page = await studio.open(server.url, { expected: [/status of 401/] });
      await page.getByLabel("Access token").fill(TOKENS[role]);
      await page.getByRole("button", { name: "Sign in" }).click();
      for (const { place, name, needs } of CONTROLS) {
        await page.goto(`${server.url}/studio${place(seeded)}`);
        const control = page.getByRole("button", { name, exact: true });
        await control.waitFor();
        const isAllowed = RANKS.indexOf(role) >= RANKS.indexOf(needs);
        await expect
          .poll(() => control.isEnabled(), { message: `${name} for ${role}` })
          .toBe(isAllowed);
        if (!isAllowed) expect(await control.getAttribute("title")).toBe(`needs the role ${needs}`);
      }
    }
  });
});
