import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<{ readonly outputFiles: readonly { readonly text: string }[] }>;
}

/**
 * A module and everything it imports as one script without a module system, for a platform without Node's modules. The script
 * defines the global `guest` with the exports of the module. An import of a Node module fails here.
 */
export async function bundleGuest(module: URL): Promise<string> {
  const root = createRequire(new URL("../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as Bundler;
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(module)],
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    globalName: "guest",
    target: "es2022",
    conditions: ["@millrace/source"],
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}
