/** The program of the README runs and says what its comments say. */
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { bundleProgram } from "@millrace/test-support/program";
import { expect, test } from "vitest";

test("the program of the README says what it says there", async () => {
  const text = await readFile(new URL("../README.md", import.meta.url), "utf8");
  const program = /```js\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  const path = await bundleProgram(program, import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, [path]);
  expect(stdout).toBe('openai anthropic google mock local\n"hello"\n" there"\n');
});
