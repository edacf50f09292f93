/** Folders that go with their test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

export function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "millrace-server-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}
