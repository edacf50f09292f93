import { project } from "../../vitest.source.ts";

export default project("oauth", {
  // A project of their own: vitest.os-store.config.ts.
  exclude: ["test/stores/secret-service/**"],
});
