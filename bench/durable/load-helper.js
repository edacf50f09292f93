/** Builds a helper of the tests, a source, where the packages that it imports are found. */
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsup";

/** What `@millrace/test-support/<name>` exports. */
export async function loadHelper(name) {
  const outDir = fileURLToPath(new URL(`node_modules/.cache/${name}/`, import.meta.url));
  const entry = { [name]: fileURLToPath(import.meta.resolve(`@millrace/test-support/${name}`)) };
  const options = { format: "esm", target: "node20", dts: false, clean: true, silent: true };
  await build({ config: false, entry, outDir, ...options, external: [/^@millrace\//] });
  return import(pathToFileURL(join(outDir, `${name}.js`)).href);
}
