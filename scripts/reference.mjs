// Writes the pages of the reference from the code: docs/cli.md, docs/reference/*.md, llms.txt of docs and command,
// packages/cli/schema.json.
// Usage: node scripts/reference.mjs. The tests fail when a page is not what this writes.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const vitest = fileURLToPath(new URL("../node_modules/vitest/vitest.mjs", import.meta.url));
const tests = [
  "packages/cli/test/reference.test.ts",
  "packages/dsl/test/diagnostics/table.test.ts",
  "packages/server/test/reference.test.ts",
];
const { status } = spawnSync(process.execPath, [vitest, "run", ...tests, "--update"], {
  cwd: root,
  stdio: "inherit",
});
process.exitCode = status ?? 1;
