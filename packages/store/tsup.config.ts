import { defineConfig } from "tsup";

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  entry: ["src/index.ts", "src/testing/index.ts", "src/writer-thread.js"],
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
  external: [/^node:/, "keytar", "@napi-rs/keyring", "libsql"],
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
