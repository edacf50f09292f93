/** The decisions of docs/decisions. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const FOLDER = new URL("../docs/decisions/", import.meta.url);
const FILES = readdirSync(FOLDER).filter((name) => name !== "README.md");

test("each has a number of its own, which its title begins with", () => {
  const numbers = FILES.map((name) => name.slice(0, 4)).sort();
  expect(numbers).toEqual([...new Set(numbers)]);
  for (const name of FILES) {
    expect(readFileSync(new URL(name, FOLDER), "utf8")).toMatch(`# ${name.slice(0, 4)}: `);
  }
});
