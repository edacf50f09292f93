/** Folders that go away with the test. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type OpenStoreOptions, openStore, type Store } from "@millrace/store";
import { onTestFinished } from "vitest";

export function newFolder(): string {
  const dir = mkdtempSync(join(tmpdir(), "millrace-store-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A store that is closed, and whose folder is gone, after the test. */
export async function newStore(options: Partial<OpenStoreOptions> = {}): Promise<Store> {
  const dir = options.dir ?? newFolder();
  const store = await openStore({ ...options, dir });
  onTestFinished(() => store.close());
  return store;
}
