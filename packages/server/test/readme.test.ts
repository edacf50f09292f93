/** The program of the README is the program that runs here. */
import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";

test("the README's program runs a flow without a port", async () => {
  const readme = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const program = await readFile(new URL("support/embedded.ts", import.meta.url), "utf8");
  expect(/```ts\n([\s\S]*?)```/.exec(readme)?.[1]).toBe(program);
  const { frames } = await import("./support/embedded.ts");
  expect(frames).toMatch(/^data: \{"v":1,"kind":"run\.started"/);
  expect(frames).toMatch(/"kind":"summary".*"status":"succeeded".*\n\n$/);
});
