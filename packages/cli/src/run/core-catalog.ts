/** Core's node types as data. The build puts the value in the place of this module, so that a check loads no engine. */

import type { CatalogEntry } from "@millrace/contracts";
import { createStandardRegistry } from "@millrace/server/registry";

/** Every core entry, sorted by type, then version. */
export function coreEntries(): readonly CatalogEntry[] {
  return createStandardRegistry().entries();
}
