/** A process of its own over this package: what it runs is bundled from the sources, packages of others stay outside. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<unknown>;
}

const HERE = fileURLToPath(new URL(".", import.meta.url));

/** Bundles a script, which may import this package, and answers its path. */
export async function bundleScript(script: string): Promise<string> {
  const root = createRequire(new URL("../../../../package.json", import.meta.url));
  const { build } = createRequire(root.resolve("tsup"))("esbuild") as Bundler;
  const cache = join(HERE, "../../node_modules/.cache"); // below the package, where the others are found
  mkdirSync(cache, { recursive: true });
  const outdir = mkdtempSync(join(cache, "child-"));
  onTestFinished(() => rmSync(outdir, { recursive: true, force: true }));
  await build({
    stdin: { contents: script, resolveDir: HERE, loader: "ts" },
    entryNames: "child",
    outdir,
    outExtension: { ".js": ".mjs" },
    splitting: true,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@millrace/source"],
    external: ["@ai-sdk/*", "@modelcontextprotocol/*"],
    logLevel: "silent",
  });
  return join(outdir, "child.mjs");
}
