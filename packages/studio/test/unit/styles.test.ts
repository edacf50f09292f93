/** The styles of screens share one layer and are loaded in the order of visits, so no two screens may style one class. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const SCREENS = fileURLToPath(new URL("../../src/page/screens/", import.meta.url));

test("no class is styled by two screens", () => {
  const owners = new Map<string, Set<string>>();
  const files = readdirSync(SCREENS, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => name.endsWith(".css"))) {
    for (const [, name = ""] of readFileSync(SCREENS + file, "utf8").matchAll(
      /^ {2,4}\.([\w-]+)/gm,
    )) {
      owners.set(name, (owners.get(name) ?? new Set()).add(dirname(file)));
    }
  }
  expect(owners.size).toBeGreaterThan(50);
  const shared = [...owners].filter(([, screens]) => screens.size > 1);
  expect(shared.map(([name, screens]) => `${name}: ${[...screens].join(", ")}`)).toEqual([]);
});
