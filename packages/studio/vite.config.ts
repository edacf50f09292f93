/**
 * How the page is built. Addresses in it are relative, so that it works below any path: the document is `studio`, and its files are in
 * `studio/assets` beside it.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import { licencesOf } from "../../scripts/licences.mjs";

const { version } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};
const outDir = fileURLToPath(new URL("dist/page", import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL("src/page", import.meta.url)),
  base: "./",
  define: { PAGE_VERSION: JSON.stringify(version) },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir,
    emptyOutDir: true,
    assetsDir: "studio/assets",
    assetsInlineLimit: 0, // the page's policy forbids data: addresses
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  worker: { format: "es", plugins: () => [noticed()] },
  plugins: [layered(), noticed(), compressed()],
});

/** The order of the layers, as `tokens.css` says it. */
const LAYERS = "@layer tokens,base,parts,screens;";

/**
 * Begins each style sheet with the order of the layers: whichever of them is loaded first makes it, and what makes them small drops it
 * where it stands beside its layers.
 */
function layered(): Plugin {
  return {
    name: "layered",
    apply: "build",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === "asset" && file.fileName.endsWith(".css")) {
            file.source = `${LAYERS}${file.source}`;
          }
        }
      },
    },
  };
}

const bundled = new Set<string>();

/** Writes the licences of the packages in the page and in its worker beside them. */
function noticed(): Plugin {
  return {
    name: "noticed",
    apply: "build",
    generateBundle(_, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type === "chunk") for (const file of chunk.moduleIds) bundled.add(file);
      }
    },
    closeBundle: () => writeFileSync(join(outDir, "../licenses.txt"), licencesOf(bundled)),
  };
}

/** Writes each file also as Brotli and gzip, so that no server compresses them again for each reader. */
function compressed(): Plugin {
  return {
    name: "compressed",
    apply: "build",
    closeBundle() {
      for (const entry of readdirSync(outDir, { recursive: true, withFileTypes: true })) {
        if (!entry.isFile() || /\.(br|gz)$/.test(entry.name)) continue;
        const file = join(entry.parentPath, entry.name);
        const body = readFileSync(file);
        writeFileSync(`${file}.br`, brotliCompressSync(body));
        writeFileSync(`${file}.gz`, gzipSync(body, { level: 9 }));
      }
    },
  };
}
