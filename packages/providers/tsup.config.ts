import { defineConfig } from "tsup";

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  entry: ["src/index.ts", "src/mcp/index.ts"],
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  sourcemap: true,
  clean: true,
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
