import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** A folder of this test alone, removed with it. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "millrace-stores-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
