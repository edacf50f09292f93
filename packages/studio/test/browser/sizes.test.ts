/** What is loaded for a screen, as gzip. A ceiling is raised only by a visible line here. */

import { studioAssets } from "@millrace/studio";
import { describeWith } from "@millrace/test-support";
import { expect, test } from "vitest";
import { type Seeded, seed } from "./seed.ts";
import { startServer } from "./server.ts";
import { useStudio } from "./studio.ts";

interface Ceiling {
  readonly what: string;
  readonly place: (seeded: Seeded) => string;
  /** Text that is there when all of it is loaded. */
  readonly ready: string;
  readonly bytes: number;
}

const CEILINGS: readonly Ceiling[] = [
  {
    what: "the list of flows",
    place: () => "#/flows",
    ready: "site-watch",
    bytes: 35_000, // 300 B for what becomes of lost requests, style sheets and late refusals; 700 B for the focus that stays in the page
  },
  {
    what: "a run",
    place: ({ succeeded }) => `#/runs/${succeeded}`,
    ready: "Outputs",
    bytes: 116_000, // with what the worker asks for, when it is faster than the page
  },
  {
    what: "a flow with its editor",
    place: () => "#/flows/hello",
    ready: "No problems.",
    bytes: 380_000,
  },
];

describeWith("chromium")("the bytes of a first load", () => {
  const studio = useStudio();

  for (const { what, place, ready, bytes } of CEILINGS) {
    test(`${what} stays below its ceiling`, async () => {
      await using server = await startServer();
      const seeded = await seed(server.client);
      const page = await studio.open(server.url);
      const loaded = new Set<string>(["/studio"]);
      page.on("request", (request) => loaded.add(new URL(request.url()).pathname));
      await page.goto(`${server.url}/studio${place(seeded)}`);
      await page.reload();
      await page.getByText(ready, { exact: true }).first().waitFor();
      const assets = await studioAssets();
      const sizes = [...loaded].flatMap((path) => assets.get(path)?.gzip.byteLength ?? []);
      const sum = sizes.reduce((total, size) => total + size, 0);
      expect(sum).toBeGreaterThan(15_000);
      expect(sum).toBeLessThanOrEqual(bytes);
    });
  }
});
