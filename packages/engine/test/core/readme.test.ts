import { readFileSync } from "node:fs";
import * as dsl from "@millrace/dsl";
import * as engine from "@millrace/engine";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

test("the program of the README runs and prints what it promises", async () => {
  const program = /```js\n(?<code>[^`]*(?:`[^`]+`[^`]*)*?)```/.exec(readme)?.groups?.["code"] ?? "";
  const body = program.replace(/^import \{(.*)\} from "(.*)";$/gm, (_, names, from) => {
    return `const {${names}} = modules["${from}"];`;
  });
  const printed: unknown[][] = [];
  const make = Object.getPrototypeOf(async () => undefined).constructor;
  const run = new make("modules", "console", body) as (
    modules: object,
    console: object,
  ) => Promise<void>;
  await run(
    { "@millrace/dsl": dsl, "@millrace/engine": engine },
    { log: (...line: unknown[]) => printed.push(line) },
  );
  expect(printed).toEqual([[1, "run.started"], [2, "summary"], ["Hello, world"]]);
});

test("the README is short enough to be read, and names only what is exported", () => {
  expect(readme.split("\n").length).toBeLessThanOrEqual(81);
  const functions =
    /\| `@millrace\/engine` +\| (?<names>[^;]*);/.exec(readme)?.groups?.["names"] ?? "";
  const names = [...functions.matchAll(/`(?<name>\w+)`/g)].map(
    (match) => match.groups?.["name"] ?? "",
  );
  expect(names.length).toBeGreaterThan(5);
  for (const name of names) expect(engine).toHaveProperty(name);
});
