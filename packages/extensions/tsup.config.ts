import { build, defineConfig, type Options } from "tsup";

const common: Options = {
  format: ["esm"],
  target: "node20",
  platform: "node",
  dts: false,
  removeNodeProtocol: false,
  treeshake: false,
  tsconfig: "tsconfig.build.json",
};

/** The program of a child process: one file, so that it may read nothing else of the host. */
const child: Options = {
  ...common,
  entry: { "extension-child": "src/child/main.ts" },
  noExternal: [/^@millrace\//],
  // Sources, not builds: what it does not use stays out.
  esbuildOptions(options) {
    options.conditions = ["@millrace/source"];
  },
  splitting: false,
  minify: true,
  clean: false,
  silent: true,
};

// JavaScript only: declarations come from tsc, which is faster than tsup's own pass.
export default defineConfig({
  ...common,
  entry: ["src/index.ts"],
  sourcemap: true,
  clean: true,
  async onSuccess() {
    await build({ ...child, config: false });
  },
});
