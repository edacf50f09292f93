import { defineConfig } from "tsup";

/** The program of a child process: one file, so that it may read nothing else of the host. */
export default defineConfig({
  entry: { "extension-child": "src/child/main.ts" },
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  removeNodeProtocol: false,
  noExternal: [/^@millrace\//],
  // Sources, not builds: what it does not use stays out.
  esbuildOptions(options) {
    options.conditions = ["@millrace/source"];
  },
  splitting: false,
  minify: true,
  clean: false,
  silent: true,
  treeshake: false,
  tsconfig: "tsconfig.build.json",
});
