/** Where the packages of this repository are: those of the house in `packages`, its own extensions in `extensions`. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

/**
 * The folder of each, relative to the root: `packages/dsl`, `extensions/sql`.
 * @param {string} root
 * @returns {string[]}
 */
export function packageFolders(root) {
  return ["packages", "extensions"].flatMap((kind) =>
    (existsSync(join(root, kind)) ? readdirSync(join(root, kind)) : [])
      .filter((name) => existsSync(join(root, kind, name, "package.json")))
      .map((name) => `${kind}/${name}`),
  );
}
