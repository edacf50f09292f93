import { defineConfig } from "tsup";

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  entry: [
    "src/index.ts",
    "src/client/index.ts",
    "src/commands/index.ts",
    "src/json.ts",
    "src/options.ts",
    "src/extend/check.ts",
    "src/extend/service-arguments.ts",
    "src/extend/web-fetch.ts",
    "src/schemas/index.ts",
    "src/testing/index.ts",
    "src/transport/index.ts",
    "src/transport/electron.ts",
    "src/transport/http.ts",
    "src/transport/port.ts",
    "src/transport/tauri.ts",
  ],
  format: ["esm"],
  target: "node20",
  platform: "neutral",
  dts: false,
  sourcemap: true,
  clean: true,
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
