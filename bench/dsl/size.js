// Bytes of JavaScript that an application gets when it imports these names: built package and what it uses of contracts,
// bundled and minified by esbuild (the one that tsup brings), then gzip of level 9.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const IMPORTS = {
  "the whole package": "export * from '@millrace/dsl'",
  "parse, print": "export { parseFlow, printFlow } from '@millrace/dsl'",
  expressions: "export { compileExpression, compileValue, parseExpression } from '@millrace/dsl'",
  validate: "export { validateFlow } from '@millrace/dsl'",
};

/** Name, minified bytes and gzipped bytes of each import. */
export function sizeRows() {
  const tsup = createRequire(createRequire(import.meta.url).resolve("tsup"));
  const { buildSync } = tsup("esbuild");
  return Object.entries(IMPORTS).map(([name, contents]) => {
    const { outputFiles } = buildSync({
      stdin: { contents, resolveDir: fileURLToPath(new URL(".", import.meta.url)) },
      bundle: true,
      minify: true,
      write: false,
      format: "esm",
      platform: "neutral",
      target: "node20",
      legalComments: "none",
    });
    const [{ contents: bytes }] = outputFiles;
    return { name, minified: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
  });
}
