import { defineProject } from "vitest/config";
import { source } from "../../vitest.source.ts";

export default defineProject({
  ...source,
  test: {
    name: "oauth",
    include: ["test/**/*.test.ts"],
    // A project of their own: vitest.os-store.config.ts.
    exclude: ["test/stores/secret-service/**"],
    setupFiles: ["../../vitest.setup.ts"],
  },
});
