/** What validation knows of the world outside a graph. */
import type { CatalogEntry, FlowInput, FlowOutput } from "@millrace/contracts";

/** A flow that others may call. */
export interface CatalogFlow {
  readonly inputs: readonly FlowInput[];
  readonly outputs: readonly FlowOutput[];
  /** Slugs of the flows that it calls. */
  readonly flows: readonly string[];
}

/** A view of catalog entries; validation runs no code of extensions. */
export interface FlowCatalog {
  /** The entry of a type; without `version` the newest. */
  entry(type: string, version?: number): CatalogEntry | undefined;
  types(): Iterable<string>;
  /** A stored flow; absent: calls of other flows are not checked. */
  flow?(slug: string): CatalogFlow | undefined;
  /** Known IANA time zones; absent: zones are not checked. */
  readonly timeZones?: Iterable<string>;
}
