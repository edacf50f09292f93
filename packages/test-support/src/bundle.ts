import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<{
    readonly outputFiles: readonly { readonly text: string }[];
    readonly metafile: { readonly outputs: { readonly [path: string]: Output } };
  }>;
}

interface Output {
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
}

/**
 * A module and everything it imports as one script without a module system, for a platform without Node's modules. The script
 * defines the global `guest` with the exports of the module. An import of a Node module fails here.
 */
export async function bundleGuest(module: URL): Promise<string> {
  const { outputFiles } = await bundle({
    entryPoints: [fileURLToPath(module)],
    platform: "browser",
    format: "iife",
    globalName: "guest",
  });
  return outputFiles[0]?.text ?? "";
}

/**
 * What a program pays for its imports: the bytes of them and of all that they import, minified and compressed by gzip, without
 * what is loaded when it is first called.
 * `code` imports packages as a file beside `from` does: `export { createClient } from "@millrace/client"`. `external`: packages that
 * are not counted.
 */
export async function gzipBytes(
  code: string,
  from: string,
  external: readonly string[] = [],
): Promise<number> {
  const stdin = { contents: code, resolveDir: fileURLToPath(new URL(".", from)) };
  const pieces = { splitting: true, outdir: "/", metafile: true };
  const options = { format: "esm", platform: "neutral", minify: true, external, ...pieces };
  const { outputFiles, metafile } = await bundle({ stdin, ...options });
  const paths = Object.keys(metafile.outputs); // in the order of the files
  const loaded = new Set(paths.slice(0, 1));
  for (const path of loaded) {
    for (const { path: next, kind } of metafile.outputs[path]?.imports ?? []) {
      if (kind === "import-statement" && paths.includes(next)) loaded.add(next);
    }
  }
  const texts = outputFiles.filter((_, at) => loaded.has(paths[at] as string));
  return gzipSync(texts.map(({ text }) => text).join("\n")).byteLength;
}

function bundle(options: object): ReturnType<Bundler["build"]> {
  const root = createRequire(new URL("../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as Bundler;
  return build({
    bundle: true,
    write: false,
    target: "es2022",
    conditions: ["@millrace/source"],
    logLevel: "silent",
    ...options,
  });
}
