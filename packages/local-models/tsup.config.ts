import { defineConfig } from "tsup";

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  // The runner is a program of its own beside the library, from which it is started by its path.
  entry: { index: "src/index.ts", runner: "src/runner/runner.js" },
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
  external: [/^node:/, "node-llama-cpp"],
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
