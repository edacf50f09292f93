/** The version of this package. */
import { readFileSync } from "node:fs";

let version: string | undefined;

/** Reads it once; `package.json` lies beside `src` as it lies beside `dist`. */
export function packageVersion(): string {
  if (version === undefined) {
    const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
    version = (JSON.parse(text) as { readonly version: string }).version;
  }
  return version;
}
