/** What the phases of one validation share. */
import type { CatalogEntry, FlowGraph } from "@millrace/contracts";
import { type GraphModel, modelOf, type NodeModel } from "../model/bodies.ts";
import { type Site, sitesOf } from "../model/sites.ts";
import { nearestName } from "../nearest.ts";
import { quoteForMessage } from "../text/chars.ts";
import type { FlowCatalog } from "./catalog.ts";
import { Findings } from "./findings.ts";
import type { Places } from "./places.ts";

/** Names that one validation looks for; who misspells more has a problem that no suggestion solves. */
const MAX_SUGGESTIONS = 200;

/** One validation. */
export class Validation {
  readonly graph: FlowGraph;
  readonly model: GraphModel;
  readonly catalog: FlowCatalog;
  readonly places: Places;
  readonly findings: Findings;
  /** All nodes of an id, in whatever body. */
  readonly everywhere: ReadonlyMap<string, readonly NodeModel[]>;
  #sites: readonly Site[] | undefined;
  #suggestions = MAX_SUGGESTIONS;
  readonly #entries = new Map<string, CatalogEntry | undefined>();

  constructor(graph: FlowGraph, catalog: FlowCatalog, places: Places) {
    this.graph = graph;
    this.catalog = catalog;
    this.places = places;
    this.findings = new Findings(places);
    this.model = modelOf(graph);
    const everywhere = new Map<string, NodeModel[]>();
    for (const node of this.model.nodes) {
      const known = everywhere.get(node.id);
      if (known === undefined) everywhere.set(node.id, [node]);
      else known.push(node);
    }
    this.everywhere = everywhere;
  }

  /** The catalog entry of a node; of a version that is not there the newest. */
  entryOf = ({ node }: NodeModel): CatalogEntry | undefined => {
    const version = Number.isInteger(node.typeVersion) ? node.typeVersion : undefined;
    const key = `${version ?? ""} ${node.type}`;
    if (!this.#entries.has(key)) {
      const entry = this.catalog.entry(node.type, version) ?? this.catalog.entry(node.type);
      this.#entries.set(key, entry);
    }
    return this.#entries.get(key);
  };

  /** Every place of the graph that may hold expressions. */
  get sites(): readonly Site[] {
    this.#sites ??= sitesOf(this.graph, this.model, this.entryOf);
    return this.#sites;
  }

  /** Whether one more name may be looked for; each look costs as much as there are names. */
  suggests(): boolean {
    this.#suggestions -= 1;
    return this.#suggestions >= 0;
  }

  /** The hint, parts and fix of a misspelt name that stands alone at `span`. */
  nearest(
    name: string,
    candidates: Iterable<string>,
    pointer: string,
    spelt: (near: string) => string = (near) => near,
  ): { parts: { near?: string }; fix?: ReturnType<Findings["replace"]> } {
    const near = this.suggests() ? nearestName(name, candidates) : undefined;
    if (near === undefined) return { parts: {} };
    const fix = this.findings.replace(`write ${near}`, this.places.exact(pointer), spelt(near));
    return { parts: { near }, ...(fix && { fix }) };
  }
}

/** A name as a message shows it: cut, control characters escaped. */
export function shown(name: string): string {
  return quoteForMessage(name);
}
