/** Stores of tests. */
import { type OpenStoreOptions, openStore, type Store } from "@millrace/store";
import { temporaryFolder } from "@millrace/test-support/folder";
import { onTestFinished } from "vitest";

/** A store that is closed, and whose folder is gone, after the test. */
export async function newStore(options: Partial<OpenStoreOptions> = {}): Promise<Store> {
  const dir = options.dir ?? temporaryFolder();
  const store = await openStore({ ...options, dir });
  onTestFinished(() => store.close());
  return store;
}
