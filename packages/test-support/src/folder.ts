/** Folders of tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A new folder, which is removed with its test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "millrace-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
