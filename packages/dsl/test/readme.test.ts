import { readFileSync } from "node:fs";
import * as dsl from "@millrace/dsl";
import * as editor from "@millrace/dsl/editor";
import * as explain from "@millrace/dsl/explain";
import { expect, test } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

test("the program of the README prints what its comments say", () => {
  const program = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const printed: string[] = [];
  const body = program.replace(/^import (\{.*\}) from "@millrace\/dsl";$/m, "const $1 = dsl;");
  new Function("dsl", "console", body)(dsl, {
    log: (...values: unknown[]) => printed.push(values.join(" ")),
  });
  expect(printed).toEqual([
    "true 0 world",
    "true",
    "flow 1 x # old\n\nnode a: log\n",
    "not a number: 01",
    "42",
  ]);
});

test("the README names exports that there are", () => {
  const section = /## Exports\n([\s\S]*?)## Limits/.exec(readme)?.[1] ?? "";
  const values = [
    ...section.matchAll(/`([a-z]\w+|DIAGNOSTICS|EXPLANATIONS|DslError|ExpressionError)`/g),
  ];
  for (const [, name] of values)
    expect(Object.keys({ ...dsl, ...editor, ...explain })).toContain(name);
  expect(values.length).toBeGreaterThan(20);
});
