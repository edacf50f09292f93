import { defineProject } from "vitest/config";
import { source } from "../../vitest.source.ts";

export default defineProject({
  ...source,
  test: {
    name: "test-support",
    include: ["test/**/*.test.ts"],
    setupFiles: ["../../vitest.setup.ts"],
  },
});
