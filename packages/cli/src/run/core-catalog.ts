/** Core's node types as data. The build puts the values in the place of this module, so that a check loads no engine. */

import type { CatalogEntry } from "@millrace/contracts";
import { createStandardRegistry } from "@millrace/server/registry";

/** Every core entry, sorted by type, then version. */
export function coreEntries(): readonly CatalogEntry[] {
  return createStandardRegistry().entries();
}

/** Core's types that check fields of a node with code of their own. */
export function checkedTypes(): ReadonlySet<string> {
  const registry = createStandardRegistry();
  const own = registry.entries().filter(({ type, version }) => registry.get(type, version)?.check);
  return new Set(own.map(({ type }) => type));
}
