import { project } from "../../vitest.source.ts";

export default project("oauth-os-store", {
  include: ["test/stores/secret-service/*.test.ts"],
  globalSetup: ["test/stores/secret-service/setup.ts"],
  // One keyring and one bus: what one file locks or writes another would see.
  fileParallelism: false,
  sequence: { groupOrder: 1 },
});
