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
 * The tests of one package, the files `*.test.ts` below its `test`. They try what is built, their own package like its neighbours:
 * `turbo run test` builds these first, and Node loads and runs modules in three quarters of the time that vitest takes for
 * sources. A test that replaces a module, or needs it anew, names its source by URL. `isBundled`: what is built has no file for
 * each source, so that a source which a test names is read as it is. `config` is the URL of the package's `vitest.config.ts`.
 *
 * Packages run side by side, each in one worker, which loads the modules once. A package whose tests are long because they wait
 * for processes and sockets takes more `workers`, so that it is not the last one running.
 */
export function project(config: string, { workers = 1, isBundled = false } = {}): ViteUserConfig {
  const built = fileURLToPath(new URL("dist/", config));
  const sources = { find: /^(?:\.\.\/)+src\/(.+)\.ts$/, replacement: `${built}$1.js` };
  return defineConfig({
    resolve: { alias: isBundled ? [] : [sources] },
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
