import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const setup = fileURLToPath(new URL("vitest.setup.ts", import.meta.url));
const report = fileURLToPath(new URL("scripts/json-report.mjs", import.meta.url));

/** What every run of tests has: test files share a process, so that sources are loaded once; a test that needs its own starts one. */
export const shared: ViteUserConfig["test"] = {
  setupFiles: [setup],
  isolate: false,
  reporters: ["default", report],
  // A state that does not come is a failure, however long a busy machine takes for it.
  expect: { poll: { timeout: 60_000 } },
  onConsoleLog: (log) => {
    throw new Error(`a test wrote to the console: ${log}`);
  },
};

/**
 * The tests of one package, the files `*.test.ts` below its `test`. They read the sources of their package, and its neighbours as
 * they are built: `turbo run test` builds these first. `config` is the URL of the package's `vitest.config.ts`.
 *
 * Packages run side by side, each in one worker, which loads the sources once. A package whose tests are long because they wait
 * for processes and sockets takes more `workers`, so that it is not the last one running.
 */
export function project(config: string, { workers = 1 } = {}): ViteUserConfig {
  return defineConfig({
    resolve: { alias: sourcesOf(new URL("package.json", config)) },
    test: {
      ...shared,
      maxWorkers: workers,
      include: ["test/**/*.test.ts"],
      // `npm test -- NAME` asks every package for its files of that name.
      passWithNoTests: true,
      server: { deps: { external: [/\/(?:packages|extensions)\/[^/]+\/dist\//] } },
    },
  });
}

/** The package's public names with the source file of each. */
function sourcesOf(manifest: URL) {
  const { name, exports = {} } = JSON.parse(readFileSync(manifest, "utf8"));
  return Object.entries<Record<string, string> | string>(exports).flatMap(([entry, target]) => {
    const source = typeof target === "string" ? target : target["@millrace/source"];
    if (source === undefined) return [];
    const find = new RegExp(`^${name}${entry.slice(1)}$`);
    return [{ find, replacement: fileURLToPath(new URL(source, manifest)) }];
  });
}
