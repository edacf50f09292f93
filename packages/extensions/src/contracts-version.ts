/** The version of `@millrace/contracts` in this host. A program that holds it in one bundle puts the value in the place of this module. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** Against this the range of an extension's peer dependency is checked. */
export function contractsVersion(): string {
  const file = createRequire(import.meta.url).resolve("@millrace/contracts/package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version: string }).version;
}
