/** Data for validation from outside of a graph. */
import type { CatalogEntry, FlowInput, FlowOutput } from "@millrace/contracts";
import { isObject, listOrNone, objectOrNone, own } from "../data.ts";

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
  /** Slugs of the services that are described; absent: what a connection names is not checked. */
  readonly services?: Iterable<string>;
  /** Hint where a connection names none of `services`; default: similar names are suggested. */
  readonly servicesHint?: string | undefined;
  /** Ids of the providers of models; absent: what an `ai` node names is not checked. */
  readonly providers?: Iterable<string>;
}

/** A catalog that is asked once for each thing, and whose answers have the shape that they ought to have. */
export class KnownCatalog {
  readonly #catalog: Partial<FlowCatalog>;
  readonly #entries = new Map<string, CatalogEntry | undefined>();
  readonly #newest = new Map<string, CatalogEntry | undefined>();
  readonly #flows = new Map<string, CatalogFlow | undefined>();
  #types: readonly string[] | undefined;
  #timeZones: ReadonlySet<string> | undefined;

  constructor(catalog: FlowCatalog) {
    this.#catalog = catalog ?? {};
  }

  /** Whether anything is known of other flows. */
  get hasFlows(): boolean {
    return typeof this.#catalog.flow === "function";
  }

  /** The entry of a type; of a version that is not there the newest. */
  entry = (type: string, version?: number): CatalogEntry | undefined =>
    (version === undefined ? undefined : this.exactly(type, version)) ?? this.exactly(type);

  /** The entry that is asked for by its version; without one the newest. */
  exactly(type: string, version?: number): CatalogEntry | undefined {
    const known = version === undefined ? this.#newest : this.#entries;
    const key = version === undefined ? type : `${version} ${type}`;
    return kept(known, key, () => readEntry(this.#catalog.entry?.(type, version)));
  }

  /** The names of all types. */
  get types(): readonly string[] {
    this.#types ??= textsOf(this.#catalog.types?.());
    return this.#types;
  }

  flow(slug: string): CatalogFlow | undefined {
    return kept(this.#flows, slug, () => readFlow(this.#catalog.flow?.(slug)));
  }

  /** Known time zones; undefined: zones are not checked. */
  get timeZones(): ReadonlySet<string> | undefined {
    const zones = this.#catalog.timeZones;
    if (zones !== undefined) this.#timeZones ??= new Set(textsOf(zones));
    return this.#timeZones;
  }

  /** Hint for an unknown service. */
  get servicesHint(): string | undefined {
    const hint = this.#catalog.servicesHint;
    return typeof hint === "string" ? hint : undefined;
  }

  /** Known services; undefined: connections are not checked. */
  get services(): readonly string[] | undefined {
    return this.#catalog.services && textsOf(this.#catalog.services);
  }

  /** Known providers of models; undefined: they are not checked. */
  get providers(): readonly string[] | undefined {
    return this.#catalog.providers && textsOf(this.#catalog.providers);
  }
}

function kept<T>(
  known: Map<string, T | undefined>,
  key: string,
  make: () => T | undefined,
): T | undefined {
  const found = known.get(key);
  if (found !== undefined || known.has(key)) return found;
  const made = make();
  known.set(key, made);
  return made;
}

/** The entry when it has the shape of one. */
function readEntry(answer: unknown): CatalogEntry | undefined {
  if (!isObject(answer)) return undefined;
  const isWhole =
    typeof own(answer, "type") === "string" &&
    Array.isArray(own(answer, "ports")) &&
    listOrNone(own(answer, "ports")).every((port) => typeof own(port, "name") === "string") &&
    Array.isArray(own(answer, "examples")) &&
    isObject(own(answer, "requires"));
  return isWhole ? (answer as unknown as CatalogEntry) : undefined;
}

function readFlow(answer: unknown): CatalogFlow | undefined {
  if (!isObject(answer)) return undefined;
  return {
    inputs: namedOf(own(answer, "inputs")),
    outputs: namedOf(own(answer, "outputs")),
    flows: textsOf(own(answer, "flows")),
  };
}

function namedOf<T extends FlowInput | FlowOutput>(list: unknown): readonly T[] {
  const named = listOrNone(list).map(objectOrNone) as unknown as T[];
  return named.filter(({ name }) => typeof name === "string");
}

function textsOf(list: unknown): readonly string[] {
  if (typeof list !== "object" || list === null || !(Symbol.iterator in list)) return [];
  return [...(list as Iterable<unknown>)].filter((it) => typeof it === "string");
}
