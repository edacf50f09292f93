import { defineProject } from "vitest/config";
import { source } from "../../vitest.source.ts";

// A real Secret Service: scripts/with-secret-service.sh starts one.
export default defineProject({
  ...source,
  test: {
    name: "oauth-os-store",
    include: ["test/stores/secret-service/*.test.ts"],
    setupFiles: ["../../vitest.setup.ts"],
    globalSetup: ["test/stores/secret-service/setup.ts"],
    // One keyring and one bus: what one file locks or writes another would see.
    fileParallelism: false,
  },
});
