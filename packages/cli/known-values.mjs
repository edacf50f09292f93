// Modules whose value is known when a program is bundled.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createStandardRegistry } from "@millrace/server/registry";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** The catalog of core without the engine behind it, a folder beside the code, a version. */
const KNOWN = {
  "src/run/core-catalog.ts": () => {
    const registry = createStandardRegistry();
    const entries = registry.entries();
    const checked = entries.filter(({ type, version }) => registry.get(type, version).check);
    const types = JSON.stringify(checked.map(({ type }) => type));
    return `const text = ${JSON.stringify(JSON.stringify(entries))};
export const coreEntries = () => JSON.parse(text);
export const checkedTypes = () => new Set(${types});`;
  },
  "src/scaffold/folder.ts": () =>
    'export const EXAMPLES = new URL("./templates/", import.meta.url);',
  "../extensions/src/contracts-version.ts": () => {
    const { version } = JSON.parse(readFileSync(here("../contracts/package.json"), "utf8"));
    return `export const contractsVersion = () => ${JSON.stringify(version)};`;
  },
};
const known = new Map(Object.entries(KNOWN).map(([path, code]) => [here(path), code]));

/** Writes those values where a bundle would have the modules. */
export const knownValues = {
  name: "known-values",
  load: (path) => (known.has(path) ? { code: known.get(path)(), moduleType: "js" } : undefined),
};
