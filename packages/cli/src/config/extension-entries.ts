/** The extensions that a flow is checked against: their catalogs, which are data, so they need no trust. None of their code runs. */

import type { CatalogEntry } from "@millrace/contracts";
import { readExtensions } from "@millrace/extensions";
import { usage } from "../errors.ts";
import { coreEntries } from "../run/core-catalog.ts";

/** Entries of the extensions of a project, failed ones too. Throws a usage error for a lock that cannot be read. */
export async function extensionEntries(
  project: string,
  list: readonly string[],
  watch: boolean,
): Promise<readonly CatalogEntry[]> {
  const types = coreEntries().map(({ type }) => type);
  const read = readExtensions({ project, list, watch, taken: { types } });
  const all = await read.catch((error: unknown) => {
    if (error instanceof TypeError) throw usage(error.message);
    throw error;
  });
  return all.flatMap(({ entries }) => entries);
}
