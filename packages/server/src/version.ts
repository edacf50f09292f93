import { readFileSync } from "node:fs";

let version: string | undefined;

/** The version of this package. `package.json` lies beside `src`, as beside `dist`, and beside the folder of a bundle. */
export function packageVersion(): string {
  if (version === undefined) {
    const text = readFileSync(new URL("../package.json", import.meta.url), "utf8");
    version = (JSON.parse(text) as { readonly version: string }).version;
  }
  return version;
}
