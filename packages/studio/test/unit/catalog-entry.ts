/** Types of nodes for tests of texts. */
import type { CatalogEntry } from "@millrace/contracts";

/** A type with the fields `value` and `items`, which may be left out. */
export function catalogEntry(type: string, more: Partial<CatalogEntry> = {}): CatalogEntry {
  return {
    type,
    version: 1,
    kind: "control",
    title: type,
    summary: "",
    category: "data",
    tags: [],
    fields: { type: "object", properties: { value: {}, items: {} } },
    output: {},
    ports: [{ name: "out" }],
    body: false,
    effect: "pure",
    requires: { secrets: [], permissions: {} },
    defaults: {},
    examples: [],
    source: { package: "core" },
    state: "ready",
    ...more,
  };
}
