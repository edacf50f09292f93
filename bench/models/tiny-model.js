// The tiny model of the package's tests, whose generator is TypeScript.
import { createRequire } from "node:module";

const { resolve } = createRequire(new URL("../../package.json", import.meta.url));
const { buildSync } = createRequire(resolve("tsup"))("esbuild");
const entry = new URL("../../packages/test-support/src/gguf/tiny-gguf.ts", import.meta.url)
  .pathname;
const bundled = buildSync({
  entryPoints: [entry],
  bundle: true,
  format: "esm",
  platform: "node",
  write: false,
});
const code = Buffer.from(bundled.outputFiles[0].contents).toString("base64");

/** `tinyGguf(options)`: the bytes of a file. */
export const { tinyGguf } = await import(`data:text/javascript;base64,${code}`);
