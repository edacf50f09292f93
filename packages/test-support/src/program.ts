/** Programs of tests: a script that runs in a process of its own, bundled from the sources. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

interface Import {
  readonly path: string;
  readonly kind: string;
  readonly resolveDir: string;
  readonly pluginData?: unknown;
}

/** The part of esbuild that is used here; the package is the one that tsup brings. */
interface Bundler {
  build(options: object): Promise<unknown>;
}
interface Build {
  onResolve(
    filter: { readonly filter: RegExp },
    resolve: (args: Import) => Promise<object | undefined>,
  ): void;
  resolve(path: string, options: object): Promise<{ readonly path: string }>;
}

/** Packages of others stay where they are: only what is ours is bundled. */
const OTHERS = {
  name: "others",
  setup(build: Build): void {
    build.onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === OTHERS || path.startsWith("@millrace/") || path.startsWith("node:")) {
        return undefined;
      }
      const found = await build.resolve(path, { kind, resolveDir, pluginData: OTHERS });
      return { path: found.path, external: true };
    });
  },
};

/** Programs stand below it, so that a bundled store finds its driver. */
const STORE = fileURLToPath(new URL("../../store/", import.meta.url));

let root: string | undefined;

/**
 * Bundles a script, whose imports are found from the folder of `from`, a URL of a file; answers the path of the program, which is
 * there until this process ends. A store that the program opens has its writer.
 */
export async function bundleProgram(script: string, from: string): Promise<string> {
  if (root === undefined) {
    const cache = join(STORE, "node_modules/.cache");
    mkdirSync(cache, { recursive: true });
    root = mkdtempSync(join(cache, "programs-"));
    process.once("exit", () => rmSync(root as string, { recursive: true, force: true }));
  }
  const folder = mkdtempSync(join(root, "program-"));
  writeFileSync(join(folder, "package.json"), '{ "version": "0.0.0", "type": "module" }');
  const repository = createRequire(new URL("../../../package.json", import.meta.url));
  const { build } = createRequire(repository.resolve("tsup"))("esbuild") as Bundler;
  await build({
    stdin: { contents: script, resolveDir: dirname(fileURLToPath(from)), loader: "ts" },
    entryPoints: [join(STORE, "src/writer/writer-thread.js")], // a bundled store starts it
    outdir: join(folder, "src"),
    entryNames: "[name]",
    splitting: true, // each module runs in its turn, as it would unbundled
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    conditions: ["@millrace/source"],
    plugins: [OTHERS],
    logLevel: "silent",
  });
  return join(folder, "src/stdin.js");
}
