/** Folders of tests. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, onTestFinished } from "vitest";

/** A new folder, which is removed with its test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "millrace-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A new folder, which is removed when all tests of the file, or of the group, that asks for it have ended. */
export function sharedFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "millrace-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
