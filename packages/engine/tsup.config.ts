import { defineConfig } from "tsup";

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  entry: ["src/index.ts", "src/node/index.ts", "src/pack.ts", "src/testing/index.ts"],
  format: ["esm"],
  target: "node20",
  platform: "neutral",
  dts: false,
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
  external: [/^node:/],
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
