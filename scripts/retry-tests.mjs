// Runs each test file that failed in `npm test` once more, with nothing beside it: a test that waits for processes and browsers can
// fail on a busy machine for want of time. The closing lines name each test that passed only now, so that it is mended.
// Fails when a test fails again; when more files failed than a busy machine explains; when a package has no report, so that
// nobody knows what failed in it.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { RETRIES, readReport, reportFiles } from "./closing-line.mjs";
import { packageFolders } from "./package-folders.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
/** Files that run again. More than these have failed for another reason than a busy machine. */
const MOST_FILES = 6;

/** The folders whose tests are tasks of their own. */
function testFolders() {
  const packages = packageFolders(root);
  return ["test", ...packages].filter((folder) =>
    existsSync(join(root, folder, "vitest.config.ts")),
  );
}

const failed = new Map();
const silent = new Set(testFolders());
for (const report of reportFiles("tests")) {
  const folder = relative(root, join(dirname(report), ".."));
  silent.delete(folder);
  const files = readReport(report).testResults.filter(({ status }) => status === "failed");
  if (files.length > 0)
    failed.set(
      folder,
      files.map(({ name }) => name),
    );
}
const count = [...failed.values()].flat().length;
if (silent.size > 0) {
  process.stdout.write(`no report of the tests in ${[...silent].join(", ")}: nothing runs again\n`);
  process.exit(1);
}
if (count === 0 || count > MOST_FILES) {
  process.stdout.write(`${count} test files failed: none runs again (1 to ${MOST_FILES} do)\n`);
  process.exit(1);
}
for (const [folder, files] of failed) {
  const cwd = join(root, folder);
  process.stdout.write(`\n${files.length} failed test file(s) of ${folder}, once more and alone\n`);
  const { status } = spawnSync(
    process.execPath,
    [
      ...[join(root, "node_modules/vitest/vitest.mjs"), "run", "--no-file-parallelism"],
      ...files.map((file) => relative(cwd, file)),
    ],
    { cwd, env: { ...process.env, MILLRACE_REPORT: RETRIES }, stdio: "inherit" },
  );
  if (status !== 0) process.exitCode = 1;
}
