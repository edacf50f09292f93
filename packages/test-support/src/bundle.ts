import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<{ readonly outputFiles: readonly { readonly text: string }[] }>;
}

/**
 * A module and everything it imports as one script without a module system, for a platform without Node's modules. The script
 * defines the global `guest` with the exports of the module. An import of a Node module fails here.
 */
export async function bundleGuest(module: URL): Promise<string> {
  return bundle({
    entryPoints: [fileURLToPath(module)],
    platform: "browser",
    format: "iife",
    globalName: "guest",
  });
}

/**
 * What a program pays for its imports: the bytes of them and of all that they import, minified and compressed by gzip.
 * `code` imports packages as a file beside `from` does: `export { createClient } from "@millrace/client"`. `external`: packages that
 * are not counted.
 */
export async function gzipBytes(
  code: string,
  from: string,
  external: readonly string[] = [],
): Promise<number> {
  const stdin = { contents: code, resolveDir: fileURLToPath(new URL(".", from)) };
  const options = { format: "esm", platform: "neutral", minify: true, external };
  return gzipSync(await bundle({ stdin, ...options })).byteLength;
}

async function bundle(options: object): Promise<string> {
  const root = createRequire(new URL("../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as Bundler;
  const { outputFiles } = await build({
    bundle: true,
    write: false,
    target: "es2022",
    conditions: ["@millrace/source"],
    logLevel: "silent",
    ...options,
  });
  return outputFiles[0]?.text ?? "";
}
