/** Texts that are like a mistake and are none: `fine.txt` has the code that is not found, why, and the text. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { codes } from "./check.ts";

const FINE = readFileSync(new URL("fine.txt", import.meta.url), "utf8")
  .split(/^=== /m)
  .slice(1)
  .map((part) => /^(FLOW\d+) (.*)\n([\s\S]*)$/.exec(part)?.slice(1) as [string, string, string]);

test.each(FINE)("no %s: %s", (code, _why, text) => {
  expect(codes(text)).not.toContain(code);
});
