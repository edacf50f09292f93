/** The example of this extension, as its README says it: added to a project, run in a process of its own. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";

const at = (path: string) => fileURLToPath(new URL(`../../../${path}`, import.meta.url));

test("18-score-leads makes the events that are kept beside it", { timeout: 60_000 }, () => {
  const cwd = mkdtempSync(join(tmpdir(), "score-leads-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  for (const part of ["flows", "fixtures"]) {
    cpSync(at(`examples/18-score-leads/${part}`), join(cwd, part), { recursive: true });
  }
  const millrace = (...words: string[]) =>
    spawnSync(process.execPath, [at("packages/cli/bin/millrace.js"), ...words], {
      cwd,
      encoding: "utf8",
      env: { ...process.env, HOME: cwd, MILLRACE_TRUST_PROJECT: "1" },
    });
  const added = millrace("ext", "add", at("extensions/code"), "--yes");
  expect(added.status, added.stderr).toBe(0);
  const { status, stdout, stderr } = millrace("test", "flows");
  expect(status, stdout + stderr).toBe(0);
});
