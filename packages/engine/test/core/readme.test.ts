import { readFileSync } from "node:fs";
import * as engine from "@millrace/engine";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../../README.md", import.meta.url), "utf8");

/** What a program prints; its imports are those of the packages here. */
async function printedBy(program: string): Promise<unknown[][]> {
  const body = program.replace(/^import \{(.*)\} from "(.*)";$/gm, (_, names, from) => {
    return `const {${names}} = modules["${from}"];`;
  });
  const printed: unknown[][] = [];
  const make = Object.getPrototypeOf(async () => undefined).constructor;
  const run = new make("modules", "console", body) as (
    modules: object,
    console: object,
  ) => Promise<void>;
  await run({ "@millrace/engine": engine }, { log: (...line: unknown[]) => printed.push(line) });
  return printed;
}

test("the program of the README runs and prints what it promises", async () => {
  const program = /```js\n(?<code>[^`]*(?:`[^`]+`[^`]*)*?)```/.exec(readme)?.groups?.["code"] ?? "";
  const expected = [[1, "run.started"], [2, "summary"], ["Hello, world"]];
  expect(await printedBy(program)).toEqual(expected);
});

test("the example of `runFlow` runs and prints what it promises", async () => {
  const source = readFileSync(new URL("../../src/run-flow.ts", import.meta.url), "utf8");
  const example = /@example\n(?<lines>(?: \* ?.*\n)*?) \*\//.exec(source)?.groups?.["lines"] ?? "";
  const program = example.replace(/^ \* ?/gm, "");
  expect(await printedBy(program)).toEqual([["run.started"], ["summary"], [{ b: 3 }]]);
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
