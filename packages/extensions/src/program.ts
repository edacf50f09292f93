/** The program of a child, one file that holds all it needs. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILE = "extension-child.js";

/** Beside this module, where a program holds it in one bundle; else in this package. */
export function childProgram(): string {
  const beside = fileURLToPath(new URL(`./${FILE}`, import.meta.url));
  if (existsSync(beside)) return beside;
  const own = createRequire(import.meta.url).resolve("@millrace/extensions/package.json");
  return join(dirname(own), "dist", FILE);
}
