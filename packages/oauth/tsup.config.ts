import { defineConfig } from "tsup";

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  entry: [
    "src/index.ts",
    "src/store/memory.ts",
    "src/node/loopback/index.ts",
    "src/node/os-store/index.ts",
    "src/node/os-store/helper.js",
    "src/node/file-store/index.ts",
    "src/node/testing/index.ts",
  ],
  format: ["esm"],
  target: "node20",
  platform: "neutral",
  dts: false,
  sourcemap: true,
  clean: true,
  removeNodeProtocol: false,
  external: [/^node:/, "keytar", "@napi-rs/keyring", "libsql"],
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
